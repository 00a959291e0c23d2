/**
 * Commit queue: one transaction runs at a time, on the state left by all earlier ones, including those with a batch still being
 * written. Transactions that ran during one batch are written in the next (group commit). A transaction that throws does not
 * affect others. No transaction is acknowledged before its batch is synced.
 */
import { randomUUID } from 'node:crypto';
import { yieldToEventLoop } from '../../tools/event-loop.js';
import type { WrittenBatch } from '../../tools/metrics.js';
import { metaKey } from '../keys/records.js';
import { commitInDoubt } from '../level/commit-in-doubt.js';
import { storageFull } from '../level/disk-space.js';
import { type BatchWriter, type Level, putSynced, writeBatch, writeUnsynced } from '../level/durable-level.js';
import { writeDigests } from '../level/entry-digests.js';
import { quotaExceeded } from '../level/quota.js';
import { countedResources, resourceCounter } from '../level/resource-counter.js';
import { Again } from './again.js';
import { fillBatch, outdatedIn, quadsChange, sizeOfBatch } from './batch-filling.js';
import { writeWithPartner } from './batch-writer.js';
import { type ChangeLog, loggedBatch } from './change-log.js';
import { type CommittedState, OverlaidState } from './overlaid-state.js';
import {
  type AddedListener,
  type Ahead,
  type StagedAhead,
  StagingAhead,
  type TransactionListener,
} from './staging-ahead.js';
import { Transaction } from './transaction.js';
import type { TransactionBase } from './transaction-base.js';

/** Work of a transaction: reads, checks, and stages changes. @param prepared see `TransactOptions.prepare` */
export type Work<T, P = void> = (transaction: Transaction, prepared: P) => Promise<T> | T;

/** @param after registers a function to call when the result is no longer used, with the error if it was not committed */
export type Prepare<P> = (after: (release: (error: unknown) => unknown) => void) => Promise<P>;

export interface TransactOptions<P = unknown> {
  /** True if the work only deletes. It is then exempt from the quota, and allowed on an almost full disk. */
  readonly frees?: boolean;
  /** Called when the transaction is staged: later transactions see its changes, and only the disk can still reject it. */
  readonly onStaged?: () => void;
  /** Returns the state that the transaction sees, given the actual state before it. */
  readonly before?: (state: TransactionBase) => TransactionBase;
  readonly ahead?: Ahead | undefined;
  /** True to commit nothing. */
  readonly isDryRun?: boolean;
  /** Resource on which the attempts of this and other transactions run one after the other. */
  readonly iri?: string | undefined;
  /**
   * Computes what the work stages. Runs outside of the queue before the first attempt, and again before later attempts
   * (`Again`). It may change the other options.
   */
  readonly prepare?: Prepare<P>;
}

export interface CommitQueueOptions {
  readonly level: Level;
  readonly committed: CommittedState;
  /** Bytes counted against the quota after the last batch. */
  readonly bytes: number;
  /** Quota in bytes; 0 for none. */
  readonly quotaBytes: number;
  /** Rejects a batch if the disk may not have enough space. */
  readonly assertSpace: (bytes: number, frees: boolean) => Promise<void>;
  /** Called after the work of every transaction with changes. The transaction includes the changes that listeners stage. */
  readonly listeners: readonly AddedListener[];
  /** Called for every transaction after all other changes are staged. */
  readonly complete: TransactionListener;
  /** Called for each transaction of another server before readers see its changes. */
  readonly foreignListeners: readonly TransactionListener[];
  /** Called before a transaction is written and visible to readers. */
  readonly onStage: (transaction: Transaction) => void;
  /** Called when a transaction is on disk, before it is acknowledged. */
  readonly onCommit: (transaction: Transaction) => void;
  /** Called for a staged transaction that is certainly not on disk, or, with `mayBeStored`, if that is unknown. */
  readonly onDrop: (transaction: Transaction, mayBeStored?: boolean) => void;
  readonly changes: ChangeLog;
  /** Keys that the next batch also removes: garbage entries (`garbageKey`) of removed blobs. */
  readonly forgotten: Set<string>;
  readonly onFailure: (error: unknown) => void;
  /** Called when a batch is on disk. */
  readonly onBatch: (batch: WrittenBatch) => void;
}

