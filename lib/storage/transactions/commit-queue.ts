/**
 * The commit queue: one transaction runs at a time, on the state that all earlier ones leave, also those whose batch is still being
 * written. The transactions that have run while one batch was being written go into the next (group commit). One that throws leaves
 * the others as they are, and none is acknowledged before its batch is synced.
 */
import { randomUUID } from 'node:crypto';
import type { WrittenBatch } from '../../metrics.js';
import type { IndexSet } from '../keys/index-set.js';
import { metaKey } from '../keys/records.js';
import { commitInDoubt } from '../level/commit-in-doubt.js';
import { storageFull } from '../level/disk-space.js';
import { type BatchWriter, type Level, putSynced, writeBatch, writeUnsynced } from '../level/durable-level.js';
import { quotaExceeded } from '../level/quota.js';
import { fillBatch, quadsOf, sizeOfBatch, yieldToEventLoop } from './batch-filling.js';
import { writeWithPartner } from './batch-writer.js';
import { type ChangeLog, loggedBatch } from './change-log.js';
import { IndexBackfill, type KeptQuads } from './index-backfill.js';
import { type CommittedState, OverlaidState } from './overlaid-state.js';
import { Transaction } from './transaction.js';

/** The work of a transaction: reads, checks, and stages changes. */
export type Work<T> = (transaction: Transaction) => Promise<T> | T;

export interface TransactOptions {
  /** The work only deletes, which the quota never refuses, and which is let through when the disk is nearly full. */
  readonly frees?: boolean;
  /** Called when the transaction is staged: later ones see its changes, and only the disk can still refuse it. */
  readonly onStaged?: () => void;
}

export interface CommitQueueOptions {
  readonly level: Level;
  readonly committed: CommittedState;
  /** Bytes that count against the quota, as the last batch left them. */
  readonly bytes: number;
  /** The quota for these bytes; 0: none. */
  readonly quotaBytes: number;
  /** Refuses a batch that the disk might not take. */
  readonly assertSpace: (bytes: number, frees: boolean) => Promise<void>;
  /** Called in every transaction that changed something, after its work: what they stage is part of it. */
  readonly listeners: readonly TransactionListener[];
  /** Called for each transaction of another server, before readers here can see its changes. */
  readonly foreignListeners: readonly TransactionListener[];
  /** Called when a transaction is going to be written, before any reader can see its changes. */
  readonly onStage: (transaction: Transaction) => void;
  /** Called when a transaction is on the disk, before it is acknowledged. */
  readonly onCommit: (transaction: Transaction) => void;
  /** Called for a staged transaction when it is certain that it is not on the disk, or, with `mayBeStored`, when that stays unknown. */
  readonly onDrop: (transaction: Transaction, mayBeStored?: boolean) => void;
  readonly changes: ChangeLog;
  /** Further keys that the next batch removes: the notes (`garbageKey`) of blobs that have been removed. */
  readonly forgotten: Set<string>;
  readonly onFailure: (error: unknown) => void;
  /** Called when a batch is on the disk. */
  readonly onBatch: (batch: WrittenBatch) => void;
  /** Called when quads have keys in other orders from here on. */
  readonly onOrders: (kept: KeptQuads) => void;
}

export type TransactionListener = (transaction: Transaction) => void | Promise<void>;

/** A transaction that was staged and is not on the disk yet. */
interface Measured {
  readonly transaction: Transaction;
  readonly sequence: number;
  /** Bytes of its batch, about. */
  readonly bytes: number;
  /** Bytes that count against the quota after this transaction; later ones may be staged already. */
  readonly total: number;
}

export interface PendingCommit extends Measured {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** A batch that may or may not be on the disk, its transactions (`group`), and those that waited for the next batch (`behind`). */
export interface Doubt {
  readonly batch: string;
  readonly group: readonly PendingCommit[];
  readonly behind: readonly PendingCommit[];
}

/** Smaller batches fit into the space that `DiskSpace` keeps free, and need no check of their own. */
const largeBatch = 4 << 20;
/** Steps of growth after a batch of a partner: an import must not bring quads faster than the growth overtakes them. */
const stepsBehindPartner = 24;

export class CommitQueue {
  protected readonly state: OverlaidState;
  protected pending: PendingCommit[] = [];
  private writer: Promise<unknown> = Promise.resolve();
  protected flushing: Promise<void> | undefined;
  protected lastCommit: Promise<void> = Promise.resolve();
  protected sequence = 0;
  /** How many transactions wait, run or are not written yet. */
  waiting = 0;
  /** Bytes of the batch that is being written, about. */
  private writing = 0;
  protected failure: unknown;
  private doubt: Doubt | undefined;
  protected readonly growth: IndexBackfill;
  private reordering: Promise<void> | undefined;

  constructor(protected readonly options: CommitQueueOptions) {
    this.growth = new IndexBackfill(options.level);
    this.state = new OverlaidState(options.committed, options.bytes);
  }

  /** A batch could not be written; no other one is written until LevelDB has been opened again. */
  get hasFailed(): boolean {
    return this.failure !== undefined;
  }

