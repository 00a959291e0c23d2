/**
 * Merges segments. Numbers follow the order of the terms in every segment, so that sorted quads stay sorted with new numbers: the
 * merge reads and writes sequentially. Terms without a quad are dropped.
 */

import {
  type Columns,
  newColumns,
  type OrderReader,
  type OrderWriter,
  orderPlaces,
  type Window,
} from './quad-pages.js';
import { type Segment, SegmentWriter } from './segment.js';
import type { TermWriter } from './term-writer.js';

/** A set of numbers, as bits. */
export class Bits {
  private readonly words: Uint32Array;

  constructor(size: number) {
    this.words = new Uint32Array((size >>> 5) + 1);
  }

  add(number: number): void {
    this.words[number >>> 5]! |= 1 << (number & 31);
  }

  has(number: number): boolean {
    return ((this.words[number >>> 5]! >>> (number & 31)) & 1) === 1;
  }
}

/** A segment with the tombstones of newer segments, in its own numbers. */
export interface MergeInput {
  readonly segment: Segment;
  /** Graphs whose quads are outdated; absent: none. */
  readonly graphs: Bits | undefined;
  /** Outdated quads; absent: none. */
  readonly quads: QuadSet | undefined;
}

/** Sorted set of quads as numbers, in the order of GSPO. */
export class QuadSet {
  private readonly rows: Uint32Array;
  private readonly graphs: Bits;

  /** @param rows G, S, P and O of each @param size number of terms */
  constructor(rows: number[][], size: number) {
    rows.sort((a, b) => a[0]! - b[0]! || a[1]! - b[1]! || a[2]! - b[2]! || a[3]! - b[3]!);
    this.rows = Uint32Array.from(rows.flat());
    this.graphs = new Bits(size);
    for (const [graph] of rows) this.graphs.add(graph!);
  }

  /** @param columns S, P, O and G, of which one row is looked up */
  has([subjects, predicates, objects, graphs]: Columns, row: number): boolean {
    const g = graphs[row]!;
    if (!this.graphs.has(g)) return false;
    const { rows } = this;
    const [s, p, o] = [subjects[row]!, predicates[row]!, objects[row]!];
    let [low, high] = [0, rows.length / 4];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const at = 4 * middle;
      const difference = rows[at]! - g || rows[at + 1]! - s || rows[at + 2]! - p || rows[at + 3]! - o;
      if (difference === 0) return true;
      if (difference < 0) low = middle + 1;
      else high = middle;
    }
    return false;
  }
}

/** Returns the segments with the tombstones of newer ones. @param segments the oldest first */
export const mergeInputs = (segments: readonly Segment[]): MergeInput[] =>
  segments.map((segment, at) => {
    const later = segments.slice(at + 1);
    return { segment, graphs: outdatedGraphs(segment, later), quads: outdatedQuads(segment, later) };
  });

function outdatedGraphs({ terms }: Segment, later: readonly Segment[]): Bits | undefined {
  let found: Bits | undefined;
  for (const { data } of later)
    for (const graph of data.facts.graphs) {
      const id = terms.idOf(graph);
      if (id < 0) continue;
      found ??= new Bits(terms.size);
      found.add(id);
    }
  return found;
}

function outdatedQuads({ terms }: Segment, later: readonly Segment[]): QuadSet | undefined {
  const rows: number[][] = [];
  for (const { tombstones, terms: others } of later) {
    const known = new Map<number, number>();
    const own = (id: number): number => {
      if (!known.has(id)) known.set(id, terms.idOf(others.termKey(id)));
      return known.get(id)!;
    };
    for (const { columns, length } of windowsOf(tombstones))
      for (let i = 0; i < length; i++) {
        const row = [3, 0, 1, 2].map((place) => own(columns[place as 0][i]!));
        if (row.every((id) => id >= 0)) rows.push(row);
      }
  }
  return rows.length > 0 ? new QuadSet(rows, terms.size) : undefined;
}

const columnsOf = (window: Window): Columns => [window.column(0), window.column(1), window.column(2), window.column(3)];

/** Yields all quads of an order in blocks. */
export function* windowsOf(order: OrderReader): Generator<{ readonly columns: Columns; readonly length: number }> {
  for (let at = 0; at < order.quads; ) {
    const window = order.window(at, order.quads);
    yield { columns: columnsOf(window), length: window.end - at };
    at = window.end;
  }
}

