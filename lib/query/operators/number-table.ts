/** Tables of numbers outside of the heap: distinct rows with weights, and rows by key. */
import { randomInt } from 'node:crypto';

/** Odd and random, so that stored terms cannot be chosen to collide. */
const factor = 2 * randomInt(2 ** 30) + 1;
/** Slots of a new table. Half of them are entries. */
const firstSlots = 256;
/** Below it, tables grow by a factor of four: each growth hashes all entries again. */
const fewEntries = 16_384;
/** Numbers that differ only in their last bits are neighbors in a hash table: scans often return them in order. */
const [nearBits, near] = [2, 3];
/** Numbers of a leaf of a table without hashing: a cache line. */
const [leafBits, leaf] = [4, 15];

/** Charges bytes to the limit of the query. Throws to stop it. */
export type Allocate = (bytes: number) => void;

export interface TableOptions {
  /** Number of columns of a row. */
  readonly width: number;
  readonly allocate: Allocate;
  /** Single numbers below it are addressed without hashing, with memory for all of them. */
  readonly direct: number;
}

export type NumberColumns = readonly (Uint32Array | undefined)[];

/** Distinct rows of numbers with weights, numbered in order of arrival. */
export class NumberTable {
  size = 0;
  /** NumberColumns of the rows. */
  readonly keys: Uint32Array[];
  /** Weights of the rows. */
  weights = new Float64Array(firstSlots / 2);
  private slots = noSlots;
  /** Leaf of each range of numbers, and the entries in the leaves, plus 1. The first leaf is empty. */
  private top = noSlots;
  private leaves = noSlots;
  private leafCount = 1;
  private readonly width: number;
  private readonly allocate: Allocate;
  private readonly direct: number;

  constructor({ width, allocate, direct }: TableOptions) {
    [this.width, this.allocate, this.direct] = [width, allocate, width === 1 ? direct : 0];
    this.keys = Array.from({ length: width }, () => new Uint32Array(firstSlots / 2));
  }

  /** Returns the number of a row, or -1. @param columns `width` columns, of which one row is compared */
  find(columns: NumberColumns, row: number): number {
    if (this.direct > 0) {
      const number = columns[0]![row]!;
      if (number < this.direct)
        return this.leafCount === 1
          ? -1
          : this.leaves[(this.top[number >>> leafBits]! << leafBits) | (number & leaf)]! - 1;
    }
    return this.slots === noSlots ? -1 : this.slots[this.slotOf(columns, row)]! - 1;
  }

  /** Returns the number of a row. A new one has the weight 0. */
  add(columns: NumberColumns, row: number): number {
    const known = this.find(columns, row);
    if (known >= 0) return known;
    if (this.size === this.weights.length) this.grow();
    const entry = this.size++;
    for (let i = 0; i < this.width; i++) this.keys[i]![entry] = columns[i]![row]!;
    const number = this.direct > 0 ? columns[0]![row]! : 0;
    if (number < this.direct) {
      // May replace the array.
      const at = this.leafOf(number) | (number & leaf);
      this.leaves[at] = entry + 1;
    } else {
      if (this.slots === noSlots) this.hash();
      this.slots[this.slotOf(columns, row)] = entry + 1;
    }
    return entry;
  }

  /** Returns the index of the leaf of a number, a new one if necessary. */
  private leafOf(number: number): number {
    if (this.top === noSlots) {
      this.allocate(this.direct >>> (leafBits - 2));
      this.top = new Int32Array((this.direct >>> leafBits) + 1);
    }
    let own = this.top[number >>> leafBits]!;
    if (own === 0) {
      own = this.leafCount++;
      this.top[number >>> leafBits] = own;
      if (this.leafCount << leafBits > this.leaves.length) {
        const length = Math.max(firstSlots, 2 * this.leaves.length);
        this.allocate(4 * (length - this.leaves.length));
        this.leaves = longer(this.leaves, length);
      }
    }
    return own << leafBits;
  }

  private slotOf(columns: NumberColumns, row: number): number {
    const { slots, keys, width } = this;
    const mask = slots.length - 1;
    if (width === 1) {
      // Half of the time of the loop below.
      const [own, number] = [keys[0]!, columns[0]![row]!];
      for (let slot = hashOfOne(number) & mask; ; slot = (slot + 1) & mask) {
        const entry = slots[slot]! - 1;
        if (entry < 0 || own[entry] === number) return slot;
      }
    }
    for (let slot = hashOf(columns, row, width) & mask; ; slot = (slot + 1) & mask) {
      const entry = slots[slot]! - 1;
      if (entry < 0) return slot;
      let i = 0;
      while (i < width && keys[i]![entry] === columns[i]![row]) i++;
      if (i === width) return slot;
    }
  }

  private grow(): void {
    const before = this.weights.length;
    const length = (before < fewEntries ? 4 : 2) * before;
    this.allocate((length - before) * (8 + 4 * this.width));
    this.weights = longer(this.weights, length);
    for (let i = 0; i < this.width; i++) this.keys[i] = longer(this.keys[i]!, length);
    if (this.slots !== noSlots) this.hash();
  }

