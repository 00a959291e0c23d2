/**
 * The algebra of a query as a plan, or not at all: what is not here throws, and Comunica answers the query over patterns and
 * joins. It must not know keys or rows.
 */
import type { Term } from '@rdfjs/types';
import { compileExpression, constantToken } from './compile-expression.js';
import { filterPlan, joinPlans, makeJoin, makeLeftJoin } from './compile-join.js';
import { compileGroup, compileOrder, compileSlice } from './compile-modifiers.js';
import { type Names, type Node, NotCompiledError, namesOf } from './compile-scope.js';
import {
  type Evaluate,
  isSubset,
  type Pattern,
  type Place,
  type Plan,
  type SemiJoinPlan,
  type Slot,
  unite,
  type ValuesPlan,
} from './plan.js';
import type { Token } from './terms.js';
import { truth } from './values.js';

export interface Compiled {
  readonly plan: Plan;
  readonly width: number;
  /** What a row is read out as. */
  readonly columns: readonly (readonly [name: string, slot: Slot])[];
}

/**
 * A whole query, for one execution.
 * @param base what IRI() resolves against
 * @throws NotCompiledError
 */
export function compileQuery(root: Node, base = ''): Compiled {
  const names = namesOf(root, base);
  const inner = root.type === 'ask' ? (root['input'] as Node) : root;
  if (root.type !== 'ask' && !isSelect(inner)) throw new NotCompiledError(`query ${root.type}`);
  const plan = compileRoot(inner, names);
  const columns = root.type === 'ask' ? [] : projected(inner).map((name) => [name, names.slot(name)] as const);
  return { plan, width: names.width, columns };
}

/** The outermost projection gives out the names of the query itself. */
function compileRoot(node: Node, names: Names): Plan {
  if (node.type === 'project') return inputOf(node, names);
  if (!modifiers.has(node.type)) return compileNode(node, names);
  const input = compileRoot(node['input'] as Node, names);
  if (node.type === 'slice') return compileSlice(node, input);
  return node.type === 'distinct' ? distinctPlan(node, input, names) : input;
}

/** Patterns and joins of them, as Comunica hands them over. @throws NotCompiledError */
export function compilePart(root: Node): Compiled {
  const names = namesOf(undefined);
  const variables = new Set<string>();
  const plan = joinPlans(leaves(root).map((pattern) => compilePattern(pattern, names, variables)));
  return { plan, width: names.width, columns: [...variables].map((name) => [name, names.slot(name)]) };
}

function leaves(node: Node): Node[] {
  if (node.type === 'pattern') return [node];
  if (node.type === 'bgp') return node['patterns'] as Node[];
  if (node.type === 'join') return (node['input'] as Node[]).flatMap(leaves);
  throw new NotCompiledError(`part ${node.type}`);
}

const modifiers = new Set(['slice', 'distinct', 'reduced']);
const isSelect = (node: Node): boolean =>
  node.type === 'project' || (modifiers.has(node.type) && isSelect(node['input'] as Node));
const projected = (node: Node): string[] =>
  node.type === 'project' ? namesIn(node['variables']) : projected(node['input'] as Node);
const namesIn = (variables: unknown): string[] => (variables as Term[]).map(({ value }) => value);

export function compileNode(node: Node, names: Names): Plan {
  const compile = compilers[node.type];
  if (!compile) throw new NotCompiledError(`operation ${node.type}`);
  return compile(node, names);
}

const inputOf = (node: Node, names: Names): Plan => compileNode(node['input'] as Node, names);
const inputsOf = (node: Node, names: Names): Plan[] =>
  (node['input'] as Node[]).map((input) => compileNode(input, names));

