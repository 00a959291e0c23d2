/**
 * Quads of term IDs in four sort orders with four columns each, with binary search for given terms. In three orders the graph
 * comes
 * last, so that copies of a triple in several graphs are adjacent.
 */
import { type Columns, gspo, orderPlaces, ospg, posg, spog, type Window } from '../segments/quad-pages.js';
import { shared } from './term-table.js';

/** Term IDs of subject, predicate, object and graph. -1: not bound. */
export type Ids = [number, number, number, number];

/** Quads of term IDs in four sort orders (`orderPlaces`). */
export interface QuadOrders {
  readonly count: number;
  /** Highest term ID. */
  readonly most: number;
  /** True if no triple is in several graphs. */
  readonly isUnique: boolean;
  /**
   * Returns the range of an order in which the terms before the first unbound position equal the bound terms.
   * @param near index near which the range probably starts, since successive lookups of a join are mostly close to each other
   */
  range(order: number, ids: Ids, near?: number): QuadRange;
  /** Returns quads from index `at` up to at most `to`. The window may end earlier, for example at the end of a page. */
  window(order: number, at: number, to: number): Window;
  /** Returns the index of the first quad after `at`, at most `to`, that differs up to the position `place` of the order. */
  after(order: number, at: number, { place, to }: { readonly place: number; readonly to: number }): number;
  /** Returns the index in GSPO of the first quad whose graph ID is at least `graph`. */
  firstOf(graph: number): number;
}

export interface SortedQuadsData {
  readonly count: number;
  readonly most: number;
  readonly columns: readonly (readonly SharedArrayBuffer[])[];
  readonly isUnique: boolean;
}

/** Quads in memory. Each order is sorted at its first use, because the query of an update needs only one or two. */
export class SortedQuads implements QuadOrders {
  readonly count: number;
  readonly most: number;
  private readonly windows: Window[] = [];
  private readonly orders: Columns[] = [];
  private unique: boolean | undefined;

  /** @param sorted returns the columns of an order */
  constructor(
    { count, most, isUnique }: { readonly count: number; readonly most: number; readonly isUnique?: boolean },
    private readonly sorted: (order: number) => Columns,
  ) {
    [this.count, this.most, this.unique] = [count, most, isUnique];
  }

  get isUnique(): boolean {
    this.unique ??= hasOneCopyOfEach(this.columns(spog));
    return this.unique;
  }

  columns(order: number): Columns {
    const columns = this.orders[order] ?? this.sorted(order);
    this.orders[order] = columns;
    return columns;
  }

  range(order: number, ids: Ids, near = -1): QuadRange {
    const places = orderPlaces[order]!;
    const columns = this.columns(order);
    let [from, to, level] = [0, this.count, 0];
    for (; level < 4 && from < to; level++) {
      const id = ids[places[level]!];
      if (id < 0) break;
      const by = columns[places[level]!];
      from = level === 0 && near >= 0 ? boundNear(by, id, near) : lowerBound(by, id, { from, to });
      to = upperBound(by, id, { from, to });
    }
    return { order, from, to, rest: restOf(order, level, ids) };
  }

  window(order: number): Window {
    const columns = this.columns(order);
    const window = this.windows[order] ?? { first: 0, end: this.count, column: (place) => columns[place as 0] };
    this.windows[order] = window;
    return window;
  }

  after(order: number, at: number, { place, to }: { readonly place: number; readonly to: number }): number {
    const by = this.columns(order)[place as 0];
    return upperBound(by, by[at]!, { from: at, to });
  }

  firstOf(graph: number): number {
    return lowerBound(this.columns(gspo)[3], graph, { from: 0, to: this.count });
  }
}

export const shareQuads = (quads: SortedQuads): SortedQuadsData => {
  const { count, most, isUnique } = quads;
  return { count, most, isUnique, columns: orderPlaces.map((_, order) => quads.columns(order).map(shared)) };
};

export const sharedQuads = ({ columns, ...quads }: SortedQuadsData): SortedQuads =>
  new SortedQuads(quads, (order) => columns[order]!.map((each) => new Uint32Array(each)) as never);

/**
 * Sorts quads.
 * @param source columns S, P, O and G, of which the first `count` rows are used; they must not change afterwards
 * @param options `most` is the highest term ID. `isShared` allocates the columns in shared memory
 */
export const sortQuads = (
  source: readonly Uint32Array[],
  count: number,
  { most, isShared = false }: { readonly most: number; readonly isShared?: boolean },
): SortedQuads =>
  new SortedQuads({ count, most }, (order) => {
    const places = orderPlaces[order]!;
    const rows = count < fewQuads ? compared(source, places, count) : distributed(source, places, { count, most });
    const columns = new Uint32Array(isShared ? 0 : 4 * count);
    return source.map((each, place) => {
      const to = isShared
        ? new Uint32Array(new SharedArrayBuffer(4 * count))
        : columns.subarray(place * count, (place + 1) * count);
      for (let i = 0; i < count; i++) to[i] = each[rows[i]!]!;
      return to;
    }) as never;
  });

/** Minimum count of quads for a radix sort. For fewer quads, its counters cost more than comparisons. */
const fewQuads = 100;

