/**
 * Reads several graphs through one iterator, because opening an iterator takes as long as reading a small graph. If the next
 * graph follows the previous one, no seek is needed.
 */

import { lowerBound } from '../keys/graph-keys.js';
import { compareKeys } from '../keys/key-order.js';
import { allQuads, graphPrefix } from '../keys/quad-keys.js';
import { block as blockOptions, type Level, type LevelSnapshot } from '../level/durable-level.js';

/** Keys per read: `fewest` after a seek, then doubled with each read up to `most`. */
const [fewest, most] = [32, 1000];

export class GraphCursor {
  private readonly iterator;
  private block: readonly string[] = [];
  /** Index of the next key in the block. Earlier keys were returned or skipped. */
  private at = 0;
  /** Last key of the previous block. */
  private before: string | undefined;
  private size = fewest;
  /** The next block, which is being read. */
  private ahead: Promise<string[]> | undefined;

  constructor(level: Level, snapshot: LevelSnapshot) {
    this.iterator = level.keys({ ...allQuads, snapshot, ...blockOptions });
  }

  /** Yields the sorted GSPO keys of a graph in blocks. Read one graph at a time, completely. */
  async *keys(graph: string): AsyncGenerator<readonly string[]> {
    const prefix = graphPrefix(graph);
    await this.moveTo(prefix);
    while (this.block[this.at]?.startsWith(prefix)) {
      const from = this.at;
      while (this.at < this.block.length && this.block[this.at]!.startsWith(prefix)) this.at++;
      yield from === 0 && this.at === this.block.length ? this.block : this.block.slice(from, this.at);
      if (this.at === this.block.length) await this.read();
    }
  }

  /** Moves to the first key that is at least `key`. */
  private async moveTo(key: string): Promise<void> {
    const passed = this.at > 0 ? this.block[this.at - 1] : this.before;
    if (passed === undefined || compareKeys(passed, key) >= 0) return this.leapTo(key);
    if (this.isInBlock(key)) return;
    // Reads the next block first, which usually contains the key.
    await this.read();
    if (this.block.length > 0 && !this.isInBlock(key)) await this.leapTo(key);
  }

  /** Moves to the first key of the block that is at least `key`. Returns false if the block has none. */
  private isInBlock(key: string): boolean {
    const { block } = this;
    if (block.length === 0 || compareKeys(block[block.length - 1]!, key) < 0) return false;
    this.at = lowerBound(block, key, this.at);
    return true;
  }

  private async leapTo(key: string): Promise<void> {
    await this.ahead;
    this.ahead = undefined;
    this.iterator.seek(key);
    this.size = fewest;
    this.block = await this.iterator.nextv(this.size);
    this.before = undefined;
    this.at = 0;
  }

  private async read(): Promise<void> {
    this.before = this.block.at(-1) ?? this.before;
    this.size = Math.min(most, this.size * 2);
    this.block = await (this.ahead ?? this.iterator.nextv(this.size));
    this.at = 0;
    this.ahead = this.block.length > 0 && this.size === most ? this.iterator.nextv(most) : undefined;
    // An `await` of the promise throws the error. If the promise is never awaited, the error must not count as unhandled.
    this.ahead?.catch(() => {});
  }

  async close(): Promise<void> {
    await this.iterator.close();
  }
}
