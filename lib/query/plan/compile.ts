/**
 * The algebra of a query as a plan, or not at all: what is not here throws, and Comunica answers the query over patterns and
 * joins. It must not know keys or rows.
 */
import type { Term } from '@rdfjs/types';
import type { Token } from '../access/terms.js';
import { compileExpression, constantToken } from './compile-expression.js';
import { filterPlan, joinPlans, makeJoin, makeLeftJoin, unionOf } from './compile-join.js';
import { compileGroup, compileOrder, compileSlice } from './compile-modifiers.js';
import { compilePath } from './compile-path.js';
import { compilePattern } from './compile-pattern.js';
import { type Names, type Node, NotCompiledError } from './compile-scope.js';
import { compileService } from './compile-service.js';
import { isSubset, type Plan, partsOf, type SemiJoinPlan, type Slot, slotsOf, unite, type ValuesPlan } from './plan.js';

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
  filter: compileFilter,
  leftjoin: (node, names) => {
    const [left, right] = inputsOf(node, names) as [Plan, Plan];
    const expression = node['expression'] as Node | undefined;
    const condition = expression && compileExpression(expression, names);
    return makeLeftJoin({ left, right, condition, counter: names.unnamed() });
  },
  minus: (node, names) => {
    const [left, right] = inputsOf(node, names) as [Plan, Plan];
    const shared = new Set([...left.possible].filter((slot) => right.possible.has(slot)));
    if (shared.size === 0) return left;
    // A row that shares no bound variable is kept.
    const isLoose = !isSubset(shared, left.certain) || !isSubset(shared, right.certain);
    return { ...semiJoin(left, right, false, names), isLoose };
  },
  extend: (node, names) => {
    const input = inputOf(node, names);
    const slot = names.slot((node['variable'] as Term).value);
    const expression = compileExpression(node['expression'] as Node, names);
    const possible = unite([input.possible, new Set([slot])]);
    return { kind: 'extend', input, slot, expression, certain: input.certain, possible, isJoinable: false };
  },
  group: (node, names) => compileGroup(node, inputOf(node, names), names),
  orderby: (node, names) => compileOrder(node, inputOf(node, names), names),
  slice: (node, names) => compileSlice(node, inputOf(node, names)),
  distinct: (node, names) => distinctPlan(node, inputOf(node, names), names),
  // REDUCED may remove copies, and need not.
  reduced: inputOf,
  // Only a subquery comes here: its other variables are its own.
  project: (node, names) => compileProject(node, names.inner(namesIn(node['variables'])), names),
};

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

function compileFilter(node: Node, names: Names): Plan {
  let plan = inputOf(node, names);
  for (const condition of conjuncts(node['expression'] as Node))
    plan =
      condition.subType === 'existence'
        ? existence(plan, condition, names)
        : filterPlan(plan, compileExpression(condition, names));
  return plan;
}

const conjuncts = (node: Node): Node[] =>
  node.subType === 'operator' && node['operator'] === '&&' ? (node['args'] as Node[]).flatMap(conjuncts) : [node];

/**
 * The rows of the left side are put into the pattern, which is what handing them through a joinable plan is. What is not is
 * found by itself, and compared, where that comes to the same.
 */
function existence(left: Plan, node: Node, names: Names): Plan {
  const right = compileNode(node['input'] as Node, names);
  const exists = semiJoin(left, right, node['not'] !== true, names);
  if (right.isJoinable) return exists;
  const parts = [...partsOf(right)];
  const mentioned = unite(parts.flatMap((part) => [part.possible, ...ownSlots(part)]));
  const shared = new Set([...mentioned].filter((slot) => left.possible.has(slot)));
  if (!isSubset(shared, right.certain) || parts.some(({ kind }) => kind === 'slice'))
    throw new NotCompiledError('EXISTS');
  return { ...exists, isAlone: true };
}

function ownSlots(plan: Plan): ReadonlySet<Slot>[] {
  if (plan.kind === 'join') return [...plan.patterns.map(slotsOf), ...plan.filters.map(({ slots }) => slots)];
  if (plan.kind === 'filter' || plan.kind === 'leftJoin') return plan.condition ? [plan.condition.slots] : [];
  return plan.kind === 'extend' ? [plan.expression.slots] : [];
}

function semiJoin(left: Plan, right: Plan, isKept: boolean, names: Names): SemiJoinPlan {
  const { certain, possible } = left;
  return {
    kind: 'semiJoin',
    left,
    right,
    isKept,
    isLoose: false,
    isAlone: false,
    counter: names.unnamed(),
    certain,
    possible,
    isJoinable: false,
  };
}

export function distinctPlan(node: Node, input: Plan, names: Names): Plan {
  const slots = projected(node).map((name) => names.slot(name));
  return { kind: 'distinct', input, slots, certain: input.certain, possible: input.possible, isJoinable: false };
}
