/**
 * LevelDB iterators for one query: blocks of a range with read-ahead, and open iterators for lookups, because creating one costs
 * more than a lookup.
 */

import { type IndexName, separator } from '../../storage/keys/quad-keys.js';
import { rangeOf } from '../../storage/keys/records.js';
import { block, type Level, type LevelSnapshot } from '../../storage/level/durable-level.js';

/** Average size of a key in LevelDB's compressed tables, in bytes. */
export const bytesPerKey = 34;

/** Iterator over one index. */
export interface Seekable {
  seek(target: string): void;
  nextv(size: number): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface KeyIterators {
  /** Yields the keys with a prefix, which ends with the separator. */
  blocks(prefix: string): AsyncGenerator<readonly string[]>;
  /** Like `blocks`. Calls `target` after each block for the key at which to continue (`undefined`: the next one). */
  leaps(prefix: string, target: () => string | undefined): AsyncGenerator<readonly string[]>;
  /**
   * Like `leaps`, but begins at a key. The first block and blocks after a leap are small, because they may be wasted. A target
   * after the prefix ends the iteration.
   */
  steps(prefix: string, from: string, target: () => string | undefined): AsyncGenerator<readonly string[]>;
  /** Lends an iterator over an index until `work` has settled. */
  lend<T>(index: IndexName, work: (iterator: Seekable) => Promise<T>): Promise<T>;
  hasKey(key: string): boolean;
  /** Returns the approximate size of the keys with a prefix, in bytes. */
  sizeOf(prefix: string): Promise<number>;
  sizeBetween(from: string, to: string): Promise<number>;
  close(): Promise<void>;
}

const keysAtATime = 2000;
const firstKeys = 64;

export class LevelKeys implements KeyIterators {
  private readonly idle = new Map<IndexName, Seekable[]>();
  private isClosed = false;

  constructor(
    private readonly level: Level,
    private readonly snapshot: LevelSnapshot,
    private readonly assertTime: () => void,
  ) {}

  async *blocks(prefix: string): AsyncGenerator<readonly string[]> {
    const iterator = this.open({ ...rangeOf(prefix), ...block });
    try {
      let next = iterator.nextv(keysAtATime);
      for (;;) {
        const keys = await next;
        this.assertTime();
        if (keys.length === 0) return;
        next = iterator.nextv(keysAtATime);
        next.catch(() => {});
        yield keys;
      }
    } finally {
      await iterator.close();
    }
  }

  async *leaps(prefix: string, target: () => string | undefined): AsyncGenerator<readonly string[]> {
    const iterator = this.open(rangeOf(prefix));
    try {
      for (;;) {
        const keys = await iterator.nextv(keysAtATime);
        this.assertTime();
        if (keys.length === 0) return;
        yield keys;
        const next = target();
        if (next !== undefined) iterator.seek(next);
      }
    } finally {
      await iterator.close();
    }
  }

  async *steps(prefix: string, from: string, target: () => string | undefined): AsyncGenerator<readonly string[]> {
    const { lt } = rangeOf(prefix);
    const iterator = this.open({ gte: from, lt, ...block });
    try {
      let next: Promise<readonly string[]> | undefined;
      for (let size = firstKeys; ; ) {
        const keys = await (next ?? iterator.nextv(size));
        this.assertTime();
        if (keys.length === 0) return;
        // Reads ahead only after full blocks: a leap would waste the read.
        next = size < keysAtATime ? undefined : iterator.nextv(size);
        next?.catch(() => {});
        yield keys;
        const to = target();
        size = to === undefined ? Math.min(keysAtATime, 2 * size) : firstKeys;
        if (to === undefined) continue;
        await next;
        next = undefined;
        if (to >= lt) return;
        iterator.seek(to);
      }
    } finally {
      await iterator.close();
    }
  }

  async lend<T>(index: IndexName, work: (iterator: Seekable) => Promise<T>): Promise<T> {
    this.assertTime();
    const { idle } = this;
    const iterator = idle.get(index)?.pop() ?? this.open(rangeOf(index + separator));
    try {
      return await work(iterator);
    } finally {
      if (this.isClosed) await iterator.close();
      else idle.set(index, [...(idle.get(index) ?? []), iterator]);
    }
  }

  sizeOf(prefix: string): Promise<number> {
    const { gte, lt } = rangeOf(prefix);
    return this.sizeBetween(gte, lt);
  }

  async sizeBetween(from: string, to: string): Promise<number> {
    const sizes = this.level as { approximateSize?: (from: string, to: string) => Promise<number> };
    return (await sizes.approximateSize?.(from, to)) ?? 0;
  }

  hasKey(key: string): boolean {
    return this.level.getSync(key, { snapshot: this.snapshot }) !== undefined;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const all = [...this.idle.values()].flat();
    this.idle.clear();
    await Promise.all(all.map((iterator) => iterator.close()));
  }

  /** Throws if the snapshot is closed: creating an iterator on it would crash the process. */
  private open(range: { readonly gte: string; readonly lt: string }): Seekable {
    if (this.isClosed) throw new Error('The query has ended.');
    this.snapshot.ref();
    this.snapshot.unref();
    return this.level.keys({ ...range, snapshot: this.snapshot });
  }
}
