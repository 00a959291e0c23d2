/**
 * One sort order of the quads of a segment: pages of bit-packed columns. The first quad of each page (the fence) and its index
 * stay in memory. This module must not depend on the terms that the IDs stand for.
 */
import { type Pages, type PageWriter, pageBytes, pageWords } from './page-file.js';

/** Positions (S, P, O, G) in the sort order of SPOG, POSG, OSPG and GSPO. With the graph last, copies of a triple are adjacent. */
export const orderPlaces = [
  [0, 1, 2, 3],
  [1, 2, 0, 3],
  [2, 0, 1, 3],
  [3, 0, 1, 2],
] as const;
export const [spog, posg, ospg, gspo] = [0, 1, 2, 3] as const;

/**
 * Page layout in 32-bit words. 0: number of quads, and length of the predicate list << 16. 1 to 4: minimum of S, P, O and G. 5 to
 * 8: bits per value, and offset of the column << 6. Then the predicate list and the four columns: each value minus the minimum, bit-packed.
 * Predicates are few but far apart, so P is an index into the list where that is shorter. The last word is the checksum.
 */
const head = 9;
const maxInPage = 4096;
const maxListed = 256;
const bitsOf = (value: number): number => 32 - Math.clz32(value);
const wordsFor = (count: number, bits: number): number => Math.ceil((count * bits) / 32);

/** Sections of an order in the file, and its fences. */
export interface OrderFences {
  /** Fences: the first quad of each page, as four term IDs in sort order. */
  readonly fences: Uint32Array;
  /** Index of the first quad of each page. */
  readonly firsts: Uint32Array;
  readonly quads: number;
}

/** Writes quads in sort order. */
export class OrderWriter {
  private readonly page = new Uint32Array(pageWords);
  private readonly values = [0, 1, 2, 3].map(() => new Uint32Array(maxInPage)) as [
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
  ];
  private readonly least = [0, 0, 0, 0];
  private readonly most = [0, 0, 0, 0];
  private readonly listed = new Map<number, number>();
  private count = 0;
  private fences = new Uint32Array(1024);
  private firsts = new Uint32Array(256);
  private pages = 0;
  private quads = 0;

  constructor(
    private readonly writer: PageWriter,
    private readonly order: number,
  ) {}

  /** Adds one row of the columns S, P, O and G. */
  add(columns: Columns, row: number): void {
    const { count, least, most, listed } = this;
    const predicate = columns[1][row]!;
    if (count > 0) {
      const before = [least[0]!, most[0]!, least[1]!, most[1]!, least[2]!, most[2]!, least[3]!, most[3]!] as const;
      for (let place = 0; place < 4; place++) {
        const value = columns[place as 0][row]!;
        if (value < least[place]!) least[place] = value;
        else if (value > most[place]!) most[place] = value;
      }
      const size = listed.size;
      const isNew = predicate !== this.values[1][count - 1] && size <= maxListed && !listed.has(predicate);
      if (isNew) listed.set(predicate, size);
      if (count < maxInPage && this.wordsOf(count + 1) <= pageWords - 1) {
        this.put(columns, row);
        return;
      }
      [least[0], most[0], least[1], most[1], least[2], most[2], least[3], most[3]] = before;
      if (isNew) listed.delete(predicate);
      this.write();
    }
    for (let place = 0; place < 4; place++) least[place] = most[place] = columns[place as 0][row]!;
    listed.clear();
    listed.set(predicate, 0);
    this.put(columns, row);
  }

  end(): OrderFences & { readonly pages: number } {
    if (this.count > 0) this.write();
    const { pages, quads } = this;
    return { fences: this.fences.subarray(0, pages * 4), firsts: this.firsts.subarray(0, pages), quads, pages };
  }

  private put(columns: Columns, row: number): void {
    const { values, count } = this;
    for (let place = 0; place < 4; place++) values[place as 0][count] = columns[place as 0][row]!;
    this.count = count + 1;
  }

  private bits(place: number): number {
    return bitsOf(this.most[place]! - this.least[place]!);
  }

  private get isListed(): boolean {
    return this.listed.size <= maxListed && this.bits(1) > bitsOf(this.listed.size - 1) + 1;
  }

  /** Returns the length of a page with `count` quads, in words. */
  private wordsOf(count: number): number {
    const { isListed, listed } = this;
    const ofPredicate = isListed ? bitsOf(listed.size - 1) : this.bits(1);
    const list = isListed ? listed.size : 0;
    const others = wordsFor(count, this.bits(0)) + wordsFor(count, this.bits(2)) + wordsFor(count, this.bits(3));
    return head + list + wordsFor(count, ofPredicate) + others;
  }

