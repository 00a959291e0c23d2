/**
 * The algebra of a query as a plan. What is not here throws, and the query is refused. It must not know keys or rows.
 */
import type { Term } from '@rdfjs/types';
import type { Token } from '../access/terms.js';
import { compileFilter, type ExistenceTools, marked, marksOf, minusPlan, withMarked } from './compile-existence.js';
import { compileExpression, constantToken } from './compile-expression.js';
import { joinPlans, makeJoin, makeLeftJoin, unionOf } from './compile-join.js';
import { compileGroup, compileOrder, compileSlice } from './compile-modifiers.js';
import { compilePath } from './compile-path.js';
import { compilePattern } from './compile-pattern.js';
import { type Names, type Node, NotCompiledError } from './compile-scope.js';
import { compileService } from './compile-service.js';
import { type Plan, type Slot, unite, type ValuesPlan } from './plan.js';

export const projected = (node: Node): string[] =>
  node.type === 'project' ? namesIn(node['variables']) : projected(node['input'] as Node);
const namesIn = (variables: unknown): string[] => (variables as Term[]).map(({ value }) => value);

export function compileNode(node: Node, names: Names): Plan {
  const compile = compilers[node.type];
  if (!compile) throw new NotCompiledError(`operation ${node.type}`);
  return compile(node, names);
}

export const inputOf = (node: Node, names: Names): Plan => compileNode(node['input'] as Node, names);
const inputsOf = (node: Node, names: Names): Plan[] =>
  (node['input'] as Node[]).map((input) => compileNode(input, names));

const compilers: Readonly<Record<string, (node: Node, names: Names) => Plan>> = {
  bgp: (node, names) => {
    const patterns = (node['patterns'] as Node[]).map((pattern) => compilePattern(pattern, names));
    return patterns.length === 0 ? makeJoin({}) : joinPlans(patterns);
  },
  pattern: (node, names) => compilePattern(node, names),
  path: compilePath,
  join: (node, names) => joinPlans(inputsOf(node, names)),
  union: (node, names) => unionOf(inputsOf(node, names)),
  values: compileValues,
  service: compileService,
  filter: (node, names) => compileFilter(inputOf(node, names), node['expression'] as Node, tools(names)),
  leftjoin: (node, names) => {
    const [left, right] = inputsOf(node, names) as [Plan, Plan];
    const expression = node['expression'] as Node | undefined;
    if (!expression) return makeLeftJoin({ left, right, condition: undefined, marks: [], counter: names.unnamed() });
    const marks = marksOf([expression], unite([left.possible, right.possible]), tools(names));
    const condition = withMarked(compileExpression(expression, names), marks);
    return makeLeftJoin({ left, right, condition, marks, counter: names.unnamed() });
  },
  minus: (node, names) => {
    const [left, right] = inputsOf(node, names) as [Plan, Plan];
    return minusPlan(left, right, names);
  },
  extend: (node, names) => {
    const asked = node['expression'] as Node;
    const input = marked(inputOf(node, names), [asked], tools(names));
    const slot = names.slot((node['variable'] as Term).value);
    const expression = compileExpression(asked, names);
    const possible = unite([input.possible, new Set([slot])]);
    return { kind: 'extend', input, slot, expression, certain: input.certain, possible, isJoinable: false };
  },
  group: (node, names) => {
    const input = marked(inputOf(node, names), node['aggregates'] as Node[], tools(names));
    return compileGroup(node, input, names);
  },
  orderby: (node, names) => {
    const input = marked(inputOf(node, names), node['expressions'] as Node[], tools(names));
    return compileOrder(node, input, names);
  },
  slice: (node, names) => compileSlice(node, inputOf(node, names)),
  distinct: (node, names) => distinctPlan(node, inputOf(node, names), names),
  // REDUCED may remove copies, and need not.
  reduced: inputOf,
  // Only a subquery comes here: its other variables are its own.
  project: (node, names) => compileProject(node, names.inner(namesIn(node['variables'])), names),
};

const tools = (names: Names): ExistenceTools => ({ names, compile: compileNode });

function compileProject(node: Node, own: Names, outer: Names): Plan {
  const plan = inputOf(node, own);
  const shared = new Set(namesIn(node['variables']).map((name) => outer.slot(name)));
  const keep = (slots: ReadonlySet<Slot>): Set<Slot> => new Set([...slots].filter((slot) => shared.has(slot)));
  return { ...plan, certain: keep(plan.certain), possible: keep(plan.possible), isJoinable: false } as Plan;
}

function compileValues(node: Node, names: Names): ValuesPlan {
  const slots = new Map(namesIn(node['variables']).map((name) => [name, names.slot(name)]));
  const rows = (node['bindings'] as Record<string, Term>[]).map((bindings) =>
    Object.entries(bindings).map(([name, term]): [Slot, Token] => {
      const slot = slots.get(name.replace(/^\?/, ''));
      if (slot === undefined) throw new NotCompiledError('VALUES');
      return [slot, constantToken(term)];
    }),
  );
  const certain = new Set([...slots.values()].filter((slot) => rows.every((row) => row.some(([own]) => own === slot))));
  return { kind: 'values', rows, certain, possible: new Set(slots.values()), isJoinable: true };
}

export function distinctPlan(node: Node, input: Plan, names: Names): Plan {
  const slots = projected(node).map((name) => names.slot(name));
  return { kind: 'distinct', input, slots, certain: input.certain, possible: input.possible, isJoinable: false };
}
