/**
 * Stages the changes of many resources while other transactions run, and already updates indexes and fills the batch, so that
 * these hardly wait. Transactions that write in the same containers wait. Not used if several servers share the storage.
 */

import { yieldToEventLoop } from '../../tools/event-loop.js';
import { featuresKey } from '../keys/features.js';
import { type Level, PreparedBatch } from '../level/durable-level.js';
import { Again } from './again.js';
import { fillBatch, quadsChange, sizeOfBatch } from './batch-filling.js';
import type { OverlaidState } from './overlaid-state.js';
import { Transaction } from './transaction.js';

export type TransactionListener = (transaction: Transaction) => void | Promise<void>;

/** A listener and its `isReady`, see `StoreListeners.onTransaction`. */
export type AddedListener = readonly [listener: TransactionListener, isReady: () => boolean];

/** Changes to stage before a transaction runs. */
export interface Ahead {
  readonly containers: readonly string[];
  /**
   * Stages changes. Outside of the containers, it reads only data that the work checks again. The work changes other records,
   * and reports no changes.
   */
  readonly stage: (transaction: Transaction) => Promise<void>;
}

/** Changes that were staged before the transaction runs. */
export interface StagedAhead {
  readonly transaction: Transaction;
  /** Listeners that were already called. */
  readonly told: readonly AddedListener[];
  /** Returns true if staging now would result in the same changes. */
  readonly isCurrent: () => boolean;
  /** Releases the containers for other transactions. */
  readonly release: () => void;
}

export class StagingAhead {
  /** Count of failed batches. */
  failures = 0;

  constructor(
    private readonly state: OverlaidState,
    private readonly options: { readonly level: Level; readonly listeners: readonly AddedListener[] },
  ) {}

  /** Reserves the containers while no transaction runs. @throws Again if another transaction has reserved one of them */
  reserve({ containers }: Ahead): void {
    const { reserved } = this.state;
    for (const name of containers)
      for (const other of reserved)
        if (name.startsWith(other) || other.startsWith(name)) throw new Again(() => this.state.untilFree(other));
    for (const name of containers) reserved.add(name);
  }

  /** Stages changes in containers that are reserved. @throws errors of `stage` and of listeners, with the containers released */
  async stage({ containers, stage }: Ahead): Promise<StagedAhead> {
    const { failures, state, options } = this;
    let isReleased = false;
    const release = (): void => {
      // Release only once, because another transaction may have reserved the containers since.
      if (!isReleased) for (const name of containers) state.reserved.delete(name);
      isReleased = true;
    };
    const transaction = new Transaction(Object.create(state, { reserved: { value: new Set() } }));
    const features = state.entry(featuresKey);
    try {
      await stage(transaction);
      const told = options.listeners.filter(([, isReady]) => isReady());
      for (const [listener] of told) await listener(transaction);
      for (const _ of transaction.sealing()) await yieldToEventLoop();
      await prepareBatch(options.level, transaction);
      const isCurrent = (): boolean =>
        failures === this.failures &&
        (!transaction.entries.has(featuresKey) || state.entry(featuresKey) === features) &&
        told.every(([, isReady]) => isReady());
      return { transaction, told, isCurrent, release };
    } catch (error) {
      release();
      // If a batch has failed meanwhile, LevelDB was closed: run the transaction again.
      throw failures === this.failures ? error : new Again(async () => {});
    }
  }
}

async function prepareBatch(level: Level, transaction: Transaction): Promise<void> {
  const batch = new PreparedBatch(level);
  const { records, entries, postings, graphs } = transaction;
  const sizes = { records: records.size, entries: entries.size, postings: postings.size, graphs: graphs.size };
  await fillBatch(batch.writer, transaction).catch(async (error) => {
    await batch.close();
    throw error;
  });
  transaction.prepared = { batch, bytes: sizeOfBatch(transaction), quads: quadsChange(transaction), ...sizes };
  // `prepared.quads` already includes this correction.
  transaction.uncounted = 0;
}
