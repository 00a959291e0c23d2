/**
 * Merges segments. In every segment, IDs have the order of the terms, so that quads stay sorted when they get the IDs of the
 * new segment: the merge reads and writes sequentially. Terms without a quad are dropped.
 */

import {
  type Columns,
  gspo,
  newColumns,
  type OrderReader,
  type OrderWriter,
  orderPlaces,
  spog,
  type Window,
} from './quad-pages.js';
import { type Segment, type SegmentName, SegmentWriter } from './segment.js';
import type { TermWriter } from './term-writer.js';

/** Set of IDs, as a bitmap. */
class Bits {
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

/** Segment to merge, with the graphs whose quads newer segments replace. */
export interface MergeInput {
  readonly segment: Segment;
  /** Outdated graphs, by the IDs of this segment. Undefined if there are none. */
  readonly graphs: Bits | undefined;
}

/** Returns the inputs of a merge. @param segments the oldest first */
export const mergeInputs = (segments: readonly Segment[]): MergeInput[] =>
  segments.map((segment, at) => ({ segment, graphs: outdatedGraphs(segment, segments.slice(at + 1)) }));

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
  /** Called in every block. Throws to stop the merge. */
  readonly check?: () => void;
}

/**
 * Writes a segment with the current quads of the inputs, which it replaces. So the inputs must include the oldest segment.
 * @param inputs the oldest first
 * @throws the file system's error, DamagedSegmentError, or the error of `check`, after removing the new file
 */
export function mergeSegments(inputs: readonly MergeInput[], { name, check = () => {} }: MergeOptions): SegmentName {
  const writer = new SegmentWriter(name);
  try {
    let numbers: readonly Uint32Array[] = [];
    writer.writeTerms((to) => {
      numbers = mergeTerms(inputs, to, check);
    });
    let isUnique = true;
    for (let order = 0; order < 4; order++) {
      const cursors = inputs.map(
        ({ segment, graphs }, at) => new QuadCursor(segment.orders[order]!, { graphs, numbers: numbers[at]!, check }),
      );
      writer.writeOrder(order, (to) => {
        const hasCopies = mergeQuads(cursors, order, to);
        if (order === spog) isUnique = !hasCopies;
      });
    }
    return writer.end({ isUnique, facts: { graphs: [] } });
  } catch (error) {
    writer.abandon();
    throw error;
  }
}

/** Returns the terms of quads that are not outdated, or `undefined` if all terms are used. */
function usedTerms({ segment: { terms, orders }, graphs }: MergeInput): Bits | undefined {
  if (!graphs) return undefined;
  const used = new Bits(terms.size);
  for (const { columns, length } of windowsOf(orders[gspo]!))
    for (let i = 0; i < length; i++)
      if (!graphs.has(columns[3][i]!)) for (const column of columns) used.add(column[i]!);
  return used;
}

/** Writes the used terms. Returns for each input an array of new term IDs, indexed by old term ID. */
function mergeTerms(inputs: readonly MergeInput[], to: TermWriter, check: () => void): readonly Uint32Array[] {
  const cursors = inputs.map(({ segment }) => segment.terms.cursor());
  const used = inputs.map(usedTerms);
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

interface CursorOptions extends Pick<MergeInput, 'graphs'> {
  /** New term IDs, indexed by old term ID. */
  readonly numbers: Uint32Array;
  readonly check: () => void;
}

/** Cursor over the quads of an input in one order, without outdated quads and with new term IDs. */
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
    const { graphs, numbers, check } = this.options;
    for (let { value, done } = this.windows.next(); !done; { value, done } = this.windows.next()) {
      check();
      const { columns, length } = value!;
      const [s, p, o, g] = columns;
      let count = 0;
      for (let i = 0; i < length; i++) {
        if (graphs?.has(g[i]!)) continue;
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

/** Merges one order. Returns true if successive quads have the same triple, which in SPOG are copies in several graphs. */
function mergeQuads(cursors: readonly QuadCursor[], order: number, to: OrderWriter): boolean {
  const [a, b, c, d] = orderPlaces[order]!;
  const isLess = (x: number, y: number): boolean => {
    const [p, q] = [cursors[x]!, cursors[y]!];
    const [i, j, m, n] = [p.at, q.at, p.columns, q.columns];
    return (m[a][i]! - n[a][j]! || m[b][i]! - n[b][j]! || m[c][i]! - n[c][j]! || m[d][i]! - n[d][j]!) < 0;
  };
  const live = cursors.map((_, input) => input).filter((input) => !cursors[input]!.isOver);
  const heap = new Heap(live, isLess);
  let hasCopies = false;
  let [s, p, o] = [-1, -1, -1];
  while (heap.size > 0) {
    const cursor = cursors[heap.least]!;
    const { columns, at } = cursor;
    to.add(columns, at);
    const [subject, predicate, object] = [columns[0][at]!, columns[1][at]!, columns[2][at]!];
    hasCopies ||= object === o && predicate === p && subject === s;
    [s, p, o] = [subject, predicate, object];
    if (cursor.next()) heap.sink();
    else heap.drop();
  }
  return hasCopies;
}

/** Binary heap of inputs, by index. The input with the least current quad is first. */
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

  /** Restores the heap order after the cursor of the input at a position has moved. */
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

  drop(): void {
    const last = this.items.pop()!;
    if (this.items.length === 0) return;
    this.items[0] = last;
    this.sink();
  }
}
