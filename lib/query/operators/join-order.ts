/**
 * The order in which the parts of a join are taken: always the one next that is expected to give the fewest rows for each that is there. A
 * wrong guess costs time, never rows.
 */

import { type Pattern, type Plan, type Slot, slotsOf } from '../plan/plan.js';
import type { Execution } from './execution.js';
import { estimateOf } from './pattern-access.js';

interface Candidate {
  readonly item: Pattern | Plan;
  readonly estimate: number;
  readonly slots: ReadonlySet<Slot>;
}

export async function inOrder(
  execution: Execution,
  items: readonly (Pattern | Plan)[],
  bound: ReadonlySet<Slot>,
): Promise<readonly (Pattern | Plan)[]> {
  if (items.length < 2) return items;
  const left: Candidate[] = await Promise.all(
    items.map(async (item) => ({
      item,
      estimate: 'places' in item ? await estimateOf(execution, item) : await rowsOf(execution, item),
      slots: 'places' in item ? slotsOf(item) : item.possible,
    })),
  );
  const known = new Set(bound);
  const ordered: (Pattern | Plan)[] = [];
  while (left.length > 0) {
    const costs = left.map((candidate) => costOf(candidate, known));
    const [next] = left.splice(costs.indexOf(Math.min(...costs)), 1);
    ordered.push(next!.item);
    for (const slot of next!.slots) known.add(slot);
  }
  return ordered;
}

/** About how many rows a plan gives alone. */
async function rowsOf(execution: Execution, plan: Plan): Promise<number> {
  const least = async (plans: readonly (Pattern | Plan)[]): Promise<number> =>
    Math.min(
      ...(await Promise.all(
        plans.map((each) => ('places' in each ? estimateOf(execution, each) : rowsOf(execution, each))),
      )),
    );
  switch (plan.kind) {
    case 'join':
      return plan.patterns.length + plan.parts.length === 0 ? 1 : least([...plan.patterns, ...plan.parts]);
    case 'values':
      return plan.rows.length;
    case 'union': {
      const counts = await Promise.all(plan.inputs.map((input) => rowsOf(execution, input)));
      return counts.reduce((sum, count) => sum + count, 0);
    }
    case 'closure': {
      const isAnchored = [plan.from, plan.to].some((place) => place && 'token' in place);
      // From everywhere to everywhere is more than anything else.
      return isAnchored ? usualReached : 1e6 + usualReached * (await rowsOf(execution, plan.step));
    }
    case 'filter':
      return rowsOf(execution, plan.input);
    default:
      return 1000;
  }
}

/** Nodes that a path is expected to come to. */
const usualReached = 100;
/** Matches that one row is expected to have, of which a subject has few, an object more and a graph many. */
const usual = [8, 1000, 20, 50];

function costOf({ item, estimate, slots }: Candidate, known: ReadonlySet<Slot>): number {
  let cost = estimate;
  let isConnected = slots.size === 0;
  let isBoundBy = 0;
  if ('places' in item)
    item.places.forEach((place, at) => {
      if (!place || !('slot' in place) || !known.has(place.slot)) return;
      isConnected = true;
      isBoundBy++;
      cost = Math.min(cost, usual[at]!);
    });
  else
    for (const slot of slots) {
      if (!known.has(slot)) continue;
      isConnected = true;
      isBoundBy++;
      cost = Math.min(cost, usualReached);
    }
  // A product of rows that share nothing is the last thing to make.
  if (!isConnected && known.size > 0) return 1e9 + cost;
  return cost / (1 + isBoundBy);
}
