/**
 * LevelDB's iterators for one query: blocks of a range, read ahead while the last one is worked on, and iterators that are
 * kept for lookups, since making one costs more than a lookup. It must not know what keys mean.
 */
import { block, type Level, type LevelSnapshot } from '../../storage/durable-level.js';
import { type IndexName, separator } from '../../storage/quad-keys.js';
import { rangeOf } from '../../storage/records.js';

/** An iterator over one order. */
export interface Seekable {
  seek(target: string): void;
  nextv(size: number): Promise<string[]>;
  close(): Promise<void>;
}

export interface KeyIterators {
  /** The keys that begin with the prefix, which ends with the separator. */
  blocks(prefix: string): AsyncGenerator<readonly string[]>;
  /** The same, going on at the target that is given after a block. */
  leaps(prefix: string, target: () => string | undefined): AsyncGenerator<readonly string[]>;
  /** The same from some key on, a few keys at first, so that little is read in vain. A target behind the prefix is the end. */
  steps(prefix: string, from: string, target: () => string | undefined): AsyncGenerator<readonly string[]>;
  /** Gives an iterator over an order to the work, for as long as it lasts. */
  lend<T>(index: IndexName, work: (iterator: Seekable) => Promise<T>): Promise<T>;
  hasKey(key: string): boolean;
  /** Bytes that the keys of a range take, about. */
  sizeOf(prefix: string): Promise<number>;
  sizeBetween(from: string, to: string): Promise<number>;
  close(): Promise<void>;
}

const keysAtATime = 2000;
const firstKeys = 64;

export function keyIterators(level: Level, snapshot: LevelSnapshot, assertTime: () => void): KeyIterators {
  const idle = new Map<IndexName, Seekable[]>();
  let closed = false;
  /** LevelDB ends the process when an iterator is made for a snapshot that is closed. */
  const assertOpen = (): void => {
    if (closed) throw new Error('The query has ended.');
    snapshot.ref();
    snapshot.unref();
  };
  return {
    async *blocks(prefix) {
      assertOpen();
      const iterator = level.keys({ ...rangeOf(prefix), ...block, snapshot });
      try {
        let next = iterator.nextv(keysAtATime);
        for (;;) {
          const keys = await next;
          assertTime();
          if (keys.length === 0) return;
          next = iterator.nextv(keysAtATime);
          next.catch(() => {});
          yield keys;
        }
      } finally {
        await iterator.close();
      }
    },
    async *leaps(prefix, target) {
      assertOpen();
      const iterator = level.keys({ ...rangeOf(prefix), snapshot });
      try {
        for (;;) {
          const keys = await iterator.nextv(keysAtATime);
          assertTime();
          if (keys.length === 0) return;
          yield keys;
          const next = target();
          if (next !== undefined) iterator.seek(next);
        }
      } finally {
        await iterator.close();
      }
    },
    async *steps(prefix, from, target) {
      assertOpen();
      const { lt } = rangeOf(prefix);
      const iterator = level.keys({ gte: from, lt, ...block, snapshot });
      try {
        let next: Promise<string[]> | undefined;
        for (let size = firstKeys; ; ) {
          const keys = await (next ?? iterator.nextv(size));
          assertTime();
          if (keys.length === 0) return;
          // Reading ahead pays where much is read, and nothing is leapt over.
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
    },
    async lend(index, work) {
      assertTime();
      assertOpen();
      const iterator = idle.get(index)?.pop() ?? level.keys({ ...rangeOf(index + separator), snapshot });
      try {
        return await work(iterator);
      } finally {
        if (closed) await iterator.close();
        else idle.set(index, [...(idle.get(index) ?? []), iterator]);
      }
    },
    sizeOf(prefix) {
      const { gte, lt } = rangeOf(prefix);
      return this.sizeBetween(gte, lt);
    },
    async sizeBetween(from, to) {
      const sizes = level as { approximateSize?: (from: string, to: string) => Promise<number> };
      return (await sizes.approximateSize?.(from, to)) ?? 0;
    },
    hasKey: (key) => level.getSync(key, { snapshot }) !== undefined,
    async close() {
      closed = true;
      const all = [...idle.values()].flat();
      idle.clear();
      await Promise.all(all.map((iterator) => iterator.close()));
    },
  };
}
