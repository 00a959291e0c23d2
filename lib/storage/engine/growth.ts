/**
 * The growth of a store from one order of its quads to all four: step by step, each in one synced batch with the note of how far it came.
 * Two batches would not do: of the records of LevelDB's log a power cut may take an earlier one and leave a later one.
 */
import { Orders } from '../graphs/orders.js';
import { graphPrefix } from '../graphs/quad-keys.js';
import { metaKey, rangeOf } from '../state/records.js';
import { breathe } from './batch-filling.js';
import type { BatchWriter, Level } from './durable-level.js';

/** Quads of a step, and bytes of their GSPO keys, about: others wait for it. */
const [quadsOfStep, bytesOfStep] = [500, { highWaterMarkBytes: 128 << 10 }];
const quadsAtATime = 250;
/** `GSPO` and its separator: what the keys of all quads begin with. */
export const allQuads = rangeOf(graphPrefix('').slice(0, -2));

/** The orders that quads have on the disk, and how many quads there are. */
export interface KeptQuads {
  readonly orders: Orders;
  readonly quads: number;
}

export class Growth implements KeptQuads {
  orders = Orders.all;
  quads = 0;
  /** All orders are wanted. */
  isWanted = false;

  constructor(private readonly level: Level) {
    this.read();
  }

  /** Reads what the disk says. */
  read(): void {
    this.orders = Orders.read(this.level.getSync(metaKey('orders')));
    this.quads = Number(this.level.getSync(metaKey('quads')) ?? 0);
  }

  get isUnderWay(): boolean {
    return this.isWanted && !this.orders.isWhole;
  }

  /**
   * Puts the keys that the next quads lack into a batch, ahead of all that it changes: that may be one of these quads.
   * @returns the orders that the store has with this batch
   */
  async fill(batch: BatchWriter): Promise<Orders> {
    if (!this.isUnderWay) return this.orders;
    const { lt, gte } = allQuads;
    const range = this.orders.last ? { gt: this.orders.last, lt } : { gte, lt };
    const iterator = this.level.keys({ ...range, ...bytesOfStep });
    let keys: string[];
    try {
      keys = await iterator.nextv(quadsOfStep);
    } finally {
      await iterator.close();
    }
    const last = keys.at(-1);
    const orders = last === undefined ? Orders.all : Orders.upTo(last);
    for (const [index, key] of keys.entries()) {
      if (index % quadsAtATime === quadsAtATime - 1) await breathe();
      for (const other of orders.others(key)) batch.put(other, '');
    }
    batch.put(metaKey('orders'), orders.text);
    return orders;
  }
}