/** A staged transaction that is not on disk yet. */
interface Measured {
  readonly transaction: Transaction;
  readonly sequence: number;
  /** Approximate size of the transaction's batch, in bytes. */
  readonly bytes: number;
  /** Bytes counted against the quota after this transaction, without later staged transactions. */
  readonly total: number;
}

export interface PendingCommit extends Measured {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** A batch in doubt, its transactions (`group`), and the transactions that wait for the next batch (`behind`). */
export interface Doubt {
  readonly batch: string;
  readonly group: readonly PendingCommit[];
  readonly behind: readonly PendingCommit[];
}

/** Size of a batch from which disk space is checked. Smaller batches fit into the space reserved by `DiskSpace`. */
const largeBatch = 4 << 20;

/** Counts of resources and quads. */
export interface Counts {
  readonly resources: number;
  /** Count of quads, including linksets, and graphs that are being written or removed. */
  readonly quads: number;
}

const countsIn = (level: Level): Counts => ({
  resources: countedResources(level),
  quads: Number(level.getSync(metaKey('quads')) ?? 0),
});

export class CommitQueue {
  protected readonly state: OverlaidState;
  protected pending: PendingCommit[] = [];
  private writer: Promise<unknown> = Promise.resolve();
  protected flushing: Promise<void> | undefined;
  protected lastCommit: Promise<void> = Promise.resolve();
  protected sequence = 0;
  /** Count of transactions that wait, run or are not written yet. */
  waiting = 0;
  /** Approximate size of the batch being written, in bytes. */
  private writing = 0;
  protected failure: unknown;
  private doubt: Doubt | undefined;
  private readonly staging: StagingAhead;
  /** Counts after the last batch. */
  counts: Counts;

  constructor(protected readonly options: CommitQueueOptions) {
    this.counts = countsIn(options.level);
    this.state = new OverlaidState(options.committed, options.bytes);
    this.staging = new StagingAhead(this.state, options);
  }

  /** True if a batch could not be written. No other batch is written until LevelDB has been reopened. */
  get hasFailed(): boolean {
    return this.failure !== undefined;
  }

  /** Deleted subtrees that are being removed. */
  get removedSubtrees(): readonly string[] {
    return this.state.removedSubtrees;
  }

  noteSubtree(container: string): void {
    this.state.noteSubtree(container);
  }

  /** Bytes counted against the quota, including commits in progress. */
  get bytes(): number {
    return this.state.bytes;
  }

  /**
   * Runs `work` while no other transaction runs, commits the staged changes, and returns its result when they are on disk.
   * @throws errors of `work`, with nothing written; LwsError `quota-exceeded`, `storage-full` if the disk rejects the batch
   */
  async transact<T>(work: Work<T>, options: TransactOptions = {}): Promise<T> {
    const { frees = false, onStaged, before, ahead, isDryRun } = options;
    this.waiting++;
    let staged: StagedAhead | undefined;
    let isWritten = false;
    try {
      if (ahead) {
        await this.alone(async () => {
          if (this.hasFailed) throw this.refusal();
          this.staging.reserve(ahead);
        });
        staged = await this.staging.stage(ahead);
      }
      const { result, committed } = await this.alone(async () => {
        if (this.hasFailed) throw this.refusal();
        await this.admitted();
        if (staged && !staged.isCurrent()) throw new Again(async () => {});
        const transaction = staged?.transaction ?? new Transaction(before?.(this.state) ?? this.state);
        // Other transactions may have changed the cached records since.
        if (staged) transaction.read.clear();
        const result = await work(transaction);
        if (isDryRun) return { result, committed: undefined };
        if (!frees) this.assertQuota(transaction);
        if (transaction.changes.length > 0 || transaction.announcements.length > 0 || transaction.hidden.size > 0)
          for (const each of this.options.listeners) if (!staged?.told.includes(each)) await each[0](transaction);
        await this.options.complete(transaction);
        transaction.seal();
        // Check the space before the write: after a batch that the disk has rejected, the store is read-only.
        const underWay = this.flushing ? this.pending.reduce((sum, { bytes }) => sum + bytes, this.writing) : 0;
        const bytes = sizeOfBatch(transaction);
        const needed = underWay + bytes;
        if (needed > largeBatch) await this.options.assertSpace(needed, frees);
        // If an earlier batch has failed meanwhile, the state that `work` has seen was never stored.
        if (this.failure !== undefined) throw this.refusal();
        isWritten = true;
        const committed = this.stage(transaction, bytes, onStaged);
        staged?.release();
        return { result, committed };
      });
      await committed;
      return result;
    } finally {
      this.waiting--;
      staged?.release();
      if (!isWritten) await staged?.transaction.prepared?.batch.close();
    }
  }

