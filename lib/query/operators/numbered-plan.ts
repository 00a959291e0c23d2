/**
 * Executes joins, OPTIONAL, MINUS, EXISTS, UNION and filters over term IDs. Used below aggregates, where only the terms of
 * results must be decoded.
 */
import { LwsError } from '../../tools/errors.js';
import { affordable } from '../../tools/threads/thread-limits.js';
import type { NumberedMatches } from '../access/quad-matches.js';
import type { TermKey } from '../access/terms.js';
import { certainOf, haveCommon, type Item, isNumerable, slotsOf } from '../plan/numerable.js';
import {
  type Blocks,
  type Expression,
  isSubset,
  type JoinPlan,
  onlyPattern,
  type Pattern,
  type Plan,
  type Row,
  type Slot,
} from '../plan/plan.js';
import { type Execution, emptyRow, recallStatistics } from './execution.js';
import { JoinTable, NumberTable, type TableOptions } from './number-table.js';
import { batchTests } from './numbered-filters.js';
import {
  firstOther,
  kept,
  merged,
  type NumberedJoin,
  type NumberedRows,
  type Probed,
  picked,
  probed,
  runsOf,
  unbound,
} from './numbered-rows.js';
import { constants, estimateOf, selectivityOf, slotsOfWanted } from './pattern-access.js';

type Batches = AsyncIterable<NumberedRows>;

/** Cost of a lookup, relative to reading one match in a scan. */
const lookUpCost = 16;
const lookUpsAtOnce = 1024;
/** Work of a joined row for the time limit, relative to reading one match in a scan. */
const rowWork = 0.125;
/** Average count of matches per key from which equal rows are merged before a join. */
const manyMatches = 8;
/** Assumed count of rows of a part without an estimate. */
const usualRows = 1000;
/** Maximum memory of the tables of a query, in bytes. */
const maxBytes = affordable(256 << 20);

/** Returns the estimated count of rows from which the evaluation of an item starts. */
export async function sizeOf(execution: Execution, item: Item): Promise<number> {
  if ('places' in item) return estimateOf(execution, item);
  const sizes = (items: readonly Item[]): Promise<number[]> =>
    Promise.all(items.map((each) => sizeOf(execution, each)));
  if (item.kind === 'join') return Math.min(...(await sizes([...item.patterns, ...item.parts])));
  if (item.kind === 'union') return (await sizes(item.inputs)).reduce((sum, size) => sum + size, 0);
  if (item.kind === 'leftJoin' || item.kind === 'semiJoin') return sizeOf(execution, item.left);
  // Property paths are joined last: they start from nodes that the other parts of the join have bound.
  if (item.kind === 'closure') return Number.POSITIVE_INFINITY;
  return item.kind === 'filter' ? sizeOf(execution, item.input) : usualRows;
}

/** Returns the estimated count of matches of all patterns in a plan. */
export async function workOf(execution: Execution, plan: Plan): Promise<number> {
  let sum = 0;
  const { patterns = [], parts = [], inputs = [], ...own } = plan as Partial<JoinPlan & { inputs: readonly Plan[] }>;
  const { left, input, right, existence } = own as {
    left?: Plan;
    input?: Plan;
    right?: Plan;
    existence?: { right: Plan };
  };
  for (const pattern of patterns) sum += await estimateOf(execution, pattern);
  for (const part of [...parts, ...inputs, left, input, right ?? existence?.right])
    if (part) sum += await workOf(execution, part);
  return sum;
}

/** Function that executes a plan over rows of terms, with or without input rows. */
export type RunRows = (plan: Plan, input?: Blocks) => Blocks;

/** Executes plans of one query over term IDs. */
export class NumberedPlan {
  private left = maxBytes;
  private readonly others: TermKey[] = [];
  private readonly numbersOfOthers = new Map<TermKey, number>();

  constructor(
    readonly execution: Execution,
    readonly matches: NumberedMatches,
    private readonly run: RunRows,
  ) {}

  /** Charges bytes to the memory limit for tables. @throws LwsError `query-limit` */
  readonly allocate = (bytes: number): void => {
    this.left -= bytes;
    this.execution.assertTime();
    if (this.left < 0)
      throw new LwsError(
        'query-limit',
        `The query exceeds the limit of ${maxBytes >> 20} MiB for the tables of joins and groups. The limit is fixed.`,
      );
  };

  private options(width: number): TableOptions {
    return { width, allocate: this.allocate, direct: this.matches.directly };
  }

