/** Determines which plans can be evaluated over term IDs instead of rows of terms. */
import { type Expression, type JoinPlan, type Pattern, type Plan, partsOf, type Slot } from './plan.js';

export type Item = Pattern | Plan;

export const slotsOf = (item: Item): ReadonlySet<Slot> => ('places' in item ? item.slots : item.possible);
export const certainOf = (item: Item): ReadonlySet<Slot> => ('places' in item ? item.slots : item.certain);

const isPure = ({ isPure: own }: Expression): boolean => own === true;

/** Returns true if both sides always bind their common variables, so that rows can be joined by the IDs of these variables. */
const areComparable = (left: Item, right: Item): boolean =>
  [...slotsOf(right)].every(
    (slot) => !slotsOf(left).has(slot) || (certainOf(left).has(slot) && certainOf(right).has(slot)),
  );
export const haveCommon = (left: ReadonlySet<Slot>, right: Item): boolean =>
  [...slotsOf(right)].some((slot) => left.has(slot));

/** Returns true if operators compare only variables that rows always bind, and expressions depend only on variables. */
export function isNumerable(plan: Plan): boolean {
  switch (plan.kind) {
    case 'join':
      return isNumerableJoin(plan);
    case 'union':
      return plan.inputs.every(isNumerable);
    case 'filter':
      return isPure(plan.condition) && isNumerable(plan.input);
    case 'leftJoin':
      return !plan.condition && plan.marks.length === 0 && areMatched(plan.left, plan.right);
    case 'semiJoin': {
      const { right, way, conditions, minus, scope } = plan.existence;
      const isPlain = way !== 'each' && conditions.length === 0 && minus !== 'perhaps' && scope === undefined;
      return isPlain && areMatched(plan.left, right);
    }
    default:
      return false;
  }
}

/**
 * Returns true if the right side of OPTIONAL, MINUS or EXISTS can be evaluated alone. It must contain no path: a path would
 * start at all terms, and a zero-length path matches only terms of the left side.
 */
const areMatched = (left: Plan, right: Plan): boolean =>
  isNumerable(left) &&
  isNumerable(right) &&
  areComparable(left, right) &&
  haveCommon(left.certain, right) &&
  ![...partsOf(right)].some(({ kind }) => kind === 'closure');

function isNumerableJoin({ patterns, parts, filters, triples }: JoinPlan): boolean {
  const items: Item[] = [...patterns, ...parts];
  const isKnown = (part: Plan): boolean =>
    isNumerable(part) ||
    (!part.isJoinable && part.kind !== 'service') ||
    part.kind === 'values' ||
    part.kind === 'closure';
  if (triples.length > 0 || items.length === 0 || !filters.every(isPure) || !parts.every(isKnown)) return false;
  if (!items.every((one, at) => items.slice(at + 1).every((other) => areComparable(one, other)))) return false;
  // There must be an order in which each part shares a variable with an earlier part.
  const bound = new Set(slotsOf(items[0]!));
  let left = items.slice(1);
  for (let before = -1; left.length !== before; ) {
    before = left.length;
    left = left.filter((item) => {
      if (!haveCommon(bound, item)) return true;
      for (const slot of slotsOf(item)) bound.add(slot);
      return false;
    });
  }
  return left.length === 0;
}