  /** Returns the name of a container while a transaction that is being staged reserves it. */
  reservation(container: string): string | undefined {
    return this.state.reserved.has(container) ? container : undefined;
  }

  private assertQuota({ bytes }: Transaction): void {
    const { quotaBytes } = this.options;
    if (quotaBytes > 0 && bytes > quotaBytes && bytes > this.bytes) throw quotaExceeded();
  }

  protected alone<T>(work: () => Promise<T>): Promise<T> {
    const run = this.writer.then(work);
    this.writer = run.catch(() => {});
    return run;
  }

  /** Adds a finished transaction to the overlay and queues it. Resolves when it is durable. */
  private stage(transaction: Transaction, bytes: number, onStaged?: () => void): Promise<void> {
    // A transaction without changes is acknowledged after the transactions whose changes it may have read.
    if (transaction.isEmpty) return this.lastCommit;
    this.options.changes.number(transaction);
    this.options.onStage(transaction);
    const commit = this.measured(transaction, bytes);
    const committed = new Promise<void>((resolve, reject) => {
      this.pending.push({ resolve, reject, ...commit });
    });
    this.state.lay(transaction, commit.sequence, committed);
    this.lastCommit = committed;
    // The caller of `transact` gets the rejection. If no caller waits, the rejection must not count as unhandled.
    committed.catch(() => {});
    this.flushSoon();
    onStaged?.();
    return committed;
  }

  /** Assigns a sequence number to a transaction that is about to be staged, and measures it. */
  protected measured(transaction: Transaction, bytes = sizeOfBatch(transaction)): Measured {
    return { transaction, sequence: ++this.sequence, bytes, total: transaction.bytes };
  }

  /** Resolves when a transaction may start; `undefined` for immediately. */
  protected admitted(): Promise<void> | undefined {
    return undefined;
  }

  /** Starts to write the staged transactions, unless a write is running. */
  protected flushSoon(): void {
    this.flushing ??= this.flush().finally(() => {
      this.flushing = undefined;
      // More transactions may have been staged since the last check.
      if (this.pending.length > 0) this.flushSoon();
    });
  }

  private async flush(): Promise<void> {
    // Yield once, so that transactions that are waiting now join the first batch.
    await yieldToEventLoop();
    while (this.pending.length > 0) if (!(await this.writeGroup(this.takeGroup()))) return;
  }