export interface MergeOptions {
  /** Path of the new segment. */
  readonly name: string;
  /** The result is the oldest segment, so that tombstones are dropped. */
  readonly isBase: boolean;
  /** Called in every block. Throws to stop the merge. */
  readonly check?: () => void;
}

/**
 * Writes a new segment with the current quads.
 * @param inputs the oldest first
 * @throws the file system's error, DamagedSegmentError, or the error of `check`; then nothing is left of the new file
 */
export function mergeSegments(inputs: readonly MergeInput[], { name, isBase, check = () => {} }: MergeOptions): void {
  const writer = new SegmentWriter(name);
  try {
    let numbers: readonly Uint32Array[] = [];
    writer.writeTerms((to) => {
      numbers = mergeTerms(inputs, { to, isBase, check });
    });
    for (let order = 0; order < 4; order++) {
      const cursors = inputs.map(
        (input, at) => new QuadCursor(input.segment.orders[order]!, { ...input, numbers: numbers[at]!, check }),
      );
      writer.writeOrder(order, (to) => mergeQuads(cursors, order, { to, note: order === 0 ? writer : undefined }));
    }
    const tombstones = isBase ? [] : inputs;
    const kept = tombstones.map(
      ({ segment }, at) =>
        new QuadCursor(segment.tombstones, { graphs: undefined, quads: undefined, numbers: numbers[at]!, check }),
    );
    writer.writeTombstones((to) => mergeQuads(kept, 3, { to, isOnce: true }));
    const graphs = isBase ? [] : [...new Set(inputs.flatMap(({ segment }) => segment.data.facts.graphs))].sort();
    writer.end({ graphs });
  } catch (error) {
    writer.abandon();
    throw error;
  }
}

/** Returns the terms in use: those of current quads, and those of tombstones that are kept. `undefined`: all. */
function usedTerms({ segment, graphs, quads }: MergeInput, isBase: boolean): Bits | undefined {
  const { tombstones, terms, orders } = segment;
  if (!graphs && !quads && (!isBase || tombstones.quads === 0)) return undefined;
  const used = new Bits(terms.size);
  const use = (columns: Columns, i: number): void => {
    for (const column of columns) used.add(column[i]!);
  };
  if (!isBase)
    for (const { columns, length } of windowsOf(tombstones)) for (let i = 0; i < length; i++) use(columns, i);
  for (const { columns, length } of windowsOf(orders[3]!)) {
    for (let i = 0; i < length; i++) if (!graphs?.has(columns[3][i]!) && !quads?.has(columns, i)) use(columns, i);
  }
  return used;
}

/** Writes the terms in use and returns their new numbers by the old ones. */
function mergeTerms(
  inputs: readonly MergeInput[],
  { to, isBase, check }: { readonly to: TermWriter; readonly isBase: boolean; readonly check: () => void },
): readonly Uint32Array[] {
  const cursors = inputs.map(({ segment }) => segment.terms.cursor());
  const used = inputs.map((input) => usedTerms(input, isBase));
  const numbers = inputs.map(({ segment }) => new Uint32Array(segment.terms.size));
  const next = (input: number): boolean => {
    const cursor = cursors[input]!;
    do if (!cursor.next()) return false;
    while (used[input] && !used[input].has(cursor.id));
    return true;
  };
  const compare = (a: Text, b: Text): number => {
    const most = Math.min(a.length, b.length);
    for (let i = 0; i < most; i++) if (a.bytes[i] !== b.bytes[i]) return a.bytes[i]! - b.bytes[i]!;
    return a.length - b.length;
  };
  const live = cursors.map((_, input) => input).filter(next);
  const heap = new Heap(live, (a, b) => compare(cursors[a]!, cursors[b]!) < 0);
  const last = { bytes: new Uint8Array(64), length: -1 };
  for (let count = 0; heap.size > 0; ) {
    const input = heap.least;
    const cursor = cursors[input]!;
    if (last.length < 0 || compare(cursor, last) !== 0) {
      to.add(cursor.bytes, 0, cursor.length);
      if (cursor.length > last.bytes.length) last.bytes = new Uint8Array(2 * cursor.length);
      for (let i = 0; i < cursor.length; i++) last.bytes[i] = cursor.bytes[i]!;
      last.length = cursor.length;
      if (++count % 4096 === 0) check();
    }
    numbers[input]![cursor.id] = count - 1;
    if (next(input)) heap.sink();
    else heap.drop();
  }
  return numbers;
}

