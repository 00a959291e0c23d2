/**
 * Cursor over entries in key order that can skip ahead. Reads in blocks, and returns from a block synchronously, so that
 * merging many thousand entries creates few promises.
 */

import type { IriRange } from '../keys/iri-ranges.js';
import type { KeyRange } from '../keys/records.js';
import { block, type Level, type LevelSnapshot } from './durable-level.js';

/** Sorted stream of strings. `seek` returns the first string that is at least `target`, or a promise if it must be read. */
export interface SortedStream {
  seek(target: string): string | undefined | Promise<string | undefined>;
}

/** Stream that can also be read one by one. `next` returns the string after the last returned one. */
export interface SteppedStream extends SortedStream {
  next(): string | undefined | Promise<string | undefined>;
}

/** Block sizes: small at first and after a skip, larger with each block read in sequence. */
const smallestBlock = 32;
const largestBlock = 1000;
/** Characters below which a block was not ended by LevelDB's limit of bytes: a character has at most three bytes. */
const shortBlock = block.highWaterMarkBytes >> 2;

interface CursorOptions {
  readonly snapshot: LevelSnapshot;
  /** Range of keys to read, without their common prefix. */
  readonly within?: IriRange | undefined;
  readonly onClose: (cursor: EntryCursor) => void;
}

export class EntryCursor implements SteppedStream {
  private readonly onClose;
  private readonly iterator;
  private readonly prefix: string;
  private block: readonly string[] = [];
  private at = 0;
  private ended = false;
  private size = smallestBlock;

  constructor(level: Level, { gte, lt }: KeyRange, { snapshot, within, onClose }: CursorOptions) {
    this.onClose = onClose;
    this.prefix = gte;
    const range = within ? { gte: gte + within.from, lt: gte + within.to } : { gte, lt };
    this.iterator = level.keys({ ...range, snapshot, ...block });
  }

  /** String at the cursor; defined only after `seek` returned or resolved. */
  get head(): string | undefined {
    return this.block[this.at];
  }

  seek(target: string): string | undefined | Promise<string | undefined> {
    const { block } = this;
    if (this.at < block.length && block[block.length - 1]! >= target) {
      this.at = lowerBound(block, target, this.at);
      return block[this.at];
    }
    if (this.ended) {
      this.at = block.length;
      return undefined;
    }
    return this.read(target);
  }

  next(): string | undefined | Promise<string | undefined> {
    return this.at + 1 < this.block.length ? this.block[++this.at] : this.seek(`${this.head ?? ''}\u0000`);
  }

  private async read(target: string): Promise<string | undefined> {
    for (let missed = false; ; missed = true) {
      // Read the next block, which mostly contains the target. If all its keys are less, skip ahead.
      if (missed) this.iterator.seek(this.prefix + target);
      this.size = missed ? smallestBlock : Math.min(largestBlock, this.size * 2);
      const keys = await this.iterator.nextv(this.size);
      this.block = keys.map((key) => key.slice(this.prefix.length));
      // A short block is the last one, unless LevelDB ended it because of its limit of bytes.
      this.ended = keys.length < this.size && keys.reduce((sum, key) => sum + key.length, 0) < shortBlock;
      this.at = lowerBound(this.block, target, 0);
      if (this.ended || this.at < this.block.length) return this.head;
    }
  }

  async close(): Promise<void> {
    this.onClose(this);
    await this.iterator.close();
  }
}

/** Stream over sorted strings in memory. */
export class ListStream implements SteppedStream {
  private at = 0;

  constructor(private readonly texts: readonly string[]) {}

  seek(target: string): string | undefined {
    this.at = lowerBound(this.texts, target, this.at);
    return this.texts[this.at];
  }

  next(): string | undefined {
    return this.texts[++this.at];
  }

  /** Returns the index of a string, or of its insertion point. */
  indexOf(text: string): number {
    return lowerBound(this.texts, text, 0);
  }
}

/** Returns the index of the first string that is at least `target`, by galloping search from `from`. */
function lowerBound(texts: readonly string[], target: string, from: number): number {
  let step = 1;
  let low = from;
  let high = from;
  while (high < texts.length && texts[high]! < target) {
    low = high + 1;
    high += step;
    step *= 2;
  }
  high = Math.min(high, texts.length);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (texts[middle]! < target) low = middle + 1;
    else high = middle;
  }
  return low;
}
