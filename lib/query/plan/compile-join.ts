/**
 * Merges joins, filters and optional parts to avoid intermediate rows. Patterns of nested groups become one join. Filters are
 * pushed down to the point where their variables are bound.
 */
import { withService } from './compile-service.js';
import {
  areDisjoint,
  type ClosurePlan,
  type Expression,
  isSubset,
  type JoinPlan,
  type LeftJoinPlan,
  type Pattern,
  type Place,
  type Plan,
  type ServicePlan,
  type TripleTerm,
  unite,
} from './plan.js';

interface JoinParts {
  readonly patterns?: readonly Pattern[];
  readonly parts?: readonly Plan[];
  readonly filters?: readonly Expression[];
  readonly triples?: readonly TripleTerm[];
}

export function makeJoin({ patterns = [], parts: given = [], filters = [], triples = [] }: JoinParts): JoinPlan {
  const parts = given.map((part) => (part.kind === 'closure' ? atNodes(part, patterns) : part));
  const own = [...patterns, ...triples].map(({ slots }) => slots);
  const certain = unite([...own, ...parts.map((part) => part.certain)]);
  const possible = unite([...own, ...parts.map((part) => part.possible)]);
  const isJoinable = parts.every((part) => part.isJoinable) && filters.every(({ slots }) => isSubset(slots, certain));
  return { kind: 'join', patterns, parts, filters, triples, certain, possible, isJoinable };
}

/** Returns a plan that also binds the variables within triple terms. `plan` must bind the slots of the triple terms. */
export function withTriples(plan: Plan, triples: readonly TripleTerm[]): Plan {
  if (triples.length === 0) return plan;
  if (plan.kind !== 'join') return makeJoin({ parts: [plan], triples });
  return makeJoin({ ...plan, triples: [...plan.triples, ...triples] });
}

/** Removes the check that the path starts at a node, if its start is the subject or object of a pattern, so always a node. */
function atNodes(closure: ClosurePlan, patterns: readonly Pattern[]): ClosurePlan {
  const { from, to, graph, part } = closure;
  const isSame = (a: Place, b: Place): boolean =>
    a === b || (!!a && !!b && ('slot' in a ? 'slot' in b && a.slot === b.slot : 'token' in b && a.token === b.token));
  const hasNode = (pattern: Pattern): boolean =>
    pattern.part === part &&
    isSame(pattern.places[3], graph) &&
    [pattern.places[0], pattern.places[2]].some((place) => place && (isSame(place, from) || isSame(place, to)));
  return closure.needsNodes && patterns.some(hasNode) ? { ...closure, needsNodes: false } : closure;
}

const none: ReadonlySet<number> = new Set();

export function joinPlans(inputs: readonly Plan[]): Plan {
  if (inputs.length === 1) return inputs[0]!;
  const optional = inputs.find((input): input is LeftJoinPlan => input.kind === 'leftJoin');
  if (optional) {
    const others = inputs.filter((input) => input !== optional);
    const maybe = new Set([...optional.right.possible].filter((slot) => !optional.left.certain.has(slot)));
    // Join the other parts before the OPTIONAL, if they share only always bound variables with it, and its filter uses only its
    // own variables.
    const sees = optional.condition?.slots ?? none;
    if (isSubset(sees, optional.possible) && others.every(({ possible }) => areDisjoint(possible, maybe)))
      return makeLeftJoin({ ...optional, left: joinPlans([optional.left, ...others]) });
  }
  const service = inputs.findLast((input): input is ServicePlan => input.kind === 'service');
  if (service) {
    const others = inputs.filter((input) => input !== service);
    return withService(service, joinPlans(service.left ? [service.left, ...others] : others));
  }
  const flat = inputs.map((input) => (input.kind === 'join' && input.isJoinable ? input : undefined));
  return makeJoin({
    patterns: flat.flatMap((join) => join?.patterns ?? []),
    parts: inputs.flatMap((input, index) => flat[index]?.parts ?? [input]),
    filters: flat.flatMap((join) => join?.filters ?? []),
    triples: flat.flatMap((join) => join?.triples ?? []),
  });
}

type LeftJoinParts = Pick<LeftJoinPlan, 'left' | 'right' | 'condition' | 'marks' | 'counter'>;

export function makeLeftJoin({ left, right, condition, marks, counter }: LeftJoinParts): LeftJoinPlan {
  const possible = unite([left.possible, right.possible]);
  return {
    kind: 'leftJoin',
    left,
    right,
    condition,
    marks,
    counter,
    certain: left.certain,
    possible,
    isJoinable: false,
  };
}

export function filterPlan(input: Plan, condition: Expression): Plan {
  if (input.kind === 'join') return makeJoin({ ...input, filters: [...input.filters, condition] });
  if (input.kind === 'leftJoin' && isSubset(condition.slots, input.left.certain))
    return makeLeftJoin({ ...input, left: filterPlan(input.left, condition) });
  if (input.kind === 'service' && input.left && isSubset(condition.slots, input.left.certain))
    return { ...input, left: filterPlan(input.left, condition) };
  if (input.kind === 'semiJoin') return { ...input, left: filterPlan(input.left, condition) };
  // The filter does not use the assigned variable, so the filter can come before the assignment.
  if (input.kind === 'extend' && !condition.slots.has(input.slot))
    return { ...input, input: filterPlan(input.input, condition) };
  const { certain, possible } = input;
  const isJoinable = input.isJoinable && isSubset(condition.slots, certain);
  return { kind: 'filter', input, condition, certain, possible, isJoinable };
}

export function unionOf(inputs: readonly Plan[]): Plan {
  const possible = unite(inputs.map((input) => input.possible));
  const certain = new Set([...possible].filter((slot) => inputs.every((input) => input.certain.has(slot))));
  return { kind: 'union', inputs, certain, possible, isJoinable: inputs.every(({ isJoinable }) => isJoinable) };
}