  /** Returns the options of a small table: addressing without hashing would use more memory than the entries. */
  private optionsOfFew(width: number): TableOptions {
    return { ...this.options(width), direct: 0 };
  }

  tableOfFew(width: number): NumberTable {
    return new NumberTable(this.optionsOfFew(width));
  }

  table(width: number): NumberTable {
    return new NumberTable(this.options(width));
  }

  termKey(number: number): TermKey | undefined {
    if (number === unbound) return undefined;
    return number < firstOther ? this.matches.termKey(number) : this.others[number - firstOther]!;
  }

  /** Yields the rows of a plan, with the columns of the needed slots. */
  rows(plan: Plan, needed: ReadonlySet<Slot>): Batches {
    const rows = this.partOf(plan, needed);
    return this.execution.observer ? this.execution.observer.watched(plan, rows) : rows;
  }

  private partOf(plan: Plan, needed: ReadonlySet<Slot>): Batches {
    if (!isNumerable(plan)) return this.numbered(plan, needed);
    switch (plan.kind) {
      case 'join':
        return this.join(plan, needed);
      case 'union':
        return this.union(plan.inputs, needed);
      case 'filter':
        return this.filtered(this.rows(plan.input, with_(needed, plan.condition.slots)), [plan.condition]);
      case 'leftJoin':
        return this.matched(plan, { item: onlyPattern(plan.right) ?? plan.right, keep: needed, kind: 'left' });
      case 'semiJoin':
        return this.matched(plan, {
          item: onlyPattern(plan.existence.right) ?? plan.existence.right,
          keep: needed,
          kind: plan.isKept ? 'semi' : 'anti',
        });
      default:
        throw new Error(`A ${plan.kind} has no numbers.`);
    }
  }

  private async *union(inputs: readonly Plan[], needed: ReadonlySet<Slot>): AsyncGenerator<NumberedRows> {
    for (const input of inputs) yield* this.rows(input, needed);
  }

  private matched({ left }: { readonly left: Plan }, of: Omit<NumberedJoin, 'keys'>): Batches {
    const keys = [...slotsOf(of.item)].filter((slot) => left.certain.has(slot));
    return this.joined(this.rows(left, with_(of.keep, keys)), { ...of, keys });
  }

  private async *join(plan: JoinPlan, needed: ReadonlySet<Slot>): AsyncGenerator<NumberedRows> {
    const { execution } = this;
    const items: Item[] = [...plan.patterns, ...plan.parts];
    const sizes = new Map<Item, number>();
    for (const item of items) sizes.set(item, (await sizeOf(execution, item)) * (await this.shareOf(item, plan)));
    let rest = items.sort((a, b) => sizes.get(a)! - sizes.get(b)!);
    let { filters } = plan;
    const bound = new Set<Slot>();
    let rows: Batches | undefined;
    while (rest.length > 0) {
      const item = rest.find((each) => !rows || haveCommon(bound, each))!;
      rest = rest.filter((each) => each !== item);
      const keys = [...slotsOf(item)].filter((slot) => bound.has(slot));
      for (const slot of certainOf(item)) bound.add(slot);
      const ready = filters.filter(({ slots }) => rest.length === 0 || isSubset(slots, bound));
      const keep = with_(needed, ...rest.map(slotsOf), ...filters.map(({ slots }) => slots));
      filters = filters.filter((each) => !ready.includes(each));
      execution.observer?.taken(plan, item);
      rows = rows ? this.joined(rows, { item, keys, keep, kind: 'inner' }) : this.rowsOf(item, keep);
      if (ready.length > 0) rows = this.filtered(rows, ready);
    }
    yield* rows!;
  }

  /** Returns the estimated share of a pattern's matches that pass the filters on its variables. */
  private async shareOf(item: Item, { filters }: JoinPlan): Promise<number> {
    if (!('places' in item) || filters.length === 0) return 1;
    const known = recallStatistics(this.execution, { part: item, as: 'share' }, (): { share?: number } => ({}));
    known.share ??= await selectivityOf(this.execution, item, filters);
    return known.share;
  }

  private rowsOf(item: Item, needed: ReadonlySet<Slot>): Batches {
    if (!('places' in item)) return this.rows(item, needed);
    const rows = this.scan(item, needed);
    return this.execution.observer ? this.execution.observer.watched(item, rows) : rows;
  }

