/**
 * LevelDB's iterators for one query: blocks of a range, read ahead while the query works on the last one, and iterators that are kept open
 * for lookups, since making one costs more than a lookup.
 */

import { type IndexName, separator } from '../../storage/keys/quad-keys.js';
import { rangeOf } from '../../storage/keys/records.js';
import { block, type Level, type LevelSnapshot } from '../../storage/level/durable-level.js';

/** An iterator over one order. */
export interface Seekable {
  seek(target: string): void;
  nextv(size: number): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface KeyIterators {
  /** The keys that begin with the prefix, which ends with the separator. */
  blocks(prefix: string): AsyncGenerator<readonly string[]>;
  /** The same; `target` is asked after each block and names the key at which to continue, `undefined`: the next one. */
  leaps(prefix: string, target: () => string | undefined): AsyncGenerator<readonly string[]>;
  /** The same from some key on, in small blocks at first and after a leap, which waste less. A target behind the prefix is the end. */
  steps(prefix: string, from: string, target: () => string | undefined): AsyncGenerator<readonly string[]>;
  /** Lends an iterator over an order until the work has settled. */
  lend<T>(index: IndexName, work: (iterator: Seekable) => Promise<T>): Promise<T>;
  hasKey(key: string): boolean;
  /** Bytes that the keys of a range take, about. */
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
        // Only full blocks are read ahead: a leap would waste what was read.
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

  /** Throws for a closed snapshot: LevelDB ends the process when an iterator is made for one. */
  private open(range: { readonly gte: string; readonly lt: string }): Seekable {
    if (this.isClosed) throw new Error('The query has ended.');
    this.snapshot.ref();
    this.snapshot.unref();
    return this.level.keys({ ...range, snapshot: this.snapshot });
  }
}
