/** Groups rows of term IDs. Expressions are evaluated once for each distinct term of a group instead of once for each row. */
import type { TermKey } from '../access/terms.js';
import { toToken, type Value } from '../expressions/values.js';
import { isNumerable } from '../plan/numerable.js';
import type { Aggregate, GroupPlan, Row, Slot } from '../plan/plan.js';
import { accumulator, countValue } from './aggregates.js';
import { blockLength, type Execution, emptyRow, recallStatistics, spend } from './execution.js';
import type { NumberTable } from './number-table.js';
import { NumberedPlan, type RunRows, sizeOf, workOf } from './numbered-plan.js';
import { type NumberedRows, unbound } from './numbered-rows.js';

/** First groups of an ORDER BY an aggregate with a LIMIT, the only groups that are needed. */
export interface FirstGroups {
  readonly slot: Slot;
  readonly isDescending: boolean;
  readonly most: number;
  /** True if more sort keys follow, to order groups with equal aggregates. */
  readonly hasMoreKeys: boolean;
}

/** Joins that start from few rows run over term IDs from this multiple of `numbersFrom` matches. Lookups cost less below it. */
const manyTimes = 8;

/** Evaluates groups over term IDs. Returns `undefined` if the plan does not allow it, or the patterns have few matches. */
export async function numberedGroups(
  execution: Execution,
  plan: GroupPlan,
  { run, first }: { readonly run: RunRows; readonly first: FirstGroups | undefined },
): Promise<AsyncGenerator<Row[]> | undefined> {
  const { matches, outer, numbersFrom } = execution;
  if (!matches.numbered || outer || plan.everyGraph !== undefined) return undefined;
  const isPossible = recallStatistics(
    execution,
    { part: plan, as: 'numbers' },
    () =>
      isNumerable(plan.input) && plan.aggregates.every(({ expression }) => !expression || expression.isPure === true),
  );
  if (!isPossible) return undefined;
  const isLarge = (await sizeOf(execution, plan.input)) >= numbersFrom;
  if (!isLarge && (await workOf(execution, plan.input)) < manyTimes * numbersFrom) return undefined;
  return groupsOf(new NumberedPlan(execution, matches.numbered, run), plan, first);
}

async function* groupsOf(
  numbers: NumberedPlan,
  plan: GroupPlan,
  first: FirstGroups | undefined,
): AsyncGenerator<Row[]> {
  const { execution } = numbers;
  const { slots, input } = plan;
  const groups = numbers.table(slots.length);
  const tallies = plan.aggregates.map((aggregate) => tallyOf(numbers, plan, aggregate));
  const needed = new Set([...slots, ...tallies.flatMap((tally) => tally.slots)]);
  if (slots.length === 0) groups.add([], 0);
  for await (const rows of numbers.rows(input, needed)) {
    execution.assertTime();
    const key = slots.map((slot) => columnOf(rows, slot));
    const own = new Uint32Array(rows.length);
    for (let at = 0; at < rows.length; at++) {
      const group = slots.length === 0 ? 0 : groups.add(key, at);
      groups.weights[group]! += rows.weights ? rows.weights[at]! : 1;
      own[at] = group;
    }
    for (const tally of tallies) tally.take(rows, own);
  }
  const results = tallies.map((tally) => tally.results(groups));
  const chosen = first && chosenOf(plan, first, { groups, tallies });
  let out: Row[] = [];
  for (let group = 0; group < groups.size; group++) {
    if (chosen && !chosen(group)) continue;
    const row = emptyRow(execution);
    slots.forEach((slot, i) => {
      row[slot] = numbers.termKey(groups.keys[i]![group]!);
    });
    plan.aggregates.forEach(({ slot }, i) => {
      row[slot] = results[i]!(group);
    });
    out.push(row);
    if (out.length < blockLength) continue;
    execution.assertTime(out.length);
    yield out;
    out = [];
  }
  if (out.length > 0) yield out;
}

