/**
 * Assigns IDs to terms. The texts are in one buffer, with a hash table. A finished table is in shared memory, so that all
 * threads use one copy, and its IDs have the order of the texts.
 */
import { randomBytes } from 'node:crypto';
import { affordable } from '../../tools/threads/thread-limits.js';
import type { TermKey } from '../access/terms.js';

/** Finished table, for messages between threads. */
export interface TermTableData {
  readonly count: number;
  /** UTF-8 texts of the terms, concatenated in byte order. */
  readonly text: SharedArrayBuffer;
  /** Start offset of each term, and the end offset of the last term (Uint32). */
  readonly offsets: SharedArrayBuffer;
  readonly hashes: SharedArrayBuffer;
  /** Hash table. A slot has the ID of a term plus one, or 0 if empty. The length is a power of two. */
  readonly slots: SharedArrayBuffer;
  readonly seed: number;
}

/** Maximum count of slots in the cache of decoded terms. The low bits of the ID determine the slot. */
const keptTerms = 1 << 17;
const longestKept = 256;
/** Maximum length of cached texts, in characters. Above it, the cache is emptied. */
const maxKept = affordable(8 << 20);
const maxText = 2 ** 32 - 1;

/** Random seed, so that a client cannot choose terms with colliding hashes. */
const seedOfThread = randomBytes(4).readUInt32LE();

/** Error if the table cannot store another term, because there are too many terms or their texts are too long. */
export class TableFullError extends Error {}

export class TermTable {
  private text: Buffer = Buffer.allocUnsafe(1024);
  // Slots and hashes have one allocation, because the tables of most updates are small.
  private slots: Uint32Array = new Uint32Array(257).subarray(0, 128);
  private hashes: Uint32Array = new Uint32Array(this.slots.buffer, 4 * 128, 64);
  private offsets: Uint32Array = new Uint32Array(this.slots.buffer, 4 * 192, 65);
  private seed = seedOfThread;
  private count = 0;
  /** IDs of cached decoded terms. Allocated at the first use, because the tables of most updates have few terms. */
  private keptIds = new Int32Array(0);
  private kept: TermKey[] = [];
  private keptLength = 0;

  /** Opens a finished table, which is read-only. */
  static from({ count, text, offsets, hashes, slots, seed }: TermTableData): TermTable {
    const table = new TermTable();
    table.text = Buffer.from(text);
    table.offsets = new Uint32Array(offsets);
    table.hashes = new Uint32Array(hashes);
    table.slots = new Uint32Array(slots);
    [table.seed, table.count] = [seed, count];
    return table;
  }

  get size(): number {
    return this.count;
  }

  get textBytes(): number {
    return this.offsets[this.count]!;
  }

  /** Copies the table to shared memory, with IDs in the order of the texts. `numbers` has the new ID for each old ID. */
  share(): { readonly data: TermTableData; readonly numbers: Uint32Array } {
    const { count, seed } = this;
    const order = this.sorted(new Uint32Array(count).map((_, number) => number));
    const text = new SharedArrayBuffer(this.textBytes);
    const [bytes, offsets, hashes] = [Buffer.from(text), new Uint32Array(count + 1), new Uint32Array(count)];
    const numbers = new Uint32Array(count);
    for (let id = 0; id < count; id++) {
      const old = order[id]!;
      const [from, to] = [this.offsets[old]!, this.offsets[old + 1]!];
      this.text.copy(bytes, offsets[id], from, to);
      offsets[id + 1] = offsets[id]! + to - from;
      hashes[id] = this.hashes[old]!;
      numbers[old] = id;
    }
    const slots = this.slots.map((slot) => (slot === 0 ? 0 : numbers[slot - 1]! + 1));
    const data = { count, seed, text, offsets: shared(offsets), hashes: shared(hashes), slots: shared(slots) };
    return { data, numbers };
  }

  /** Returns the ID of a term, or -1 if the term is not in the table. */
  idOf(token: TermKey): number {
    const { slots, hashes } = this;
    const hash = hashOf(token, this.seed);
    for (let at = hash & (slots.length - 1); ; at = (at + 1) & (slots.length - 1)) {
      const id = slots[at]! - 1;
      if (id < 0) return -1;
      if (hashes[id] === hash && this.is(id, token)) return id;
    }
  }