  private async *scan(pattern: Pattern, needed: ReadonlySet<Slot>): AsyncGenerator<NumberedRows> {
    const { places, slots } = placesOf(pattern, needed);
    const bound = constants(pattern);
    if (places.length === 0) {
      const count = await this.execution.matches.count(bound, pattern.part);
      if (count > 0) yield { length: 1, columns: [], weights: Float64Array.of(count) };
      return;
    }
    for await (const { length, columns: own } of this.matches.scan(bound, { part: pattern.part, places })) {
      if (own.length === 1) {
        yield runsOf(slots[0]!, own[0]!.subarray(0, length));
        continue;
      }
      const columns: (Uint32Array | undefined)[] = [];
      slots.forEach((slot, i) => {
        columns[slot] ??= own[i]!;
      });
      const rows = { length, columns, weights: undefined };
      const repeated = slots.flatMap((slot, i) =>
        columns[slot] === own[i] ? [] : [[columns[slot]!, own[i]!] as const],
      );
      yield repeated.length === 0 ? rows : kept(rows, (row) => repeated.every(([a, b]) => a[row] === b[row]));
    }
  }

  /** Executes a plan over rows of terms, and yields its rows as term IDs. */
  private async *numbered(plan: Plan, needed: ReadonlySet<Slot>, input?: Blocks): AsyncGenerator<NumberedRows> {
    for await (const rows of this.run(plan, input)) {
      const columns: Uint32Array[] = [];
      for (const slot of plan.possible)
        if (needed.has(slot)) columns[slot] = Uint32Array.from(rows, (row) => this.numberOf(row[slot]));
      yield { length: rows.length, columns, weights: undefined };
    }
  }

  private numberOf(token: TermKey | undefined): number {
    if (token === undefined) return unbound;
    const number = this.matches.numberOf(token);
    if (number >= 0) return number;
    let other = this.numbersOfOthers.get(token);
    if (other === undefined) {
      other = firstOther + this.others.push(token) - 1;
      this.numbersOfOthers.set(token, other);
    }
    return other;
  }

  private async *filtered(input: Batches, conditions: readonly Expression[]): AsyncGenerator<NumberedRows> {
    const tests = batchTests(this, conditions);
    for await (let rows of input) {
      this.execution.assertTime();
      for (const test of tests) rows = kept(rows, test(rows.columns));
      yield rows;
    }
  }

  /** Joins rows with a pattern or plan. Matches of few keys are looked up. For many keys, all matches are read to a table. */
  private async *joined(input: Batches, of: NumberedJoin): AsyncGenerator<NumberedRows> {
    const { item, kind } = of;
    const others = kind === 'inner' || kind === 'left' ? othersOf(of) : [];
    const iterator = input[Symbol.asyncIterator]();
    try {
      const first: NumberedRows[] = [];
      const isPattern = 'places' in item;
      const isPath = !isPattern && item.kind === 'closure';
      const most = isPattern || isPath ? (await sizeOf(this.execution, item)) / lookUpCost : 0;
      let [count, isMany] = [0, most === 0];
      let asked: NumberTable | undefined;
      let next = await iterator.next();
      for (; !next.done && !isMany; next = await iterator.next()) {
        first.push(next.value);
        count += next.value.length;
        if (isPath) this.allocate(8 * next.value.length);
        if (count < most) continue;
        // Distinct keys are counted, because many rows may have few keys.
        if (isPattern && of.keys.length > 0) asked = this.distinct(asked ? [next.value] : first, of.keys, asked);
        isMany = !asked || asked.size >= most || count >= manyMatches * most;
      }
      if (next.done && count === 0) return;
      const table =
        next.done && !isMany && isPattern
          ? await this.lookedUp(item, asked ?? this.distinct(first, of.keys), { ...of, others })
          : await this.joinTable(of, others, isPath ? this.rowsFor(first, of.keys) : undefined);
      for (const rows of first) yield* this.probed(rows, table, { ...of, others });
      for (; !next.done; next = await iterator.next()) yield* this.probed(next.value, table, { ...of, others });
    } finally {
      await iterator.return?.();
    }
  }

  private *probed(rows: NumberedRows, table: JoinTable, of: Probed): Generator<NumberedRows> {
    const isMultiplied = of.others.length > 0 && table.size > manyMatches * table.entries.size;
    for (const found of probed(isMultiplied ? merged(rows) : rows, table, of)) {
      this.execution.assertTime(found.length * rowWork);
      yield found;
    }
  }