const columnOf = ({ length, columns }: NumberedRows, slot: Slot): Uint32Array =>
  columns[slot] ?? new Uint32Array(length).fill(unbound);

interface Tally {
  /** Slots that the aggregate needs. */
  readonly slots: readonly Slot[];
  /** Adds rows. @param own index of each row's group */
  take(rows: NumberedRows, own: Uint32Array): void;
  /** Returns the counts by group. Absent if the aggregate is not a COUNT. */
  readonly counts?: (groups: NumberTable) => ArrayLike<number>;
  /** Returns a function that returns the result of a group. The function must be called for all groups in order. */
  results(groups: NumberTable): (group: number) => TermKey | undefined;
}

const countToken = (count: number): TermKey => toToken(countValue(count))!;

function tallyOf(numbers: NumberedPlan, { input, slots }: GroupPlan, aggregate: Aggregate): Tally {
  const termsOf = (own: readonly Slot[]): GroupedTerms => new GroupedTerms(numbers, own, slots.length === 0);
  const { name, expression, isDistinct, solution } = aggregate;
  const variable = expression?.variable;
  const isBound = variable !== undefined && input.certain.has(variable);
  if (name === 'count' && !isDistinct && (!expression || isBound))
    return counting({ slots: [], take: () => {}, counts: ({ weights }) => weights });
  if (name === 'count' && isDistinct && (!expression || variable !== undefined))
    return distinctCount(termsOf(expression ? [variable!] : solution), expression !== undefined);
  return valuesOf({ numbers, terms: termsOf([...expression!.slots]) }, aggregate);
}

const counting = (tally: Required<Omit<Tally, 'results'>>): Tally => {
  const { slots, take, counts } = tally;
  return {
    slots,
    take,
    counts,
    results(groups) {
      const own = counts(groups);
      return (group) => countToken(own[group] ?? 0);
    },
  };
};

/** Distinct rows of some slots by group, with weights. If there are several groups, the last column is the group. */
class GroupedTerms {
  readonly seen: NumberTable;

  constructor(
    private readonly numbers: NumberedPlan,
    readonly slots: readonly Slot[],
    private readonly isOneGroup: boolean,
  ) {
    this.seen = numbers.table(slots.length + (isOneGroup ? 0 : 1));
  }

  /** Adds rows. @param isOfTerms true to skip rows in which the first slot is unbound */
  take(rows: NumberedRows, own: Uint32Array, isOfTerms: boolean): void {
    const { seen } = this;
    const { length, weights } = rows;
    const key = this.slots.map((slot) => columnOf(rows, slot));
    if (!this.isOneGroup) key.push(own);
    for (let at = 0; at < length; at++) {
      if (isOfTerms && key[0]![at] === unbound) continue;
      // `add` may replace the array `weights`, so it is read afterwards.
      const entry = seen.add(key, at);
      seen.weights[entry]! += weights ? weights[at]! : 1;
    }
  }

  /** Returns the index in `order` at which the entries of each group begin. @param groups count of groups */
  starts(groups: number): Uint32Array {
    const { size } = this.seen;
    if (this.isOneGroup) return Uint32Array.of(0, size);
    this.numbers.allocate(4 * groups);
    const starts = new Uint32Array(groups + 1);
    const own = this.seen.keys[this.slots.length]!;
    for (let entry = 0; entry < size; entry++) starts[own[entry]! + 1]!++;
    for (let group = 0; group < groups; group++) starts[group + 1]! += starts[group]!;
    return starts;
  }

  /** Returns the entries sorted by group, then by arrival. Returns `undefined` if they already have this order. */
  order(starts: Uint32Array): Uint32Array | undefined {
    if (this.isOneGroup) return undefined;
    const { size } = this.seen;
    this.numbers.allocate(4 * (size + starts.length));
    const own = this.seen.keys[this.slots.length]!;
    const next = starts.slice();
    const order = new Uint32Array(size);
    for (let entry = 0; entry < size; entry++) order[next[own[entry]!]!++] = entry;
    return order;
  }
}

