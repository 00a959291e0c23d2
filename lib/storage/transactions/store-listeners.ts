/** Callbacks of a store: within transactions, and when transactions are staged, committed or dropped. */
import type { WrittenBatch } from '../../tools/metrics.js';
import type { AddedListener, TransactionListener } from './staging-ahead.js';
import type { Transaction } from './transaction.js';

/** Listener of transactions, see `StoreListeners`. */
type Listener = (transaction: Transaction) => void;

export class StoreListeners {
  protected readonly inTransaction: AddedListener[] = [];
  protected readonly fromOthers: TransactionListener[] = [];
  protected readonly completing: TransactionListener[] = [];
  private readonly batchListeners: ((batch: WrittenBatch) => void)[] = [];
  private readonly listeners = { stage: [] as Listener[], commit: [] as Listener[], drop: [] as Listener[] };

  /**
   * Calls back within every transaction that has changed a resource or a staged graph, after its work. Changes that the
   * listener stages are written with the transaction, and its error rolls the transaction back, so that an index cannot lag and
   * no event is lost. For asynchronous work, the listener throws `Again`: other transactions run meanwhile, then this one
   * again.
   * @param isReady only for a listener that reads and writes only data of the changed resources: returns true if it may be
   * called before a transaction that changes many resources runs (`TransactOptions.ahead`)
   */
  onTransaction(listener: TransactionListener, isReady = (): boolean => false): void {
    this.inTransaction.push([listener, isReady]);
  }

  /** Calls back for every transaction after its work and all other listeners. The listener can only stage changes. */
  onCompletion(listener: TransactionListener): void {
    this.completing.push(listener);
  }

  /** True if a listener of transactions reads literals: bulk writers must include them in `GraphChange.added`. */
  readsLiterals = false;

  /** Calls back for every transaction committed by another server, before its changes are visible here. */
  onForeign(listener: TransactionListener): void {
    this.fromOthers.push(listener);
  }

  /** Calls back for every transaction about to be written, before readers see its changes. */
  onStage(listener: Listener): void {
    this.listeners.stage.push(listener);
  }

  /** Calls back after every commit, before it is acknowledged. For caches. */
  onCommit(listener: Listener): void {
    this.listeners.commit.push(listener);
  }

  /** Calls back for every staged transaction that was not stored, or that is in doubt after a failed batch. */
  onDrop(listener: Listener): void {
    this.listeners.drop.push(listener);
  }

  /** Calls back after every batch on disk. */
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
