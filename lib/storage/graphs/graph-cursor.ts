/**
 * Reads graphs one after the other through one iterator, without a seek where the next graph follows the last one: to open an iterator
 * takes as long as to read a small graph.
 */

import { lowerBound } from '../keys/graph-keys.js';
import { compareKeys } from '../keys/key-order.js';
import { allQuads, graphPrefix } from '../keys/quad-keys.js';
import { block as blockOptions, type Level, type LevelSnapshot } from '../level/durable-level.js';

/** Keys that are read at a time: fewest after a leap, then twice as many with each block, up to most. */
const [fewest, most] = [32, 1000];

export class GraphCursor {
  private readonly iterator;
  private block: readonly string[] = [];
  /** The index of the next key in the block; those before it were given out or skipped. */
  private at = 0;
  /** The last key before the block. */
  private before: string | undefined;
  private size = fewest;
  /** The block after this one. */
  private ahead: Promise<string[]> | undefined;

  constructor(level: Level, snapshot: LevelSnapshot) {
    this.iterator = level.keys({ ...allQuads, snapshot, ...blockOptions });
  }

  /** The GSPO keys of a graph in blocks, in order; one graph at a time, to its end. */
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

  /** Moves to the first key that is not before this one. */
  private async moveTo(key: string): Promise<void> {
    const passed = this.at > 0 ? this.block[this.at - 1] : this.before;
    if (passed === undefined || compareKeys(passed, key) >= 0) return this.leapTo(key);
    if (this.isInBlock(key)) return;
    // Reads the next block first, which mostly has the key.
    await this.read();
    if (this.block.length > 0 && !this.isInBlock(key)) await this.leapTo(key);
  }

  /** Whether the first key that is not before this one is in the block; the cursor is there then. */
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
    // An error is thrown where the promise is awaited; without a further read it must not count as unhandled.
    this.ahead?.catch(() => {});
  }

  async close(): Promise<void> {
    await this.iterator.close();
  }
}