  /** Adds a term if it is new, and returns its ID. @throws TableFullError */
  add(token: TermKey): number {
    const known = this.idOf(token);
    if (known >= 0) return known;
    if (this.count >= 1 << 30) throw new TableFullError('There are too many terms.');
    if (this.count * 2 >= this.slots.length) this.widen();
    const id = this.count++;
    const from = this.offsets[id]!;
    // A UTF-16 code unit has at most three bytes of UTF-8.
    const most = from + token.length * 3;
    if (most > maxText) throw new TableFullError('The texts of the terms are too long.');
    if (most > this.text.length) this.text = grown(this.text, Math.min(maxText, Math.max(most, this.text.length * 2)));
    const to = from + this.text.write(token, from, 'utf8');
    if (id >= this.hashes.length) {
      this.hashes = longer(this.hashes, id * 2);
      this.offsets = longer(this.offsets, id * 2 + 1);
    }
    this.offsets[id + 1] = to;
    const hash = hashOf(token, this.seed);
    this.hashes[id] = hash;
    this.place(id, hash);
    return id;
  }

  termKey(id: number): TermKey {
    if (this.keptIds.length === 0) this.keptIds = new Int32Array(Math.min(keptTerms, this.slots.length)).fill(-1);
    const at = id & (this.keptIds.length - 1);
    if (this.keptIds[at] === id) return this.kept[at]!;
    const token = this.text.toString('utf8', this.offsets[id]!, this.offsets[id + 1]!);
    if (token.length > longestKept) return token;
    this.keptLength += token.length;
    if (this.keptLength > maxKept) {
      this.keptIds.fill(-1);
      this.kept = [];
      this.keptLength = token.length;
    }
    this.keptIds[at] = id;
    this.kept[at] = token;
    return token;
  }

  /** Returns the count of terms of a finished table that sort before a string. */
  placeOf(token: string): number {
    const bytes = Buffer.from(token);
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.text.compare(bytes, 0, bytes.length, this.offsets[middle]!, this.offsets[middle + 1]!) < 0)
        low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Sorts IDs by the texts of their terms, in place. */
  sorted(ids: Uint32Array): Uint32Array {
    new TextSorter({ text: this.text, offsets: this.offsets }, ids).sort(0, ids.length, 0);
    return ids;
  }

  /** Compares two terms by their texts. */
  compare(a: number, b: number): number {
    const { text, offsets } = this;
    return text.compare(text, offsets[b]!, offsets[b + 1]!, offsets[a]!, offsets[a + 1]!);
  }

  private is(id: number, token: TermKey): boolean {
    const at = id & (this.keptIds.length - 1);
    if (this.keptIds[at] === id) return this.kept[at] === token;
    const from = this.offsets[id]!;
    const length = this.offsets[id + 1]! - from;
    // If the text has as many bytes as the term key has characters, the term key is ASCII, or they differ.
    if (length !== token.length)
      return length > token.length && this.text.toString('utf8', from, from + length) === token;
    for (let i = 0; i < length; i++) {
      const code = token.charCodeAt(i);
      if (code > 127 || this.text[from + i] !== code) return false;
    }
    return true;
  }

  private place(id: number, hash: number): void {
    const last = this.slots.length - 1;
    let at = hash & last;
    while (this.slots[at] !== 0) at = (at + 1) & last;
    this.slots[at] = id + 1;
  }

  private widen(): void {
    this.slots = new Uint32Array(this.slots.length * 2);
    // The cache is emptied. Its next use allocates slots for the new size of the table.
    [this.keptIds, this.kept, this.keptLength] = [new Int32Array(0), [], 0];
    for (let id = 0; id < this.count; id++) this.place(id, this.hashes[id]!);
  }
}

