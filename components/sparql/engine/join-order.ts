/**
 * The order in which patterns are joined: always the one next that is expected to give the fewest rows for each that is
 * there. A wrong guess costs time, never rows. It must not know how patterns are read.
 */
import type { Execution } from './execution.js';
import { estimateOf } from './join-pattern.js';
import { type Pattern, type Slot, slotsOf } from './plan.js';

interface Candidate {
  readonly pattern: Pattern;
  readonly estimate: number;
  readonly slots: ReadonlySet<Slot>;
}

export async function orderPatterns(
  execution: Execution,
  patterns: readonly Pattern[],
  bound: ReadonlySet<Slot>,
): Promise<readonly Pattern[]> {
  if (patterns.length < 2) return patterns;
  const left: Candidate[] = await Promise.all(
    patterns.map(async (pattern) => ({
      pattern,
      estimate: await estimateOf(execution, pattern),
      slots: slotsOf(pattern),
    })),
  );
  const known = new Set(bound);
  const ordered: Pattern[] = [];
  while (left.length > 0) {
    const costs = left.map((candidate) => costOf(candidate, known));
    const [next] = left.splice(costs.indexOf(Math.min(...costs)), 1);
    ordered.push(next!.pattern);
    for (const slot of next!.slots) known.add(slot);
  }
  return ordered;
}

/** Matches that one row is expected to have, of which a subject has few, an object more and a graph many. */
const usual = [8, 1000, 20, 50];

function costOf({ pattern, estimate, slots }: Candidate, known: ReadonlySet<Slot>): number {
  let cost = estimate;
  let isConnected = slots.size === 0;
  let isBoundBy = 0;
  pattern.places.forEach((place, at) => {
    if (!place || !('slot' in place) || !known.has(place.slot)) return;
    isConnected = true;
    isBoundBy++;
    cost = Math.min(cost, usual[at]!);
  });
  // A product of rows that share nothing is the last thing to make.
  if (!isConnected && known.size > 0) return 1e9 + cost;
  return cost / (1 + isBoundBy);
}
