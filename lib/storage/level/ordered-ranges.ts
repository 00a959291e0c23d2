/** Reads many short ranges in key order, with as few iterators as possible. */
import type { AbstractKeyIterator } from 'abstract-level';
import { partitionPoint } from '../../tools/collections.js';
import { compareKeys } from '../keys/key-order.js';
import type { KeyRange } from '../keys/records.js';
import { block, type Level, type LevelSnapshot } from './durable-level.js';

/** Count of keys in the first read at a new position, because ranges are mostly short, and in later reads. */
const [firstKeys, moreKeys] = [64, 1000];

/**
 * Cursor over ranges of one snapshot. At the end of a range, an iterator of LevelDB passes all deleted keys up to the next
 * existing one. With an iterator for each of many deleted ranges, each would pass the deletions of all later ranges. This
 * cursor knows the next existing key, and skips all ranges before it.
 */
export class OrderedRanges {
  private iterator: AbstractKeyIterator<Level, string> | undefined;
  /** Keys that were read, and the index of the next key. */
  private keys: string[] = [];
  private at = 0;
  /** True if there are no keys after those in `keys`. */
  private isAtEnd = false;

  /** @param end upper bound of all ranges */
  constructor(
    private readonly level: Level,
    private readonly snapshot: LevelSnapshot,
    private readonly end: string,
  ) {}

  /** Yields the keys of a range in blocks. Each range must follow the earlier ones. */
  async *blocksOf({ gte, lt }: KeyRange): AsyncGenerator<string[]> {
    this.at = this.first(gte);
    if (this.at === this.keys.length && !this.isAtEnd) await this.open(gte);
    while (this.at < this.keys.length) {
      const { at } = this;
      this.at = this.first(lt);
      if (this.at > at) yield this.keys.slice(at, this.at);
      if (this.at < this.keys.length || this.isAtEnd) return;
      await this.load(moreKeys);
    }
  }

  private async open(gte: string): Promise<void> {
    await this.iterator?.close();
    this.iterator = this.level.keys({ gte, lt: this.end, snapshot: this.snapshot, ...block });
    await this.load(firstKeys);
  }

  private async load(count: number): Promise<void> {
    [this.keys, this.at] = [await this.iterator!.nextv(count), 0];
    this.isAtEnd = this.keys.length === 0;
  }

  /** Returns the index of the first unread key that is at least `key`. */
  private first(key: string): number {
    return partitionPoint(this.at, this.keys.length, (at) => compareKeys(this.keys[at]!, key) < 0);
  }

  async close(): Promise<void> {
    await this.iterator?.close();
  }
}