function hashOf(token: TermKey, seed: number): number {
  let hash = seed;
  for (let i = 0; i < token.length; i++) {
    hash = Math.imul(hash ^ token.charCodeAt(i), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}

function grown(from: Buffer, length: number): Buffer {
  const to = Buffer.allocUnsafe(length);
  from.copy(to);
  return to;
}

export function longer(from: Uint32Array, length: number): Uint32Array<ArrayBuffer> {
  const to = new Uint32Array(length);
  to.set(from);
  return to;
}

/** Copies data to shared memory, unless the data are already shared. */
export function shared(from: Uint8Array | Uint32Array): SharedArrayBuffer {
  if (from.buffer instanceof SharedArrayBuffer) return from.buffer;
  const buffer = new SharedArrayBuffer(from.byteLength);
  new Uint8Array(buffer).set(new Uint8Array(from.buffer, from.byteOffset, from.byteLength));
  return buffer;
}

/** Texts in one buffer. Each text begins at the end of the previous one. */
interface Texts {
  readonly text: Uint8Array;
  readonly offsets: Uint32Array;
}

/** Count of texts below which insertion sort is used. */
const few = 8;

/** Sorts IDs by the bytes of their texts: a three-way radix quicksort by the first byte, then by the second, and so on. */
class TextSorter {
  constructor(
    private readonly texts: Texts,
    private readonly order: Uint32Array,
  ) {}

  /** Sorts a range of `order` whose texts have the same first `depth` bytes. */
  sort(low: number, high: number, depth: number): void {
    let [from, to, at] = [low, high, depth];
    while (to - from > 1) {
      if (to - from < few) {
        this.insert(from, to, at);
        return;
      }
      const pivot = this.middleOf(from, to, at);
      const [less, greater] = this.split(from, to, { pivot, at });
      // The loop continues with the longest of the three ranges. So the recursion depth is at most the binary logarithm of the
      // count of texts.
      const parts: readonly (readonly [number, number, number])[] = [
        [from, less, at],
        // Equal texts need no further sorting.
        [less, pivot === 0 ? less : greater, at + 1],
        [greater, to, at],
      ];
      const lengths = parts.map(([first, last]) => last - first);
      const longest = lengths.indexOf(Math.max(...lengths));
      parts.forEach(([first, last, deeper], index) => {
        if (index !== longest) this.sort(first, last, deeper);
      });
      [from, to, at] = parts[longest]!;
    }
  }

  /** Partitions a range by the byte `at`: less than the pivot, equal, greater. Returns the bounds of the equal range. */
  private split(from: number, to: number, { pivot, at }: { pivot: number; at: number }): [number, number] {
    const { order } = this;
    let [less, next, greater] = [from, from, to - 1];
    while (next <= greater) {
      const byte = this.byteOf(order[next]!, at);
      if (byte < pivot) this.swap(less++, next++);
      else if (byte > pivot) this.swap(next, greater--);
      else next++;
    }
    return [less, greater + 1];
  }

  /** Returns the byte of a text at a position, plus one. 0 after the end of the text. */
  private byteOf(number: number, at: number): number {
    const { text, offsets } = this.texts;
    const place = offsets[number]! + at;
    return place < offsets[number + 1]! ? text[place]! + 1 : 0;
  }

  private swap(i: number, j: number): void {
    const { order } = this;
    const number = order[i]!;
    order[i] = order[j]!;
    order[j] = number;
  }

  private middleOf(from: number, to: number, at: number): number {
    const { order } = this;
    const a = this.byteOf(order[from]!, at);
    const b = this.byteOf(order[(from + to) >>> 1]!, at);
    const c = this.byteOf(order[to - 1]!, at);
    return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
  }

  private insert(from: number, to: number, at: number): void {
    const { order } = this;
    for (let i = from + 1; i < to; i++) {
      const number = order[i]!;
      let place = i;
      for (; place > from && this.compare(order[place - 1]!, number, at) > 0; place--) order[place] = order[place - 1]!;
      order[place] = number;
    }
  }

  private compare(a: number, b: number, at: number): number {
    const { text, offsets } = this.texts;
    let [i, j] = [offsets[a]! + at, offsets[b]! + at];
    const [endOfA, endOfB] = [offsets[a + 1]!, offsets[b + 1]!];
    while (i < endOfA && j < endOfB) {
      const difference = text[i++]! - text[j++]!;
      if (difference !== 0) return difference;
    }
    return endOfA - i - (endOfB - j);
  }
}