const compilers: Readonly<Record<string, (node: Node, names: Names) => Plan>> = {
  bgp: (node, names) => joinPatterns((node['patterns'] as Node[]).map((pattern) => compilePattern(pattern, names))),
  pattern: (node, names) => compilePattern(node, names),
  path: compilePath,
  join: (node, names) => joinPlans(inputsOf(node, names)),
  union: (node, names) => unionOf(inputsOf(node, names)),
  values: compileValues,
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

const joinPatterns = (plans: readonly Plan[]): Plan => (plans.length === 0 ? makeJoin({}) : joinPlans(plans));

function compilePattern(node: Node, names: Names, variables?: Set<string>): Plan {
  const places = ['subject', 'predicate', 'object', 'graph'].map((position) =>
    placeOf(node[position] as Term, names, variables),
  );
  return patternPlan(places, partOf(node));
}

const partOf = (node: Node): Pattern['part'] =>
  (node['graph'] as Term).termType === 'DefaultGraph' ? 'union' : 'named';

function placeOf(term: Term, names: Names, variables?: Set<string>): Place {
  if (term.termType === 'DefaultGraph') return undefined;
  if (term.termType !== 'Variable') return { token: constantToken(term) };
  variables?.add(term.value);
  return names.isIdle(term.value) ? undefined : { slot: names.slot(term.value) };
}

function patternPlan(places: readonly Place[], part: Pattern['part']): Plan {
  const wanted = places.flatMap((place, index) => (place && 'slot' in place ? [index] : []));
  return makeJoin({ patterns: [{ places, part, wanted }] });
}

/** Paths of a known number of steps; the others are Comunica's. */
function compilePath(node: Node, names: Names): Plan {
  const [subject, object, graph] = ['subject', 'object', 'graph'].map((name) => placeOf(node[name] as Term, names));
  const part = partOf(node);
  const walk = (path: Node, from: Place, to: Place): Plan => {
    const parts = path['input'] as Node[];
    switch (path.type) {
      case 'link':
        return patternPlan([from, placeOf(path['iri'] as Term, names), to, graph], part);
      case 'inv':
        return walk(path['path'] as Node, to, from);
      case 'alt':
        return unionOf(parts.map((each) => walk(each, from, to)));
      case 'seq': {
        const stops = [from, ...parts.slice(1).map(() => ({ slot: names.unnamed() })), to];
        return joinPlans(parts.map((each, index) => walk(each, stops[index], stops[index + 1])));
      }
      case 'nps': {
        const slot = names.unnamed();
        const excluded = new Set((path['iris'] as Term[]).map(constantToken));
        const evaluate: Evaluate = (row) => truth(!excluded.has(row[slot]!));
        return filterPlan(patternPlan([from, { slot }, to, graph], part), { evaluate, slots: new Set([slot]) });
      }
      default:
        throw new NotCompiledError(`path ${path.type}`);
    }
  };
  return walk(node['predicate'] as Node, subject, object);
}

function unionOf(inputs: readonly Plan[]): Plan {
  const possible = unite(inputs.map((input) => input.possible));
  const certain = new Set([...possible].filter((slot) => inputs.every((input) => input.certain.has(slot))));
  return { kind: 'union', inputs, certain, possible, isJoinable: inputs.every(({ isJoinable }) => isJoinable) };
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

/** The rows of the left side are put into the pattern, which is what handing them through a joinable plan is. */
function existence(left: Plan, node: Node, names: Names): Plan {
  const right = compileNode(node['input'] as Node, names);
  if (!right.isJoinable) throw new NotCompiledError('EXISTS');
  return semiJoin(left, right, node['not'] !== true, names);
}

function semiJoin(left: Plan, right: Plan, isKept: boolean, names: Names): SemiJoinPlan {
  const { certain, possible } = left;
  return {
    kind: 'semiJoin',
    left,
    right,
    isKept,
    isLoose: false,
    counter: names.unnamed(),
    certain,
    possible,
    isJoinable: false,
  };
}

function distinctPlan(node: Node, input: Plan, names: Names): Plan {
  const slots = projected(node).map((name) => names.slot(name));
  return { kind: 'distinct', input, slots, certain: input.certain, possible: input.possible, isJoinable: false };
}
