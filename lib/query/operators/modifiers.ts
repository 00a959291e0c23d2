/** Executes ORDER BY, LIMIT, OFFSET and DISTINCT. */
import { addNew, slices } from '../../tools/collections.js';
import { joinTokens, type TermKey } from '../access/terms.js';
import { compareValues } from '../expressions/comparison.js';
import type { Value } from '../expressions/values.js';
import type { Blocks, DistinctPlan, OrderPlan, Row, SlicePlan, Slot } from '../plan/plan.js';
import { blockLength, type Execution, spend } from './execution.js';

interface Sortable {
  readonly row: Row;
  readonly values: readonly (Value | undefined)[];
  readonly index: number;
}

/** Sorts all rows. With a limit, at most about twice the limit is kept in memory. */
export async function* ordered(execution: Execution, { keys, most }: OrderPlan, input: Blocks): AsyncGenerator<Row[]> {
  const { assertTime } = execution;
  const bound = Math.max(4 * blockLength, 2 * most);
  let work = 0;
  const compare = (a: Sortable, b: Sortable): number => {
    for (let i = 0; i < keys.length; i++) {
      // Comparing two long strings takes about 10 ns per character. The time limit is checked about every 2 ms.
      work += 1 + ((a.values[i]?.text.length ?? 0) >> 4);
      if (work > 0x2fff) {
        work = 0;
        assertTime();
      }
      const order = compareValues(a.values[i], b.values[i]);
      if (order !== 0) return keys[i]!.isDescending ? -order : order;
    }
    return a.index - b.index;
  };
  let kept: Sortable[] = [];
  let index = 0;
  for await (const rows of input) {
    for (const row of rows) kept.push({ row, values: keys.map(({ evaluate }) => evaluate(row)), index: index++ });
    for (const { values } of kept.slice(-rows.length)) for (const value of values) spend(execution, value);
    if (kept.length > bound) kept = kept.sort(compare).slice(0, most);
  }
  kept = kept.sort(compare).slice(0, most);
  for (const some of slices(kept, blockLength)) yield some.map(({ row }) => row);
}

export async function* distinct(
  { assertTime }: Execution,
  { slots }: DistinctPlan,
  input: Blocks,
): AsyncGenerator<Row[]> {
  const seen = new Set<string>();
  for await (const rows of input) {
    assertTime();
    const out = rows.filter((row) => addNew(seen, joinTokens(row, slots)));
    if (out.length > 0) yield out;
  }
}

export async function* sliced({ start, length, perGraph }: SlicePlan, input: Blocks): AsyncGenerator<Row[]> {
  if (perGraph !== undefined) return yield* slicedEach(input, { slot: perGraph, start, end: start + length });
  let skip = start;
  let left = length;
  if (left === 0) return;
  for await (const rows of input) {
    if (skip >= rows.length) {
      skip -= rows.length;
      continue;
    }
    const out = rows.slice(skip, skip + left);
    skip = 0;
    left -= out.length;
    yield out;
    if (left <= 0) return;
  }
}

/** Applies LIMIT and OFFSET separately to the rows of each term of a slot. */
async function* slicedEach(
  input: Blocks,
  { slot, start, end }: { readonly slot: Slot; readonly start: number; readonly end: number },
): AsyncGenerator<Row[]> {
  const counts = new Map<TermKey | undefined, number>();
  for await (const rows of input) {
    const out = rows.filter((row) => {
      const count = counts.get(row[slot]) ?? 0;
      counts.set(row[slot], count + 1);
      return count >= start && count < end;
    });
    if (out.length > 0) yield out;
  }
}