interface Text {
  readonly bytes: Uint8Array;
  readonly length: number;
}

interface CursorOptions extends Pick<MergeInput, 'graphs' | 'quads'> {
  /** New numbers by the old ones. */
  readonly numbers: Uint32Array;
  readonly check: () => void;
}

/** Cursor over the current quads of an input in one order, with new numbers. */
class QuadCursor {
  at = 0;
  columns: Columns = newColumns(0);
  private length = 0;
  private readonly windows: ReturnType<typeof windowsOf>;

  constructor(
    order: OrderReader,
    private readonly options: CursorOptions,
  ) {
    this.windows = windowsOf(order);
    this.load();
  }

  get isOver(): boolean {
    return this.at >= this.length;
  }

  /** Moves to the next quad. Returns false after the last one. */
  next(): boolean {
    return ++this.at < this.length || this.load();
  }

  private load(): boolean {
    const { graphs, quads, numbers, check } = this.options;
    for (let { value, done } = this.windows.next(); !done; { value, done } = this.windows.next()) {
      check();
      const { columns, length } = value!;
      const [s, p, o, g] = columns;
      let count = 0;
      for (let i = 0; i < length; i++) {
        if (graphs?.has(g[i]!) || quads?.has(columns, i)) continue;
        s[count] = numbers[s[i]!]!;
        p[count] = numbers[p[i]!]!;
        o[count] = numbers[o[i]!]!;
        g[count] = numbers[g[i]!]!;
        count++;
      }
      if (count === 0) continue;
      [this.columns, this.at, this.length] = [columns, 0, count];
      return true;
    }
    return false;
  }
}

interface QuadOutput {
  readonly to: OrderWriter;
  /** Finds triples in several graphs. */
  readonly note?: SegmentWriter | undefined;
  /** Writes equal quads once. */
  readonly isOnce?: boolean;
}

function mergeQuads(cursors: readonly QuadCursor[], order: number, { to, note, isOnce }: QuadOutput): void {
  const [a, b, c, d] = orderPlaces[order]!;
  const isLess = (x: number, y: number): boolean => {
    const [p, q] = [cursors[x]!, cursors[y]!];
    const [i, j, m, n] = [p.at, q.at, p.columns, q.columns];
    return (m[a][i]! - n[a][j]! || m[b][i]! - n[b][j]! || m[c][i]! - n[c][j]! || m[d][i]! - n[d][j]!) < 0;
  };
  const live = cursors.map((_, input) => input).filter((input) => !cursors[input]!.isOver);
  const heap = new Heap(live, isLess);
  let last: readonly number[] = [];
  while (heap.size > 0) {
    const cursor = cursors[heap.least]!;
    const { columns, at } = cursor;
    const quad = isOnce ? columns.map((column) => column[at]!) : last;
    if (!isOnce || quad.some((term, place) => term !== last[place])) {
      to.add(columns, at);
      note?.note(columns, at);
    }
    last = quad;
    if (cursor.next()) heap.sink();
    else heap.drop();
  }
}

/** Binary heap of input numbers, the least first. */
class Heap {
  private readonly items: number[];

  constructor(
    inputs: readonly number[],
    private readonly isLess: (a: number, b: number) => boolean,
  ) {
    this.items = [...inputs];
    for (let at = (this.items.length >> 1) - 1; at >= 0; at--) this.sink(at);
  }

  get size(): number {
    return this.items.length;
  }

  get least(): number {
    return this.items[0]!;
  }

  /** Restores the order after the input at a position has moved on. */
  sink(from = 0): void {
    const { items, isLess } = this;
    const item = items[from]!;
    let at = from;
    for (let child = 2 * at + 1; child < items.length; child = 2 * at + 1) {
      if (child + 1 < items.length && isLess(items[child + 1]!, items[child]!)) child++;
      if (!isLess(items[child]!, item)) break;
      items[at] = items[child]!;
      at = child;
    }
    items[at] = item;
  }

  /** Removes the least one. */
  drop(): void {
    const last = this.items.pop()!;
    if (this.items.length === 0) return;
    this.items[0] = last;
    this.sink();
  }
}
