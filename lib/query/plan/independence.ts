/** Determines if the right side of EXISTS or MINUS can be evaluated once for all rows. */
import { filterPlan, makeJoin } from './compile-join.js';
import { type Existence, type Expression, type Plan, partsOf, type Slot, unite } from './plan.js';

/**
 * Returns true if a plan is a path whose start is one of the slots, and that may have zero length. Such a path starts only at
 * nodes of the graph if the variable is unbound, but anywhere if a term replaces the variable.
 */
export function beginsAtOneOf(plan: Plan, slots: ReadonlySet<Slot>): boolean {
  if (plan.kind !== 'closure' || !plan.needsNodes) return false;
  return [plan.from, plan.to].some((place) => place && 'slot' in place && slots.has(place.slot));
}

/**
 * Returns true if comparing a row with the rows of the plan has the same result as running the plan with the row's terms in
 * place of its variables (SPARQL 1.1 18.6, substitute). For this, every use of such a variable must find it bound.
 * @param outer slots that the rows may bind
 */
export function isIndependent(plan: Plan, outer: ReadonlySet<Slot>): boolean {
  const isBound = (slots: ReadonlySet<Slot>, by: ReadonlySet<Slot>): boolean =>
    [...slots].every((slot) => !outer.has(slot) || by.has(slot));
  const goesOn = (part: Plan): boolean => isIndependent(part, outer);
  switch (plan.kind) {
    case 'join':
      return plan.parts.every(goesOn) && plan.filters.every(({ slots }) => isBound(slots, plan.certain));
    case 'union':
      return plan.inputs.every(goesOn);
    case 'values':
    case 'graphs':
      return true;
    case 'closure':
      return !beginsAtOneOf(plan, outer);
    case 'filter':
      return goesOn(plan.input) && isBound(plan.condition.slots, plan.input.certain);
    case 'extend':
      return goesOn(plan.input) && isBound(plan.expression.slots, plan.input.certain);
    case 'distinct':
      return goesOn(plan.input);
    case 'leftJoin': {
      const { left, right, condition } = plan;
      const asked = unite([slotsWithin(right), condition?.slots ?? new Set()]);
      return plan.marks.length === 0 && goesOn(left) && isBound(asked, left.certain);
    }
    case 'semiJoin': {
      const { left, existence } = plan;
      // After substitution, a term is not a variable that both sides of the MINUS could share.
      const by = existence.minus === undefined ? left.certain : new Set<Slot>();
      return goesOn(left) && isBound(slotsAsked(existence), by);
    }
    case 'group':
      return goesOn(plan.input) && isBound(slotsWithin(plan.input), plan.certain);
    case 'service':
      return isBound(slotsWithin(plan), plan.certain);
    // The result of a slice or a mark depends on all rows.
    default:
      return false;
  }
}

/** Returns the slots that a plan may read. */
const slotsWithin = (plan: Plan): Set<Slot> =>
  unite([...partsOf(plan)].flatMap((part) => [part.possible, ...ownSlots(part)]));

const slotsAsked = ({ right, conditions }: Existence): Set<Slot> =>
  unite([slotsWithin(right), ...conditions.map(({ slots }) => slots)]);

function ownSlots(plan: Plan): ReadonlySet<Slot>[] {
  const existences =
    plan.kind === 'semiJoin' ? [plan.existence] : 'marks' in plan ? plan.marks.map(({ existence }) => existence) : [];
  return [...slotsOfExpressions(plan), ...existences.flatMap(({ conditions }) => conditions.map(({ slots }) => slots))];
}

function slotsOfExpressions(plan: Plan): ReadonlySet<Slot>[] {
  if (plan.kind === 'join')
    return [...plan.patterns.map(({ slots }) => slots), ...plan.filters.map(({ slots }) => slots)];
  if (plan.kind === 'filter' || plan.kind === 'leftJoin') return plan.condition ? [plan.condition.slots] : [];
  return plan.kind === 'extend' ? [plan.expression.slots] : [];
}

/** Splits filters off a plan: filters on outer slots that the plan does not bind can be tested last, on a row and its match. */
export function withoutConditions(
  plan: Plan,
  outer: ReadonlySet<Slot>,
): { readonly rest: Plan; readonly conditions: readonly Expression[] } {
  const isOuter = ({ slots }: Expression, { certain }: Plan): boolean =>
    [...slots].some((slot) => outer.has(slot) && !certain.has(slot));
  if (plan.kind === 'join') {
    const conditions = plan.filters.filter((filter) => isOuter(filter, plan));
    const filters = plan.filters.filter((filter) => !conditions.includes(filter));
    return { rest: conditions.length > 0 ? makeJoin({ ...plan, filters }) : plan, conditions };
  }
  if (plan.kind === 'filter') {
    const { rest, conditions } = withoutConditions(plan.input, outer);
    if (isOuter(plan.condition, plan.input)) return { rest, conditions: [...conditions, plan.condition] };
    return { rest: conditions.length > 0 ? filterPlan(rest, plan.condition) : plan, conditions };
  }
  if (plan.kind === 'semiJoin') {
    const { rest: left, conditions } = withoutConditions(plan.left, outer);
    return { rest: conditions.length > 0 ? { ...plan, left } : plan, conditions };
  }
  return { rest: plan, conditions: [] };
}