  private hash(): void {
    const length = 2 * this.weights.length;
    this.allocate(2 * length);
    this.slots = new Int32Array(length);
    const { keys, width, direct } = this;
    for (let entry = 0; entry < this.size; entry++)
      if (width !== 1 || keys[0]![entry]! >= direct) {
        let slot = (width === 1 ? hashOfOne(keys[0]![entry]!) : hashOf(keys, entry, width)) & (length - 1);
        while (this.slots[slot] !== 0) slot = (slot + 1) & (length - 1);
        this.slots[slot] = entry + 1;
      }
  }
}

const noSlots = new Int32Array(0);

/** Sums of weights of single numbers below `direct`, without entries. */
class Sums {
  private readonly top: Int32Array;
  /** The first leaf is empty. */
  private leaves = new Float64Array(firstSlots);
  private leafCount = 1;

  constructor(
    private readonly direct: number,
    private readonly allocate: Allocate,
  ) {
    allocate(direct >>> (leafBits - 2));
    this.top = new Int32Array((direct >>> leafBits) + 1);
  }

  /** Adds a weight. Returns false for a number that is not below `direct`. */
  add(number: number, weight: number): boolean {
    if (number >= this.direct) return false;
    let own = this.top[number >>> leafBits]!;
    if (own === 0) {
      own = this.leafCount++;
      this.top[number >>> leafBits] = own;
      if (this.leafCount << leafBits > this.leaves.length) {
        this.allocate(8 * this.leaves.length);
        this.leaves = longer(this.leaves, 2 * this.leaves.length);
      }
    }
    this.leaves[(own << leafBits) | (number & leaf)]! += weight;
    return true;
  }

  /** Returns the sum of a number, or `undefined` if it is not below `direct`. */
  of(number: number): number | undefined {
    if (number >= this.direct) return undefined;
    return this.leaves[(this.top[number >>> leafBits]! << leafBits) | (number & leaf)]!;
  }
}

function hashOfOne(number: number): number {
  const hash = Math.imul(number >>> nearBits, factor);
  return ((hash ^ (hash >>> 15)) << nearBits) ^ (number & near);
}

function hashOf(columns: NumberColumns, row: number, width: number): number {
  let hash = 0;
  let last = 0;
  for (let i = 0; i < width; i++) {
    hash = Math.imul(hash ^ last, factor);
    last = columns[i]![row]!;
    hash = Math.imul(hash ^ (last >>> nearBits), factor);
    hash ^= hash >>> 15;
    last &= near;
  }
  return (hash << nearBits) ^ last;
}

function longer<T extends Uint32Array | Int32Array | Float64Array>(from: T, length: number): T {
  const to = new (from.constructor as new (length: number) => T)(length);
  to.set(from);
  return to;
}

/** Rows by key: the weights of a key, or its rows. */
export class JoinTable {
  readonly entries: NumberTable;
  /** NumberColumns of the rows, without the key. */
  readonly columns: Uint32Array[];
  rowWeights = new Float64Array(0);
  /** By entry and by row: the next row of the key, plus 1. */
  first = new Int32Array(0);
  next = new Int32Array(0);
  /** Number of rows. 0 if they are not kept. */
  size = 0;
  /** Weights of single keys if rows are not kept. */
  private readonly sums: Sums | undefined;
  private readonly allocate: Allocate;

  /** @param options of the keys @param others number of other columns; if there are none, rows are not kept */
  constructor(
    options: TableOptions,
    private readonly others: number,
  ) {
    this.allocate = options.allocate;
    this.entries = new NumberTable(options);
    const { width, direct } = options;
    if (others === 0 && width === 1 && direct > 0) this.sums = new Sums(direct, options.allocate);
    this.columns = Array.from({ length: others }, () => new Uint32Array(0));
  }

  /** @param key columns of the key @param columns the other columns @param weights absent: each row counts once */
  add(
    key: NumberColumns,
    columns: NumberColumns,
    { length, weights }: { readonly length: number; readonly weights: ArrayLike<number> | undefined },
  ): void {
    const { entries, others, sums } = this;
    for (let row = 0; row < length; row++) {
      const weight = weights ? weights[row]! : 1;
      if (weight === 0 || sums?.add(key[0]![row]!, weight)) continue;
      const entry = entries.add(key, row);
      entries.weights[entry]! += weight;
      if (others === 0) continue;
      if (this.size === this.next.length) this.grow();
      if (entry >= this.first.length) this.first = longer(this.first, entries.weights.length);
      const own = this.size++;
      for (let i = 0; i < others; i++) this.columns[i]![own] = columns[i]![row]!;
      this.rowWeights[own] = weight;
      this.next[own] = this.first[entry]!;
      this.first[entry] = own + 1;
    }
  }

  /** Returns the sum of the weights of a key: 0 without one. */
  weightOf(key: NumberColumns, row: number): number {
    const sum = this.sums?.of(key[0]![row]!);
    if (sum !== undefined) return sum;
    const entry = this.entries.find(key, row);
    return entry < 0 ? 0 : this.entries.weights[entry]!;
  }

  private grow(): void {
    const length = Math.max(firstSlots, 2 * this.size);
    this.allocate((length - this.size) * (4 * this.others + 16));
    this.next = longer(this.next, length);
    this.rowWeights = longer(this.rowWeights, length);
    for (let i = 0; i < this.others; i++) this.columns[i] = longer(this.columns[i]!, length);
  }
}
