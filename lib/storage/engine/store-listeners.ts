/** Who is notified of transactions, and when. */
import type { WrittenBatch } from '../../measures.js';
import type { TransactionListener } from './commit-queue.js';
import type { Transaction } from './transaction.js';

type Listener = (transaction: Transaction) => void;

export class StoreListeners {
  protected readonly inTransaction: TransactionListener[] = [];
  protected readonly fromOthers: TransactionListener[] = [];
  private readonly batchListeners: ((batch: WrittenBatch) => void)[] = [];
  private readonly listeners = { stage: [] as Listener[], commit: [] as Listener[], drop: [] as Listener[] };

  /**
   * Calls back inside every transaction that changed a resource, when its work is done. What the listener stages is
   * written with it, and what it throws undoes it: an index cannot lag, an event cannot be lost.
   */
  onTransaction(listener: TransactionListener): void {
    this.inTransaction.push(listener);
  }

  /** Calls back for every transaction that another server of the storage has committed, before its changes can be seen here. */
  onForeign(listener: TransactionListener): void {
    this.fromOthers.push(listener);
  }

  /** Calls back before every transaction that is going to be written, before anybody can read of it. */
  onStage(listener: Listener): void {
    this.listeners.stage.push(listener);
  }

  /** Calls back after every commit, before it is acknowledged; for caches. */
  onCommit(listener: Listener): void {
    this.listeners.commit.push(listener);
  }

  /** Calls back for what was staged, when it is known that it never comes to the disk. */
  onDrop(listener: Listener): void {
    this.listeners.drop.push(listener);
  }

  /** Calls back after every batch that is on the disk. */
  onBatch(listener: (batch: WrittenBatch) => void): void {
    this.batchListeners.push(listener);
  }

  protected tellOfBatch(batch: WrittenBatch): void {
    for (const listener of this.batchListeners) listener(batch);
  }

  protected tell(of: 'stage' | 'commit' | 'drop', transaction: Transaction): void {
    for (const listener of this.listeners[of]) listener(transaction);
  }
}
