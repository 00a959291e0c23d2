/** Property paths as plans (SPARQL 1.1 9, 18.4). It must not know groups or modifiers. */
import type { Term } from '@rdfjs/types';
import { truth } from '../expressions/values.js';
import { constantToken } from './compile-expression.js';
import { filterPlan, joinPlans, unionOf } from './compile-join.js';
import { partOf, patternPlan, placeOf } from './compile-pattern.js';
import { type Names, type Node, NotCompiledError } from './compile-scope.js';
import type { ClosurePlan, Evaluate, Place, Plan, Slot } from './plan.js';

/** The least and the most steps of a path that is walked until nothing new is found. */
const lengths: Readonly<Record<string, readonly [least: 0 | 1, most: number]>> = {
  ZeroOrOnePath: [0, 1],
  ZeroOrMorePath: [0, Number.POSITIVE_INFINITY],
  OneOrMorePath: [1, Number.POSITIVE_INFINITY],
};

/** @throws NotCompiledError for a path that the algebra does not know */
export function compilePath(node: Node, names: Names): Plan {
  const [subject, object, graph] = ['subject', 'object', 'graph'].map((name) => placeOf(node[name] as Term, names));
  const part = partOf(node);
  // The steps of one walk stay in one graph.
  const within: Place = !graph && part === 'named' ? { slot: names.unnamed() } : graph;
  const walk = (path: Node, from: Place, to: Place, at: Place): Plan => {
    const parts = path['input'] as Node[];
    switch (path.type) {
      case 'link':
        return patternPlan([from, placeOf(path['iri'] as Term, names), to, at], part);
      case 'inv':
        return walk(path['path'] as Node, to, from, at);
      case 'alt':
        return unionOf(parts.map((each) => walk(each, from, to, at)));
      case 'seq': {
        const stops = [from, ...parts.slice(1).map(() => ({ slot: names.unnamed() })), to];
        return joinPlans(parts.map((each, index) => walk(each, stops[index], stops[index + 1], within)));
      }
      case 'nps': {
        const slot = names.unnamed();
        const excluded = new Set((path['iris'] as Term[]).map(constantToken));
        const evaluate: Evaluate = (row) => truth(!excluded.has(row[slot]!));
        return filterPlan(patternPlan([from, { slot }, to, at], part), { evaluate, slots: new Set([slot]) });
      }
      default: {
        const length = lengths[path.type];
        if (!length) throw new NotCompiledError(`path ${path.type}`);
        const [start, end] = [names.unnamed(), names.unnamed()];
        const step = walk(path['path'] as Node, { slot: start }, { slot: end }, within);
        const counter = names.unnamed();
        return closurePlan({
          from,
          to,
          graph: within,
          part,
          start,
          end,
          step,
          least: length[0],
          most: length[1],
          counter,
        });
      }
    }
  };
  return walk(node['predicate'] as Node, subject, object, graph);
}

function closurePlan(parts: Omit<ClosurePlan, 'kind' | 'certain' | 'possible' | 'isJoinable'>): ClosurePlan {
  const slots = new Set<Slot>();
  for (const place of [parts.from, parts.to, parts.graph]) if (place && 'slot' in place) slots.add(place.slot);
  return { kind: 'closure', ...parts, certain: slots, possible: slots, isJoinable: true };
}
