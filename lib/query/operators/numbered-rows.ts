/** Rows as columns of term IDs. A weight counts equal rows that one row represents: unneeded variables do not multiply rows. */
import type { Item } from '../plan/numerable.js';
import type { Slot } from '../plan/plan.js';
import { type JoinTable, NumberTable } from './number-table.js';

/** Batch of rows, as columns of term IDs by slot. */
export interface NumberedRows {
  readonly length: number;
  /** Columns by slot. A slot without a column is unbound in all rows. */
  readonly columns: readonly (Uint32Array | undefined)[];
  /** For each row, count of equal rows that it represents. `undefined`: one for each row. */
  readonly weights: Float64Array | undefined;
}

/** Kind of join. `semi` returns the rows with a match, `anti` the rows without. */
type Kind = 'inner' | 'left' | 'semi' | 'anti';

/** First ID for terms that are in no quad. */
export const firstOther = 2 ** 31;
/** ID of an unbound variable. */
export const unbound = 0xffff_ffff;
const rowsOfBatch = 8192;

export interface NumberedJoin {
  readonly item: Item;
  readonly keys: readonly Slot[];
  /** Slots that later steps need. */
  readonly keep: ReadonlySet<Slot>;
  readonly kind: Kind;
}

/** Returns the rows for which a test is true. */
export function kept(rows: NumberedRows, test: (row: number) => boolean): NumberedRows {
  const index = new Uint32Array(rows.length);
  let length = 0;
  for (let row = 0; row < rows.length; row++) if (test(row)) index[length++] = row;
  return length === rows.length ? rows : taken(rows, index.subarray(0, length));
}

function taken({ columns, weights }: NumberedRows, index: Uint32Array): NumberedRows {
  const own: (Uint32Array | undefined)[] = [];
  for (let slot = 0; slot < columns.length; slot++) own[slot] = columns[slot] && picked(columns[slot]!, index);
  let factors: Float64Array | undefined;
  if (weights) {
    // A loop is used, because `Float64Array.from` with a function takes about 50 ns per element.
    factors = new Float64Array(index.length);
    for (let i = 0; i < index.length; i++) factors[i] = weights[index[i]!]!;
  }
  return { length: index.length, columns: own, weights: factors };
}

/** Returns the IDs of a column in some rows. */
export function picked(column: Uint32Array, rows: ArrayLike<number>): Uint32Array {
  const to = new Uint32Array(rows.length);
  for (let i = 0; i < rows.length; i++) to[i] = column[rows[i]!]!;
  return to;
}

/**
 * Merges successive equal rows of a column into one row with a weight, if that halves the count of rows. Columns in the order of
 * an index have few values in long runs, which later steps then process once.
 */
export function runsOf(slot: Slot, column: Uint32Array): NumberedRows {
  const { length } = column;
  let runs = 1;
  for (let row = 1; row < length; row++) if (column[row] !== column[row - 1]) runs++;
  const columns: Uint32Array[] = [];
  columns[slot] = column;
  if (2 * runs > length) return { length, columns, weights: undefined };
  const own = new Uint32Array(runs);
  const weights = new Float64Array(runs);
  for (let row = 0, run = -1; row < length; row++) {
    if (row === 0 || column[row] !== column[row - 1]) own[++run] = column[row]!;
    weights[run]!++;
  }
  columns[slot] = own;
  return { length: runs, columns, weights };
}

/** Merges equal rows of a batch into one row with a weight. A join then looks up each key once. */
export function merged({ columns, length, weights }: NumberedRows): NumberedRows {
  const slots = [...columns.keys()].filter((slot) => columns[slot]);
  const key = slots.map((slot) => columns[slot]);
  // The table is not charged to the memory limit, because it is dropped after the batch.
  const table = new NumberTable({ width: slots.length, allocate: () => {}, direct: 0 });
  for (let row = 0; row < length; row++) {
    // `add` may replace the array `weights`, so it is read afterwards.
    const entry = table.add(key, row);
    table.weights[entry]! += weights ? weights[row]! : 1;
  }
  const own: Uint32Array[] = [];
  slots.forEach((slot, i) => {
    own[slot] = table.keys[i]!.subarray(0, table.size);
  });
  return { length: table.size, columns: own, weights: table.weights.subarray(0, table.size) };
}

export interface Probed extends NumberedJoin {
  /** Slots of the columns of the table that are not keys. */
  readonly others: readonly Slot[];
}

/** Returns the first elements of a buffer. If they are less than half, copies them, so that the buffer can be freed. */
const beginning = <T extends Uint32Array | Float64Array>(buffer: T, count: number): T =>
  (2 * count < buffer.length ? buffer.slice(0, count) : buffer.subarray(0, count)) as T;

/** Joins rows with their matches in a table. */
export function* probed(
  rows: NumberedRows,
  table: JoinTable,
  { keys, keep, kind, others }: Probed,
): Generator<NumberedRows> {
  const { entries } = table;
  const key = keys.map((slot) => rows.columns[slot]);
  if (kind === 'semi' || kind === 'anti') {
    yield kept(rows, (row) => table.weightOf(key, row) > 0 === (kind === 'semi'));
    return;
  }
  const columns = rows.columns.map((column, slot) => (keep.has(slot) ? column : undefined));
  const { length, weights } = rows;
  if (others.length === 0) {
    const found = new Float64Array(length);
    for (let row = 0; row < length; row++) {
      const matches = table.weightOf(key, row) || (kind === 'left' ? 1 : 0);
      found[row] = matches * (weights ? weights[row]! : 1);
    }
    yield kept({ length, columns, weights: found }, (row) => found[row]! > 0);
    return;
  }
  // The size of the buffers follows from the expected matches. Otherwise, unused buffers would be most of the garbage.
  const perRow = 1 + table.size / Math.max(1, entries.size);
  const most = Math.min(rowsOfBatch, Math.ceil(2 * length * perRow));
  let [index, own, factors, count] = [noRows, [] as Uint32Array[], noFactors, 0];
  const begin = (): void => {
    index = new Uint32Array(most);
    own = others.map(() => new Uint32Array(most));
    factors = new Float64Array(most);
    count = 0;
  };
  const take = (): NumberedRows => {
    const left = taken({ length, columns, weights }, index.subarray(0, count));
    const all = [...left.columns];
    others.forEach((slot, i) => {
      all[slot] = beginning(own[i]!, count);
    });
    const product = beginning(factors, count);
    if (left.weights) for (let i = 0; i < count; i++) product[i]! *= left.weights[i]!;
    return { length: count, columns: all, weights: product };
  };
  begin();
  for (let row = 0; row < length; row++) {
    const entry = entries.find(key, row);
    let match = entry < 0 ? 0 : table.first[entry]!;
    if (match === 0 && kind === 'inner') continue;
    do {
      index[count] = row;
      factors[count] = match === 0 ? 1 : table.rowWeights[match - 1]!;
      for (let i = 0; i < others.length; i++) own[i]![count] = match === 0 ? unbound : table.columns[i]![match - 1]!;
      if (++count === most) {
        yield take();
        begin();
      }
      match = match === 0 ? 0 : table.next[match - 1]!;
    } while (match !== 0);
  }
  if (count > 0) yield take();
}

const noRows = new Uint32Array(0);
const noFactors = new Float64Array(0);
