/** Hash tables of term IDs, in memory outside of V8's heap: distinct rows with weights, and rows by key. */
import { randomInt } from 'node:crypto';

/** Hash factor. It is odd, and random so that clients cannot store terms whose IDs collide. */
const factor = 2 * randomInt(2 ** 30) + 1;
/** Count of slots of a new table. At most half of the slots are used. */
const firstSlots = 256;
/** Count of entries below which tables grow by a factor of four instead of two: each growth hashes all entries again. */
const fewEntries = 16_384;
/** Low bits of an ID that are not hashed: IDs that differ only in these are adjacent, as scans often return them in order. */
const [nearBits, near] = [2, 3];
/** Count of IDs in a leaf of a table without hashing: as many as fit in a cache line. */
const [leafBits, leaf] = [4, 15];

/** Function that charges bytes to the memory limit of the query. Throws to stop the query. */
export type Allocate = (bytes: number) => void;

export interface TableOptions {
  /** Count of columns of a row. */
  readonly width: number;
  readonly allocate: Allocate;
  /** IDs below this limit are addressed without hashing if the key has one column. The table may reserve memory for all. */
  readonly direct: number;
}

export type NumberColumns = readonly (Uint32Array | undefined)[];

/** Distinct rows of term IDs with weights. The entry of a row is its index in the order of arrival. */
export class NumberTable {
  size = 0;
  /** Columns of the rows. */
  readonly keys: Uint32Array[];
  /** Weights of the rows. */
  weights = new Float64Array(firstSlots / 2);
  private slots = noSlots;
  /** Index of the leaf for each range of IDs. The leaves contain entries plus 1. Leaf 0 stays empty. */
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

  /** Returns the entry of a row, or -1. @param columns `width` columns with the row to look up */
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

  /** Returns the entry of a row. A new row is added with the weight 0. */
  add(columns: NumberColumns, row: number): number {
    const known = this.find(columns, row);
    if (known >= 0) return known;
    if (this.size === this.weights.length) this.grow();
    const entry = this.size++;
    for (let i = 0; i < this.width; i++) this.keys[i]![entry] = columns[i]![row]!;
    const number = this.direct > 0 ? columns[0]![row]! : 0;
    if (number < this.direct) {
      // `leafOf` may replace the array `leaves`, so it is called first.
      const at = this.leafOf(number) | (number & leaf);
      this.leaves[at] = entry + 1;
    } else {
      if (this.slots === noSlots) this.hash();
      this.slots[this.slotOf(columns, row)] = entry + 1;
    }
    return entry;
  }

  /** Returns the offset of the leaf of an ID. Creates the leaf if necessary. */
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
      // For one column, this loop takes half of the time of the general loop below.
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

/** Sums of weights by ID, for IDs below `direct`. Needs no entries. */
class Sums {
  private readonly top: Int32Array;
  /** Sums in the leaves. Leaf 0 stays empty. */
  private leaves = new Float64Array(firstSlots);
  private leafCount = 1;

  constructor(
    private readonly direct: number,
    private readonly allocate: Allocate,
  ) {
    allocate(direct >>> (leafBits - 2));
    this.top = new Int32Array((direct >>> leafBits) + 1);
  }

  /** Adds a weight. Returns false if the ID is not below `direct`. */
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

  /** Returns the sum of an ID, or `undefined` if the ID is not below `direct`. */
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

/** Right input of a join: the rows of each key, or only the sum of their weights. */
export class JoinTable {
  readonly entries: NumberTable;
  /** Columns of the rows, without the columns of the key. */
  readonly columns: Uint32Array[];
  rowWeights = new Float64Array(0);
  /** Linked lists of the rows of a key. `first` has the first row by entry, `next` the next row by row, both plus 1. */
  first = new Int32Array(0);
  next = new Int32Array(0);
  /** Count of rows. 0 if only weights are stored. */
  size = 0;
  /** Sums of weights by key, if the key has one column and only weights are stored. */
  private readonly sums: Sums | undefined;
  private readonly allocate: Allocate;

  /** @param options options of the keys @param others count of other columns. If 0, only weights are stored */
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

  /** Adds rows. @param key columns of the key @param others other columns @param weights default: each row counts once */
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

  /** Returns the sum of the weights of a key, or 0 if the table lacks the key. */
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