  private write(): void {
    const { page, count, isListed, listed } = this;
    page.fill(0);
    page[0] = count | ((isListed ? listed.size : 0) << 16);
    let at = head;
    if (isListed) for (const predicate of listed.keys()) page[at++] = predicate;
    for (let place = 0; place < 4; place++) {
      const isList = isListed && place === 1;
      const bits = isList ? bitsOf(listed.size - 1) : this.bits(place);
      page[1 + place] = isList ? 0 : this.least[place]!;
      page[5 + place] = bits | (at << 6);
      this.pack(place, isList, { at, bits });
      at += wordsFor(count, bits);
    }
    this.fence();
    this.writer.page(new Uint8Array(page.buffer, 0, pageBytes));
    this.count = 0;
  }

  private pack(place: number, isList: boolean, { at, bits }: { readonly at: number; readonly bits: number }): void {
    if (bits === 0) return;
    const { page, count, listed } = this;
    const values = this.values[place as 0];
    const base = this.least[place]!;
    let [word, shift] = [at, 0];
    for (let i = 0; i < count; i++) {
      const value = isList ? listed.get(values[i]!)! : values[i]! - base;
      page[word]! |= value << shift;
      shift += bits;
      if (shift < 32) continue;
      shift -= 32;
      word++;
      if (shift > 0) page[word]! |= value >>> (bits - shift);
    }
  }

  private fence(): void {
    if (this.pages === this.firsts.length) {
      this.fences = twice(this.fences);
      this.firsts = twice(this.firsts);
    }
    orderPlaces[this.order]!.forEach((place, at) => {
      this.fences[this.pages * 4 + at] = this.values[place][0]!;
    });
    this.firsts[this.pages++] = this.quads;
    this.quads += this.count;
  }
}

function twice(from: Uint32Array): Uint32Array<ArrayBuffer> {
  const to = new Uint32Array(from.length * 2);
  to.set(from);
  return to;
}

/** Columns S, P, O and G. */
export type Columns = readonly [Uint32Array, Uint32Array, Uint32Array, Uint32Array];

/** Range of successive quads in an order. */
export interface Window {
  /** Index of the first row in the order. */
  readonly first: number;
  /** Index after the last row in the order. */
  readonly end: number;
  /** Returns a column, decoded at the first call. The first row has index 0. */
  column(place: number): Uint32Array;
}

export const newColumns = (length: number): Columns =>
  [new Uint32Array(length), new Uint32Array(length), new Uint32Array(length), new Uint32Array(length)] as const;

class PageWindow implements Window {
  readonly first: number;
  readonly end: number;
  private readonly columns: (Uint32Array | undefined)[] = [undefined, undefined, undefined, undefined];

  constructor(
    private readonly reader: OrderReader,
    private readonly page: number,
    { first, end }: Pick<Window, 'first' | 'end'>,
  ) {
    [this.first, this.end] = [first, end];
  }

  column(place: number): Uint32Array {
    let column = this.columns[place];
    if (!column) {
      column = this.reader.column(this.page, place, this);
      this.columns[place] = column;
    }
    return column;
  }
}

/** Reads one sort order. For a term that is not in the dictionary, callers search with the ID of the next term minus 0.5. */
export class OrderReader {
  readonly quads: number;
  private readonly fences: Uint32Array;
  private readonly firsts: Uint32Array;
  private readonly places: readonly number[];
  private readonly words: Uint32Array;

  constructor(
    private readonly pages: Pages,
    order: number,
    { fences, firsts, quads }: OrderFences,
  ) {
    [this.fences, this.firsts, this.quads] = [fences, firsts, quads];
    this.places = orderPlaces[order]!;
    this.words = pages.words;
  }

  /**
   * Returns the index of the first quad that is at least a prefix or, with `isAfter`, greater than it.
   * @param prefix term IDs in sort order, of which the first `length` are compared
   */
  bound(prefix: readonly number[], length: number, isAfter = false): number {
    const { fences, firsts } = this;
    // After the loop, `low` is the count of pages whose first quad is before the bound.
    let [low, high] = [0, firsts.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      let difference = 0;
      for (let i = 0; i < length && difference === 0; i++) difference = fences[middle * 4 + i]! - prefix[i]!;
      if (difference < 0 || (difference === 0 && isAfter)) low = middle + 1;
      else high = middle;
    }
    if (low === 0) return 0;
    const at = this.pages.get(low - 1);
    return firsts[low - 1]! + this.search(at, prefix, { length, from: 0, to: this.words[at]! & 0xffff, isAfter });
  }

  /** Returns the index range of the quads with a prefix. */
  range(prefix: readonly number[], length: number): readonly [from: number, to: number] {
    if (length === 0) return [0, this.quads];
    const from = this.bound(prefix, length);
    if (from >= this.quads) return [from, from];
    return [from, this.after(prefix, length, from)];
  }