function compared(source: readonly Uint32Array[], places: readonly number[], count: number): ArrayLike<number> {
  const [first, second, third, fourth] = places.map((place) => source[place]!) as unknown as Columns;
  return Array.from({ length: count }, (_, row) => row).sort(
    (a, b) => first[a]! - first[b]! || second[a]! - second[b]! || third[a]! - third[b]! || fourth[a]! - fourth[b]!,
  );
}

function distributed(
  source: readonly Uint32Array[],
  places: readonly number[],
  { count, most }: { readonly count: number; readonly most: number },
): Uint32Array {
  const both = [new Uint32Array(count).map((_, row) => row), new Uint32Array(count)] as const;
  return places.reduceRight<readonly [Uint32Array, Uint32Array]>(
    (orders, place) => sortBy(source[place]!, orders, most),
    both,
  )[0];
}

const digitBits = 11;

/** Sorts row indexes by a column: a stable radix sort with digits of `digitBits`, least significant first. */
function sortBy(
  by: Uint32Array,
  [first, second]: readonly [Uint32Array, Uint32Array],
  most: number,
): readonly [Uint32Array, Uint32Array] {
  let [from, to] = [first, second];
  for (let shift = 0; shift < 32 && most >>> shift > 0; shift += digitBits) {
    const starts = new Uint32Array((1 << digitBits) + 1);
    const last = (1 << digitBits) - 1;
    for (let i = 0; i < from.length; i++) starts[((by[i]! >>> shift) & last) + 1]!++;
    for (let i = 1; i < starts.length; i++) starts[i]! += starts[i - 1]!;
    for (let i = 0; i < from.length; i++) {
      const each = from[i]!;
      to[starts[(by[each]! >>> shift) & last]!++] = each;
    }
    [from, to] = [to, from];
  }
  return [from, to];
}

function hasOneCopyOfEach([subjects, predicates, objects]: Columns): boolean {
  for (let i = 1; i < subjects.length; i++)
    if (objects[i] === objects[i - 1] && predicates[i] === predicates[i - 1] && subjects[i] === subjects[i - 1])
      return false;
  return true;
}

/** Range of an order, from index `from` up to `to`, in which the first terms equal the bound terms. */
export interface QuadRange {
  readonly order: number;
  readonly from: number;
  readonly to: number;
  /** Bit mask of the other bound positions. The terms in these positions are compared for each quad. */
  readonly rest: number;
}

/** Orders by the sum of the bound positions (subject 1, predicate 2, object 4, graph 8). Of two, the shorter range is used. */
const ordersFor: readonly (readonly number[])[] = [
  [spog],
  [spog],
  [posg],
  [spog],
  [ospg],
  [ospg],
  [posg],
  [spog],
  [gspo],
  [gspo],
  [gspo, posg],
  [gspo],
  [gspo, ospg],
  [gspo, ospg],
  [gspo, posg],
  [gspo],
];

/** Returns the shortest range with all matches. @param near start of the last range by order, which is updated */
export function rangeFor(quads: QuadOrders, ids: Ids, near?: number[]): QuadRange {
  const mask = (ids[0] >= 0 ? 1 : 0) | (ids[1] >= 0 ? 2 : 0) | (ids[2] >= 0 ? 4 : 0) | (ids[3] >= 0 ? 8 : 0);
  const [order, other] = ordersFor[mask]!;
  const range = quads.range(order!, ids, near?.[order!]);
  if (near) near[order!] = range.from;
  if (other === undefined) return range;
  const second = quads.range(other, ids);
  return second.to - second.from < range.to - range.from ? second : range;
}

/** Returns the bit mask of the bound positions from the position `level` of the order on. */
export function restOf(order: number, level: number, ids: Ids): number {
  const places = orderPlaces[order]!;
  let rest = 0;
  for (let at = level; at < 4; at++) if (ids[places[at]!] >= 0) rest |= 1 << places[at]!;
  return rest;
}

interface Bounds {
  readonly from: number;
  readonly to: number;
}

/** Returns the index of the first ID that is at least `id`, by binary search. */
function lowerBound(by: Uint32Array, id: number, { from, to }: Bounds): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (by[middle]! < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the index of the first ID that is at least `id`, by galloping search from the index `near`. */
function boundNear(by: Uint32Array, id: number, near: number): number {
  let [low, high, step] = [near, near, 1];
  if (near < by.length && by[near]! < id) {
    while (high < by.length && by[high]! < id) [low, high, step] = [high + 1, high + step, 2 * step];
    return lowerBound(by, id, { from: low, to: Math.min(high, by.length) });
  }
  while (low > 0 && by[low - 1]! >= id) [low, high, step] = [Math.max(0, low - step), low - 1, 2 * step];
  return lowerBound(by, id, { from: low, to: high });
}

/** Returns the index of the first ID greater than `id`, by galloping search: the index is mostly close to `from`. */
function upperBound(by: Uint32Array, id: number, { from, to }: Bounds): number {
  let [low, step] = [from, 1];
  while (low + step <= to && by[low + step - 1]! <= id) {
    low += step;
    step *= 2;
  }
  let high = Math.min(to, low + step - 1);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (by[middle]! <= id) low = middle + 1;
    else high = middle;
  }
  return low;
}
