/**
 * Builds the four quad indexes from one, and back: step by step, each in one batch that also records the progress. Two batches
 * would be wrong: a power cut may lose an earlier record of LevelDB's log and keep a later one.
 */
import { IndexSet } from '../keys/index-set.js';
import { allQuads, otherKeys } from '../keys/quad-keys.js';
import { metaKey } from '../keys/records.js';
import type { BatchWriter, Level, LevelSnapshot } from '../level/durable-level.js';
import { yieldToEventLoop } from './batch-filling.js';

/** Quads per step, minimum per step while transactions wait, and approximate bytes of their GSPO keys. */
const [quadsOfStep, leastQuads, bytesOfStep] = [500, 80, { highWaterMarkBytes: 128 << 10 }];
const quadsAtATime = 250;

/** Returns the indexes of a state. @param snapshot default: the newest state */
export const storedIndexes = (level: Level, snapshot?: LevelSnapshot): IndexSet =>
  IndexSet.read(level.getSync(metaKey('orders'), snapshot ? { snapshot } : {}));

/** Indexes on disk and number of quads. */
export interface KeptQuads {
  readonly orders: IndexSet;
  readonly quads: number;
  /** Number of quads added to or removed from indexes since the store was opened. */
  readonly moved: number;
  /** Target set of indexes. */
  readonly wanted: IndexSet | undefined;
}

export class IndexBackfill implements KeptQuads {
  orders = IndexSet.all;
  quads = 0;
  moved = 0;
  wanted: IndexSet | undefined;

  constructor(private readonly level: Level) {
    this.read();
  }

  /** Loads the state from disk. */
  read(): void {
    this.orders = storedIndexes(this.level);
    this.quads = Number(this.level.getSync(metaKey('quads')) ?? 0);
  }

  get isUnderWay(): boolean {
    return this.wanted !== undefined && this.wanted !== this.orders;
  }

  /**
   * Adds the missing index keys of the next quads to a batch, or removes those of the last quads, before all other changes of the
   * batch, which may affect these quads.
   * @param more quads that waiting transactions bring with the batch: twice as many are processed, so that the build ends;
   * absent: none wait
   * @returns the indexes after this batch
   */
  async fill(batch: BatchWriter, more = quadsOfStep): Promise<IndexSet> {
    if (!this.isUnderWay) return this.orders;
    const isGrowing = this.wanted!.isComplete;
    const { keys, next } = await this.nextKeys(isGrowing, Math.min(quadsOfStep, Math.max(leastQuads, 2 * more)));
    const reached = isGrowing ? keys.at(-1) : next;
    const orders = reached === undefined ? this.wanted! : IndexSet.upTo(reached);
    for (const [index, key] of keys.entries()) {
      if (index % quadsAtATime === quadsAtATime - 1) await yieldToEventLoop();
      for (const other of otherKeys(key))
        if (isGrowing) batch.put(other, '');
        else batch.del(other);
    }
    batch.put(metaKey('orders'), orders.text);
    this.moved += keys.length;
    return orders;
  }

  /** Returns the keys after the last indexed one, or backwards from it, and the key that follows them. */
  private async nextKeys(
    isGrowing: boolean,
    most: number,
  ): Promise<{ readonly keys: readonly string[]; readonly next?: string | undefined }> {
    const { last } = this.orders;
    const { gte, lt } = allQuads;
    // LevelDB accepts one bound per side.
    const range = last === undefined ? allQuads : isGrowing ? { gt: last, lt } : { gte, lte: last };
    const iterator = this.level.keys({ ...range, ...bytesOfStep, reverse: !isGrowing });
    try {
      const keys = await iterator.nextv(most);
      return { keys, next: keys.length > 0 ? (await iterator.nextv(1))[0] : undefined };
    } finally {
      await iterator.close();
    }
  }
}
