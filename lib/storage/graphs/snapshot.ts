/** One committed state of the store, for consistent reads: records, entries, and cursors over entries in key order. */

import type { IriRange } from '../keys/iri-ranges.js';
import { entryRange, type KeyRange, type ResourceRecord, readRecord, recordKey } from '../keys/records.js';
import { entryBlocks, keyBlocks, type Level, type LevelSnapshot, type PageOptions } from '../level/durable-level.js';
import { EntryCursor } from '../level/entry-cursor.js';

/** Count of keys per read of `beginnings`. Small, because most subjects have one or two labels. */
const keysAtATime = 4;

const open = new WeakMap<Level, number>();

/** Returns the count of open snapshots. While a snapshot is open, LevelDB does not remove old values from disk. */
export const openSnapshots = (level: Level): number => open.get(level) ?? 0;

export class StoreSnapshot {
  private readonly snapshot: LevelSnapshot;
  private readonly cursors = new Set<EntryCursor>();
  private isClosed = false;

  constructor(private readonly level: Level) {
    this.snapshot = level.snapshot();
    open.set(level, openSnapshots(level) + 1);
  }

  /** Returns the records of resources in the given order; `undefined` for missing resources. */
  async records(iris: readonly string[]): Promise<(ResourceRecord | undefined)[]> {
    const values = await this.values(iris.map(recordKey));
    return values.map((value, index) => (value === undefined ? undefined : readRecord(iris[index]!, value)));
  }

  /** Returns the values of keys in the given order; `undefined` for missing keys. */
  values(keys: readonly string[]): Promise<(string | undefined)[]> {
    return this.level.getMany([...keys], { snapshot: this.snapshot });
  }

  /** Yields the entries of a range in blocks. */
  entries(range: KeyRange, options: PageOptions = {}): AsyncGenerator<[key: string, value: string][]> {
    return entryBlocks(this.level, range, { ...options, snapshot: this.snapshot });
  }

  /** Yields the keys of a range in blocks. */
  keys(range: KeyRange): AsyncGenerator<string[]> {
    return keyBlocks(this.level, range, { snapshot: this.snapshot });
  }

  /** Returns a cursor over the last parts of the entry keys that begin with the given parts. */
  cursor(space: string, ...parts: readonly string[]): EntryCursor {
    return this.cursorIn(entryRange(space, ...parts));
  }

  /** Returns a cursor over the last parts of entry keys in a range. @param within range of the last parts */
  cursorIn(range: KeyRange, within?: IriRange): EntryCursor {
    const onClose = (cursor: EntryCursor): void => void this.cursors.delete(cursor);
    const cursor = new EntryCursor(this.level, range, { snapshot: this.snapshot, within, onClose });
    this.cursors.add(cursor);
    return cursor;
  }

  /**
   * Yields for each part the texts that follow it in its first keys, up to a multiple of `keysAtATime`. One iterator for all
   * parts takes half of the time of an iterator per part.
   * @param most maximum keys of a part; `isAll` is true if the part has no others
   * @param within ranges of these texts; the count of keys that are read does not depend on keys between the ranges
   */
  async *beginnings(
    space: string,
    parts: readonly string[],
    { most, within }: { readonly most: number; readonly within?: readonly IriRange[] | undefined },
  ): AsyncGenerator<{ readonly part: string; readonly texts: readonly string[]; readonly isAll: boolean }> {
    const iterator = this.level.keys({ ...entryRange(space), snapshot: this.snapshot });
    try {
      for (const part of parts) {
        const whole = entryRange(space, part);
        const ranges = within?.map(({ from, to }) => ({ gte: whole.gte + from, lt: whole.gte + to })) ?? [whole];
        const texts: string[] = [];
        let isAll = true;
        for (const { gte, lt } of ranges) {
          if (texts.length >= most) isAll = false;
          if (!isAll) break;
          iterator.seek(gte);
          isAll = false;
          while (!isAll && texts.length < most) {
            const keys = await iterator.nextv(keysAtATime);
            isAll = keys.length === 0 || keys.at(-1)! >= lt;
            for (const key of keys) if (key < lt) texts.push(key.slice(whole.gte.length));
          }
        }
        yield { part, texts, isAll };
      }
    } finally {
      await iterator.close();
    }
  }

  /** Yields the distinct next parts of the entry keys that begin with the given parts, with one seek for each. */
  async *distinct(space: string, ...parts: readonly string[]): AsyncGenerator<string> {
    const range = entryRange(space, ...parts);
    const iterator = this.level.keys({ ...range, snapshot: this.snapshot });
    try {
      for (;;) {
        const [key] = await iterator.nextv(1);
        if (key === undefined) return;
        const part = key.slice(range.gte.length).split('\u0000', 1)[0]!;
        yield part;
        // Skip all keys of this part: U+0000 follows it in each of them. Parts contain no U+0000.
        iterator.seek(`${range.gte}${part}\u0001`);
      }
    } finally {
      await iterator.close();
    }
  }

  /** Closes the snapshot and its cursors. */
  async close(): Promise<void> {
    await Promise.all([...this.cursors].map((cursor) => cursor.close()));
    if (this.isClosed) return;
    this.isClosed = true;
    open.set(this.level, openSnapshots(this.level) - 1);
    await this.snapshot.close();
  }
}