  /** Reads all matches into a table. @param input input rows, for a plan that runs over rows of terms */
  private async joinTable({ item, keys }: NumberedJoin, others: readonly Slot[], input?: Blocks): Promise<JoinTable> {
    const table = new JoinTable(this.options(keys.length), others.length);
    const needed = new Set([...keys, ...others]);
    const rows = input ? this.numbered(item as Plan, needed, input) : this.rowsOf(item, needed);
    for await (const { length, columns, weights } of rows) {
      this.execution.assertTime();
      const key = keys.map((slot) => columns[slot]);
      const own = others.map((slot) => columns[slot] ?? new Uint32Array(length).fill(unbound));
      table.add(key, own, { length, weights });
    }
    return table;
  }

  private distinct(
    batches: readonly NumberedRows[],
    keys: readonly Slot[],
    found = this.tableOfFew(keys.length),
  ): NumberTable {
    for (const { length, columns } of batches) {
      const key = keys.map((slot) => columns[slot]);
      for (let at = 0; at < length; at++) found.add(key, at);
    }
    return found;
  }

  /** Yields a row of terms for each distinct key of the rows. */
  private async *rowsFor(batches: readonly NumberedRows[], slots: readonly Slot[]): AsyncGenerator<Row[]> {
    const { keys, size } = this.distinct(batches, slots);
    for (let from = 0; from < size; from += lookUpsAtOnce)
      yield Array.from({ length: Math.min(lookUpsAtOnce, size - from) }, (_, at) => {
        const row = emptyRow(this.execution);
        slots.forEach((slot, i) => {
          row[slot] = this.termKey(keys[i]![from + at]!);
        });
        return row;
      });
  }

  /** Looks up the matches of each key and returns them as a table. */
  private async lookedUp(
    pattern: Pattern,
    asked: NumberTable,
    { keys, others }: Pick<Probed, 'keys' | 'others'>,
  ): Promise<JoinTable> {
    const table = new JoinTable(this.optionsOfFew(keys.length), others.length);
    const { places, slots } = placesOf(pattern, new Set(others), new Set(keys));
    const bound = pattern.wanted.filter((at) => keys.includes(slotAt(pattern, at)));
    const order = bound.map((at) => keys.indexOf(slotAt(pattern, at)));
    for (let from = 0; from < asked.size; from += lookUpsAtOnce) {
      const length = Math.min(lookUpsAtOnce, asked.size - from);
      const found = await this.matches.lookUp(
        constants(pattern),
        { places: bound, keys: order.map((at) => asked.keys[at]!.subarray(from, from + length)), length },
        { part: pattern.part, places },
      );
      const own = others.map((slot) => Uint32Array.from(found.columns[slots.indexOf(slot)]!));
      const same = slots.flatMap((slot, i) => (slots.indexOf(slot) < i ? [[slots.indexOf(slot), i] as const] : []));
      const isKept = (at: number): boolean => same.every(([a, b]) => found.columns[a]![at] === found.columns[b]![at]);
      const weights = same.length === 0 ? found.weights : found.weights.map((weight, at) => (isKept(at) ? weight : 0));
      const key = asked.keys.map((column) => picked(column.subarray(from), found.rows));
      table.add(key, own, { length: weights.length, weights });
    }
    return table;
  }
}

const with_ = (slots: ReadonlySet<Slot>, ...more: readonly Iterable<Slot>[]): ReadonlySet<Slot> => {
  const all = new Set(slots);
  for (const each of more) for (const slot of each) all.add(slot);
  return all;
};

const slotAt = ({ places }: Pattern, at: number): Slot => (places[at] as { slot: Slot }).slot;

/** Returns the positions of needed variables, and of repeated variables, which must be equal. @param bound key variables */
function placesOf(
  pattern: Pattern,
  needed: ReadonlySet<Slot>,
  bound: ReadonlySet<Slot> = new Set(),
): { readonly places: readonly number[]; readonly slots: readonly Slot[] } {
  const all = slotsOfWanted(pattern);
  const isRepeated = (slot: Slot): boolean => all.indexOf(slot) !== all.lastIndexOf(slot);
  const places = pattern.wanted.filter((at) => {
    const slot = slotAt(pattern, at);
    return !bound.has(slot) && (needed.has(slot) || isRepeated(slot));
  });
  return { places, slots: places.map((at) => slotAt(pattern, at)) };
}

const othersOf = ({ item, keys, keep }: NumberedJoin): readonly Slot[] =>
  [...slotsOf(item)].filter((slot) => keep.has(slot) && !keys.includes(slot));
