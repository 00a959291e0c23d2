/** Compiles property paths to plans (SPARQL 1.1 9, 18.4). */
import type { Algebra } from '@comunica/utils-algebra';
import { truth } from '../expressions/values.js';
import { type Constants, constantOf } from '../parse/query-shape.js';
import { filterPlan, joinPlans, unionOf, withTriples } from './compile-join.js';
import { partOf, patternPlan, placeOf } from './compile-pattern.js';
import { type Names, NotCompiledError } from './compile-scope.js';
import type { ClosurePlan, Evaluate, Place, Plan, Slot, TripleTerm } from './plan.js';

/** Minimum and maximum number of steps of the paths that are evaluated by search. */
const lengths: Readonly<Record<string, readonly [least: 0 | 1, most: number]>> = {
  ZeroOrOnePath: [0, 1],
  ZeroOrMorePath: [0, Number.POSITIVE_INFINITY],
  OneOrMorePath: [1, Number.POSITIVE_INFINITY],
};

/** Compiles a property path. @throws NotCompiledError for an unknown path type */
export function compilePath(node: Algebra.Path, names: Names): Plan {
  const triples: TripleTerm[] = [];
  const [subject, object, graph] = [node.subject, node.object, node.graph].map((term) => placeOf(term, names, triples));
  const part = partOf(node.graph);
  // All steps of a path must be in the same graph.
  const within: Place = !graph && part === 'named' ? { slot: names.unnamed() } : graph;
  // The slots of the outer row and both ends of a repeated step count as terms: they are bound before the path is evaluated.
  const terms = new Set(names.terms);
  const walk = (path: Algebra.Operation, from: Place, to: Place, at = graph): Plan => {
    switch (path.type) {
      case 'link':
        return patternPlan([from, placeOf((path as Algebra.Link).iri, names, triples), to, at], part, names);
      case 'inv':
        return walk((path as Algebra.Inv).path, to, from, at);
      case 'alt':
        return unionOf((path as Algebra.Alt).input.map((each) => walk(each, from, to, at)));
      case 'seq': {
        const { input } = path as Algebra.Seq;
        const stops = [from, ...input.slice(1).map(() => ({ slot: names.unnamed() })), to];
        return joinPlans(input.map((each, index) => walk(each, stops[index], stops[index + 1], within)));
      }
      case 'nps': {
        const slot = names.unnamed();
        const bind = (constants: Constants): { readonly evaluate: Evaluate } => {
          const excluded = new Set((path as Algebra.Nps).iris.map((iri) => constantOf(iri, constants).value));
          return { evaluate: (row) => truth(!excluded.has(row[slot]!)) };
        };
        const condition = { ...bind(new Map()), bind, slots: new Set([slot]) };
        return filterPlan(patternPlan([from, { slot }, to, at], part, names), condition);
      }
      default: {
        const length = lengths[path.type];
        if (!length) throw new NotCompiledError(`${path.type} is not a path of SPARQL 1.1`);
        const [start, end] = [names.unnamed(), names.unnamed()];
        terms.add(start).add(end);
        const step = walk((path as Algebra.OneOrMorePath).path, { slot: start }, { slot: end }, within);
        const [least, most] = length;
        const counter = names.unnamed();
        const isEmpty = isNullable(path);
        const needsNodes = isEmpty && [from, to].every((place) => !place || 'slot' in place);
        return closurePlan({
          from,
          to,
          graph: within,
          part,
          start,
          end,
          step,
          least,
          most,
          counter,
          isNullable: isEmpty,
          needsNodes,
          terms,
        });
      }
    }
  };
  return withTriples(walk(node.predicate, subject, object), triples);
}

/** Returns true if the path may have zero length. */
function isNullable(path: Algebra.Operation): boolean {
  switch (path.type) {
    case 'inv':
    case 'OneOrMorePath':
      return isNullable((path as Algebra.Inv).path);
    case 'alt':
      return (path as Algebra.Alt).input.some(isNullable);
    case 'seq':
      return (path as Algebra.Seq).input.every(isNullable);
    default:
      return path.type === 'ZeroOrMorePath' || path.type === 'ZeroOrOnePath';
  }
}

function closurePlan(parts: Omit<ClosurePlan, 'kind' | 'certain' | 'possible' | 'isJoinable'>): ClosurePlan {
  const slots = new Set<Slot>();
  for (const place of [parts.from, parts.to, parts.graph]) if (place && 'slot' in place) slots.add(place.slot);
  return { kind: 'closure', ...parts, certain: slots, possible: slots, isJoinable: true };
}