  /**
   * Writes transactions in one batch and settles them.
   * @param fillPlace records the row of the transactions in the shared journal; absent: no journal, and the batch is synced
   * @returns false if the batch failed; its transactions are then rejected
   */
  protected async writeGroup(
    group: readonly PendingCommit[],
    fillPlace?: (batch: BatchWriter) => void,
  ): Promise<boolean> {
    this.writing = group.reduce((sum, { bytes: own }) => sum + own, 0);
    const [began, bytes, name] = [performance.now(), String(group.at(-1)!.total), loggedBatch + randomUUID()];
    const forgotten = [...this.options.forgotten];
    const { batchWriter, prepared } = group.at(-1)!.transaction;
    let { resources, quads } = this.counts;
    for (const { transaction } of group) {
      resources += transaction.resourcesDelta;
      quads += quadsChange(transaction);
    }
    const isOutdated = outdatedIn(group);
    const fill = async (batch: BatchWriter): Promise<void> => {
      for (const { transaction } of group) await fillBatch(batch, transaction, isOutdated);
      await this.options.changes.write(batch, group);
      for (const key of forgotten) batch.del(key);
      // `settleDoubt` reads this name to find out if this batch is on disk.
      batch.put(metaKey('batch'), name);
      const digests = group.map(({ transaction }) => transaction.digests);
      writeDigests(batch, this.options.level, digests);
      batch.put(metaKey('quads'), String(quads));
      batch.put(...resourceCounter(resources, name));
      fillPlace?.(batch);
    };
    try {
      const last = [metaKey('bytes'), bytes] as const;
      // With several servers, LevelDB is a replica, and the journal contains what a crash loses: no sync is needed.
      const write = fillPlace === undefined ? writeBatch : writeUnsynced;
      if (batchWriter) await writeWithPartner(batchWriter, fill, last);
      else await write(prepared?.batch ?? this.options.level, fill, () => last);
    } catch (error) {
      this.fail(error, { batch: name, group, behind: this.pending });
      return false;
    }
    this.counts = { resources, quads };
    for (const key of forgotten) this.options.forgotten.delete(key);
    for (const commit of group) this.settle(commit);
    const seconds = (performance.now() - began) / 1000;
    this.options.onBatch({ transactions: group.length, bytes: this.writing, seconds });
    return true;
  }

  /** Returns the transactions of the next batch: all waiting ones, up to the first with a bulk writer or a prepared batch. */
  private takeGroup(): PendingCommit[] {
    const at = this.pending.findIndex(({ transaction }) => transaction.batchWriter ?? transaction.prepared);
    return this.pending.splice(0, at < 0 ? this.pending.length : at + 1);
  }

  /** Settles a transaction whose batch is on disk: readers see its changes, which are removed from the overlay. */
  protected settle({ transaction, sequence, resolve }: PendingCommit): void {
    this.options.changes.settled(transaction);
    this.options.onCommit(transaction);
    this.state.lift(transaction, sequence);
    resolve();
  }

  /**
   * Rejects writes after a failed batch until LevelDB has been reopened: its log may end in half a record, after which nothing
   * must be written. All acknowledged transactions are on disk and readable.
   */
  protected fail(error: unknown, doubt: Doubt): void {
    this.failure = error;
    this.staging.failures++;
    this.doubt = doubt;
    this.pending = [];
    this.state.clear();
    for (const { transaction } of doubt.behind) void transaction.prepared?.batch.close();
    for (const { reject } of [...doubt.group, ...doubt.behind]) reject(commitInDoubt(error));
    this.options.onFailure(error);
  }

  protected refusal(): Error {
    return storageFull('a batch could not be written; the store is read-only until it is opened again', this.failure);
  }

  /**
   * Makes the store writable after a failed batch, while no transaction runs. LevelDB shows if the batch in doubt was stored.
   * @param reopen reopens LevelDB
   * @returns true if the batch is on disk
   * @throws errors of `reopen` and LevelDB; the store is then unchanged
   */
  recover(reopen: () => Promise<void>): Promise<boolean> {
    return this.alone(async () => {
      await this.quiet();
      await reopen();
      const { level } = this.options;
      const bytes = level.getSync(metaKey('bytes')) ?? '0';
      const wasStored = this.settleDoubt(this.doubt!);
      await this.options.changes.recover();
      await putSynced(level, metaKey('bytes'), bytes);
      this.state.bytes = Number(bytes);
      this.counts = countsIn(level);
      this.lastCommit = Promise.resolve();
      this.failure = undefined;
      return wasStored;
    });
  }

  protected quiet(): Promise<void> | undefined {
    return this.flushing;
  }

  /** Notifies the listeners of the transactions in doubt after LevelDB was reopened. @returns true if the batch is on disk */
  protected settleDoubt({ batch, group, behind }: Doubt): boolean {
    const { level, onCommit, onDrop } = this.options;
    const wasStored = level.getSync(metaKey('batch')) === batch;
    for (const { transaction } of group) (wasStored ? onCommit : onDrop)(transaction);
    for (const { transaction } of behind) onDrop(transaction);
    this.doubt = { batch, group: [], behind: [] };
    return wasStored;
  }

  /** Waits for running transactions and batches. */
  async idle(): Promise<void> {
    await this.writer;
    await this.flushing;
  }
}