/** Returns the COUNT(DISTINCT) of each group. @param isOfTerms true to skip rows with an unbound variable */
function distinctCount(terms: GroupedTerms, isOfTerms: boolean): Tally {
  return counting({
    slots: terms.slots,
    take: (rows, own) => terms.take(rows, own, isOfTerms),
    counts({ size }) {
      const starts = terms.starts(size);
      return Float64Array.from({ length: size }, (_, group) => starts[group + 1]! - starts[group]!);
    },
  });
}

/** Collects the distinct terms of each group. The aggregate is evaluated at the end, group by group. */
function valuesOf(
  { numbers, terms }: { readonly numbers: NumberedPlan; readonly terms: GroupedTerms },
  aggregate: Aggregate,
): Tally {
  const { execution } = numbers;
  const { slots, seen } = terms;
  const hold = (value: Value | undefined): void => spend(execution, value);
  return {
    slots,
    take: (rows, own) => terms.take(rows, own, false),
    results({ size }) {
      const starts = terms.starts(size);
      const order = terms.order(starts);
      const row = emptyRow(execution);
      const evaluate = (entry: number): Value | undefined => {
        for (let at = 0; at < slots.length; at++) row[slots[at]!] = numbers.termKey(seen.keys[at]![entry]!);
        return aggregate.expression!.evaluate(row);
      };
      const valueAt = slots.length === 1 ? oncePerTerm(numbers, [seen.keys[0]!], evaluate) : evaluate;
      let value: Value | undefined;
      const own = { ...aggregate, expression: { ...aggregate.expression!, evaluate: () => value } };
      let work = 0;
      return (group) => {
        const { add, result } = accumulator(own, hold);
        for (let i = starts[group]!; i < starts[group + 1]!; i++) {
          const entry = order ? order[i]! : i;
          value = valueAt(entry);
          add(row, seen.weights[entry]!);
          if ((++work & 1023) === 0) execution.assertTime();
        }
        return result();
      };
    },
  };
}

/** Maximum count of cached values, and maximum length of their texts in characters. */
const [maxKept, maxKeptText] = [16_384, 64];

/** Returns an evaluation of a one-variable expression that caches results by term. @param column terms of the entries */
function oncePerTerm(
  numbers: NumberedPlan,
  column: readonly [Uint32Array],
  evaluate: (entry: number) => Value | undefined,
): (entry: number) => Value | undefined {
  const known = numbers.tableOfFew(1);
  const values: (Value | undefined)[] = [];
  return (entry) => {
    const at = known.find(column, entry);
    if (at >= 0) return values[at];
    const value = evaluate(entry);
    if (known.size < maxKept && (value?.text.length ?? 0) <= maxKeptText) values[known.add(column, entry)] = value;
    return value;
  };
}

/** Returns a test for groups that may be among the first of an ORDER BY COUNT. It must be called for all groups in order. */
function chosenOf(
  { aggregates }: GroupPlan,
  { slot, isDescending, most, hasMoreKeys }: FirstGroups,
  { groups, tallies }: { readonly groups: NumberTable; readonly tallies: readonly Tally[] },
): ((group: number) => boolean) | undefined {
  const counts = tallies[aggregates.findIndex((aggregate) => aggregate.slot === slot)]?.counts?.(groups);
  if (!counts || most === 0 || most >= groups.size) return undefined;
  const sorted = Float64Array.from({ length: groups.size }, (_, group) => counts[group]!).sort();
  const limit = isDescending ? sorted[groups.size - most]! : sorted[most - 1]!;
  const isBefore = (count: number): boolean => (isDescending ? count > limit : count < limit);
  let equal = hasMoreKeys ? groups.size : most - sorted.reduce((sum, count) => sum + (isBefore(count) ? 1 : 0), 0);
  return (group) => isBefore(counts[group]!) || (counts[group] === limit && equal-- > 0);
}