  /** Like `bound` with `isAfter`, but uses a galloping search from `from`, because the result is mostly near `from`. */
  after(prefix: readonly number[], length: number, from: number): number {
    const page = this.pageOf(from);
    const first = this.firsts[page]!;
    const at = this.pages.get(page);
    const count = this.words[at]! & 0xffff;
    let [low, step] = [from - first, 1];
    while (low < count) {
      const next = Math.min(count - 1, low + step - 1);
      if (this.compare(at, prefix, { length, row: next }) > 0)
        return first + this.search(at, prefix, { length, from: low, to: next, isAfter: true });
      low = next + 1;
      step *= 4;
    }
    if (page + 1 === this.firsts.length) return this.quads;
    return this.bound(prefix, length, true);
  }

  /** Returns the term ID of a quad in a position (S, P, O, G). */
  term(index: number, place: number): number {
    const page = this.pageOf(index);
    return this.value(this.pages.get(page), place, index - this.firsts[page]!);
  }

  /** Returns the quads from an index up to `to`, or to the end of the page. */
  window(index: number, to: number): Window {
    const page = this.pageOf(index);
    const end = Math.min(to, page + 1 < this.firsts.length ? this.firsts[page + 1]! : this.quads);
    return new PageWindow(this, page, { first: index, end });
  }

  /** Decodes all columns into shared memory. */
  decoded(): SharedArrayBuffer[] {
    const { firsts, quads } = this;
    return [0, 1, 2, 3].map((place) => {
      const buffer = new SharedArrayBuffer(4 * quads);
      const column = new Uint32Array(buffer);
      for (let page = 0; page < firsts.length; page++) {
        const into = column.subarray(firsts[page]!, page + 1 < firsts.length ? firsts[page + 1]! : quads);
        this.decode(this.pages.get(page), place, { into, row: 0 });
      }
      return buffer;
    });
  }

  /** Decodes the rows `first` to `end` of a column; both are indexes of the order. */
  column(page: number, place: number, { first, end }: Pick<Window, 'first' | 'end'>): Uint32Array {
    const into = new Uint32Array(end - first);
    this.decode(this.pages.get(page), place, { into, row: first - this.firsts[page]! });
    return into;
  }

  /** Returns one value of a page without decoding the page. @param at offset of the page, in words */
  private value(at: number, place: number, row: number): number {
    const { words } = this;
    const code = words[at + 5 + place]!;
    const bits = code & 63;
    let value = 0;
    if (bits > 0) {
      const bit = row * bits;
      const word = at + (code >>> 6) + (bit >>> 5);
      const shift = bit & 31;
      value = words[word]! >>> shift;
      if (shift + bits > 32) value |= words[word + 1]! << (32 - shift);
      if (bits < 32) value &= (1 << bits) - 1;
    }
    if (place === 1 && words[at]! >>> 16 > 0) return words[at + head + value]!;
    return (value >>> 0) + words[at + 1 + place]!;
  }

  private compare(
    at: number,
    prefix: readonly number[],
    { length, row }: { readonly length: number; readonly row: number },
  ): number {
    let difference = 0;
    for (let i = 0; i < length && difference === 0; i++) difference = this.value(at, this.places[i]!, row) - prefix[i]!;
    return difference;
  }

  private search(
    at: number,
    prefix: readonly number[],
    { length, from, to, isAfter }: { length: number; from: number; to: number; isAfter: boolean },
  ): number {
    let [low, high] = [from, to];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const difference = this.compare(at, prefix, { length, row: middle });
      if (difference < 0 || (difference === 0 && isAfter)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private pageOf(index: number): number {
    const { firsts } = this;
    let [low, high] = [0, firsts.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (firsts[middle]! <= index) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** Decodes values of a column into an array, from a row of the page on. @param at offset of the page, in words */
  private decode(at: number, place: number, { into, row }: { readonly into: Uint32Array; readonly row: number }): void {
    const { words } = this;
    const code = words[at + 5 + place]!;
    const bits = code & 63;
    const base = words[at + 1 + place]!;
    const isListed = place === 1 && words[at]! >>> 16 > 0;
    const list = at + head;
    if (bits === 0) {
      into.fill(isListed ? words[list]! : base);
      return;
    }
    const mask = bits === 32 ? -1 : (1 << bits) - 1;
    const bit = row * bits;
    let [word, shift] = [at + (code >>> 6) + (bit >>> 5), bit & 31];
    for (let i = 0; i < into.length; i++) {
      let value = words[word]! >>> shift;
      shift += bits;
      if (shift >= 32) {
        word++;
        shift -= 32;
        if (shift > 0) value |= words[word]! << (bits - shift);
      }
      value &= mask;
      into[i] = isListed ? words[list + value]! : (value >>> 0) + base;
    }
  }
}
