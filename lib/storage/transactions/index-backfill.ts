/**
 * The growth of a store from one order of its quads to all four, and back: step by step, each in one batch with the note of how far it came.
 * Two batches would not do: of the records of LevelDB's log a power cut may take an earlier one and leave a later one.
 */
import { IndexSet } from '../keys/index-set.js';
import { allQuads, otherKeys } from '../keys/quad-keys.js';
import { metaKey } from '../keys/records.js';
import type { BatchWriter, Level, LevelSnapshot } from '../level/durable-level.js';
import { yieldToEventLoop } from './batch-filling.js';

/** Quads of a step, those of one that transactions wait for, at least, and bytes of their GSPO keys, about. */
const [quadsOfStep, leastQuads, bytesOfStep] = [500, 80, { highWaterMarkBytes: 128 << 10 }];
const quadsAtATime = 250;

/** The orders that the quads of a state have keys in. @param snapshot absent: the newest */
export const storedIndexes = (level: Level, snapshot?: LevelSnapshot): IndexSet =>
  IndexSet.read(level.getSync(metaKey('orders'), snapshot ? { snapshot } : {}));

/** The orders that quads have on the disk, and how many quads there are. */
export interface KeptQuads {
  readonly orders: IndexSet;
  readonly quads: number;
  /** How many quads have got keys in other orders, or lost them, since the store was opened. */
  readonly moved: number;
  /** What the quads are getting. */
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

  /** Reads what the disk says. */
  read(): void {
    this.orders = storedIndexes(this.level);
    this.quads = Number(this.level.getSync(metaKey('quads')) ?? 0);
  }

  get isUnderWay(): boolean {
    return this.wanted !== undefined && this.wanted !== this.orders;
  }

  /**
   * Puts the keys that the next quads lack into a batch, or removes those of the last quads, ahead of all else that the batch changes: that
   * may be one of these quads.
   * @param more quads that transactions bring with the batch and wait for: twice as many are done, so that it ends; absent: nobody waits
   * @returns the orders that the store has with this batch
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

  /** The keys behind the last one that is in all orders, or from it backwards, and the one that follows on them. */
  private async nextKeys(
    isGrowing: boolean,
    most: number,
  ): Promise<{ readonly keys: readonly string[]; readonly next?: string | undefined }> {
    const { last } = this.orders;
    const { gte, lt } = allQuads;
    // LevelDB takes one bound of each side.
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