  /** Bytes that count against the quota, those of commits under way included. */
  get bytes(): number {
    return this.state.bytes;
  }

  /** What the last batch left. */
  get kept(): KeptQuads {
    return this.growth;
  }

  /** Gives the quads all orders, or one, between other batches and in them. Resolves when they have them, or when it is broken off. */
  reorder(wanted: IndexSet): Promise<void> {
    this.growth.wanted = wanted;
    this.reordering ??= this.growOn().finally(() => {
      this.reordering = undefined;
      // After a failure it goes on when LevelDB was opened again.
      if (!this.hasFailed) this.growth.wanted = undefined;
    });
    return this.reordering;
  }

  /**
   * Runs `work` while no other transaction runs, then commits what it staged, and returns its result when that is on the disk.
   * @throws what `work` throws, and then nothing is written; LwsError `quota-exceeded`, `storage-full` when the disk refuses
   *   the batch
   */
  async transact<T>(work: Work<T>, { frees = false, onStaged }: TransactOptions = {}): Promise<T> {
    this.waiting++;
    try {
      const { result, committed } = await this.alone(async () => {
        if (this.hasFailed) throw this.refusal();
        await this.admitted();
        const transaction = new Transaction(this.state);
        const result = await work(transaction);
        if (!frees) this.assertQuota(transaction);
        if (transaction.changes.length > 0 || transaction.announcements.length > 0)
          for (const listener of this.options.listeners) await listener(transaction);
        // After a batch that the disk did not take, the store is read-only.
        const underWay = this.flushing ? this.pending.reduce((sum, { bytes }) => sum + bytes, this.writing) : 0;
        const needed = underWay + sizeOfBatch(transaction, this.growth.orders);
        if (needed > largeBatch) await this.options.assertSpace(needed, frees);
        // An earlier batch may have failed meanwhile: then the state that `work` saw was never stored.
        if (this.failure !== undefined) throw this.refusal();
        return { result, committed: this.stage(transaction, onStaged) };
      });
      await committed;
      return result;
    } finally {
      this.waiting--;
    }
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

  /** Lays a finished transaction over the state and queues it. Returns when it is durable. */
  private stage(transaction: Transaction, onStaged?: () => void): Promise<void> {
    // A transaction without changes is acknowledged after those whose changes it may have seen.
    if (transaction.isEmpty) return this.lastCommit;
    this.options.changes.number(transaction);
    this.options.onStage(transaction);
    const commit = this.measured(transaction);
    const committed = new Promise<void>((resolve, reject) => {
      this.pending.push({ ...commit, resolve, reject });
    });
    this.state.lay(transaction, commit.sequence, committed);
    this.lastCommit = committed;
    // The caller of `transact` gets the rejection. Without one waiting, it must not count as unhandled.
    committed.catch(() => {});
    this.flushSoon();
    onStaged?.();
    return committed;
  }

  /** A transaction about to be staged, with its sizes. */
  protected measured(transaction: Transaction): Measured {
    const bytes = sizeOfBatch(transaction, this.growth.orders);
    return { transaction, sequence: ++this.sequence, bytes, total: transaction.bytes };
  }

  /** Resolves when a transaction may begin; `undefined`: at once. */
  protected admitted(): Promise<void> | undefined {
    return undefined;
  }

  /** Something was staged. */
  protected flushSoon(): void {
    this.flushing ??= this.flush().finally(() => {
      this.flushing = undefined;
      // Something may have come after the last look.
      if (this.hasWork) this.flushSoon();
    });
  }

  /** Takes all steps of the growth. */
  protected async growOn(): Promise<void> {
    this.flushSoon();
    await this.flushing;
  }

  private get hasWork(): boolean {
    return this.pending.length > 0 || (this.growth.isUnderWay && !this.hasFailed);
  }

  private async flush(): Promise<void> {
    // One turn of the event loop, so that the transactions that wait for their turn right now join the first batch.
    await yieldToEventLoop();
    while (this.hasWork) {
      const group = this.takeGroup();
      if (group.length > 0 && !(await this.writeGroup(group))) return;
      const steps = group.length === 0 ? 1 : group.at(-1)!.transaction.batchWriter ? stepsBehindPartner : 0;
      const isUrgent = (): boolean => this.pending.some(({ transaction }) => !transaction.batchWriter);
      for (let step = 0; step < steps && !isUrgent(); step++) if (!(await this.step())) return;
    }
  }

  /** Takes the growth a step further. @returns false when the batch failed */
  protected async step(): Promise<boolean> {
    const { level } = this.options;
    let { orders } = this.growth;
    const fill = async (batch: BatchWriter): Promise<void> => {
      orders = await this.growth.fill(batch);
    };
    try {
      if (this.growth.isUnderWay) await writeBatch(level, fill, () => [metaKey('orders'), orders.text]);
    } catch (error) {
      this.fail(error, { batch: '', group: [], behind: this.pending });
      return false;
    }
    this.keep(orders, this.growth.quads);
    return true;
  }

  /** Notes what a batch has left. */
  private keep(orders: IndexSet, quads: number): void {
    const isOther = orders.isComplete !== this.growth.orders.isComplete;
    Object.assign(this.growth, { orders, quads });
    if (isOther) this.options.onOrders(this.growth);
  }

  /**
   * Writes transactions in one batch and settles them.
   * @param fillPlace notes their row in the journal that servers share; absent: there is none, and the batch is synced
   * @returns false when the batch failed; its transactions are rejected then
   */
  protected async writeGroup(
    group: readonly PendingCommit[],
    fillPlace?: (batch: BatchWriter) => void,
  ): Promise<boolean> {
    this.writing = group.reduce((sum, { bytes: own }) => sum + own, 0);
    const [began, bytes, name] = [performance.now(), String(group.at(-1)!.total), loggedBatch + randomUUID()];
    const forgotten = [...this.options.forgotten];
    const { batchWriter } = group.at(-1)!.transaction;
    let { orders, quads } = this.growth;
    for (const { transaction } of group) quads += quadsOf(transaction);
    const fill = async (batch: BatchWriter): Promise<void> => {
      // A partner has filled its part with the orders of before.
      if (!batchWriter) orders = await this.growth.fill(batch, quads - this.growth.quads);
      for (const { transaction } of group) await fillBatch(batch, transaction, orders);
      await this.options.changes.write(batch, group);
      for (const key of forgotten) batch.del(key);
      // `settleDoubt` reads this name to find out whether this batch is on the disk.
      batch.put(metaKey('batch'), name);
      batch.put(metaKey('quads'), String(quads));
      fillPlace?.(batch);
    };
    try {
      const last = [metaKey('bytes'), bytes] as const;
      // Several servers: LevelDB is a copy here, and what a crash takes from it is in the journal.
      const write = fillPlace === undefined ? writeBatch : writeUnsynced;
      await (batchWriter
        ? writeWithPartner({ partner: batchWriter, orders }, fill, last)
        : write(this.options.level, fill, () => last));
    } catch (error) {
      this.fail(error, { batch: name, group, behind: this.pending });
      return false;
    }
    this.keep(orders, quads);
    for (const key of forgotten) this.options.forgotten.delete(key);
    for (const commit of group) this.settle(commit);
    const seconds = (performance.now() - began) / 1000;
    this.options.onBatch({ transactions: group.length, bytes: this.writing, seconds });
    return true;
  }

  /** The transactions of the next batch: all that wait, up to and with the first that has a partner. */
  private takeGroup(): PendingCommit[] {
    const at = this.pending.findIndex(({ transaction }) => transaction.batchWriter);
    return this.pending.splice(0, at < 0 ? this.pending.length : at + 1);
  }

  /** The batch is on the disk: its changes leave the overlay, because readers see them now. */
  protected settle({ transaction, sequence, resolve }: PendingCommit): void {
    this.options.changes.settled(transaction);
    this.options.onCommit(transaction);
    this.state.lift(transaction, sequence);
    resolve();
  }

  /**
   * A batch could not be written. LevelDB's log may end in half a record, after which nothing must be written: the
   * store takes no further write until LevelDB is opened again. Everything acknowledged is on the disk, and readable.
   */
  protected fail(error: unknown, doubt: Doubt): void {
    this.failure = error;
    this.doubt = doubt;
    this.pending = [];
    this.state.clear();
    for (const { reject } of [...doubt.group, ...doubt.behind]) reject(commitInDoubt(error));
    this.options.onFailure(error);
  }

  protected refusal(): Error {
    return storageFull('a batch could not be written; the store is read-only until it is opened again', this.failure);
  }

  /**
   * Makes the store writable after a failed batch, while no transaction runs. LevelDB shows whether the batch in doubt was stored.
   * @param reopen opens LevelDB again
   * @returns whether the batch is on the disk
   * @throws what `reopen` throws, and the error of LevelDB; then the store stays as it is
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
      this.growth.read();
      this.lastCommit = Promise.resolve();
      this.failure = undefined;
      if (this.growth.isUnderWay) void this.reorder(this.growth.wanted!);
      return wasStored;
    });
  }

  protected quiet(): Promise<void> | undefined {
    return this.flushing;
  }

  /** Tells the listeners, after LevelDB was opened again, which transactions in doubt are stored. @returns whether the batch is */
  protected settleDoubt({ batch, group, behind }: Doubt): boolean {
    const { level, onCommit, onDrop } = this.options;
    const wasStored = level.getSync(metaKey('batch')) === batch;
    for (const { transaction } of group) (wasStored ? onCommit : onDrop)(transaction);
    for (const { transaction } of behind) onDrop(transaction);
    this.doubt = { batch, group: [], behind: [] };
    return wasStored;
  }

  /** Waits for the transactions and batches under way; the growth is broken off. */
  async idle(): Promise<void> {
    this.growth.wanted = undefined;
    await Promise.all([this.writer, this.reordering]);
    await this.flushing;
  }
}
