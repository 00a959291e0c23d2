/**
 * The commit queue: one transaction runs at a time, on the state that all earlier ones leave, also those whose batch is still being
 * written. Whatever has run while one batch was on its way to the disk goes into the next (group commit); each keeps its own verdict, and
 * none is acknowledged before its batch is synced.
 */
import { randomUUID } from 'node:crypto';
import type { WrittenBatch } from '../../measures.js';
import { type ChangeLog, loggedBatch } from '../log/change-log.js';
import { metaKey } from '../state/records.js';
import { breathe, fillBatch, sizeOfBatch } from './batch-filling.js';
import { writeWithPartner } from './batch-partner.js';
import { commitInDoubt } from './commit-in-doubt.js';
import { storageFull } from './disk-space.js';
import { type BatchWriter, type Level, putSynced, writeBatch, writeUnsynced } from './durable-level.js';
import { type CommittedState, OverlaidState } from './overlaid-state.js';
import { quotaExceeded } from './quota.js';
import { Transaction } from './transaction.js';

/** What a transaction does. */
export type Work<T> = (transaction: Transaction) => Promise<T> | T;

export interface TransactOptions {
  /** The work only deletes, which the quota never refuses, and which is let through when the disk is nearly full. */
  readonly frees?: boolean;
  /** Called when nothing but the disk can refuse it any more: what begins now sees it. */
  readonly onStaged?: () => void;
}

export interface CommitQueueOptions {
  readonly level: Level;
  readonly committed: CommittedState;
  /** Bytes that count against the quota, as the last batch left them. */
  readonly bytes: number;
  /** The most that these may be; 0: any number. */
  readonly quotaBytes: number;
  /** Refuses a batch that the disk might not take. */
  readonly assertSpace: (bytes: number, frees: boolean) => Promise<void>;
  /** Called in every transaction that changed something, after its work: what they stage is part of it. */
  readonly listeners: readonly TransactionListener[];
  /** Called when a transaction is going to be written, before anybody can read of it. */
  readonly onStage: (transaction: Transaction) => void;
  /** Called when a transaction is on the disk, before it is acknowledged. */
  readonly onCommit: (transaction: Transaction) => void;
  /** Called for a transaction that was staged, when it is known that it never comes to the disk, or `mayBeStored`. */
  readonly onDrop: (transaction: Transaction, mayBeStored?: boolean) => void;
  readonly changes: ChangeLog;
  /** Keys that the next batch removes besides. */
  readonly forgotten: Set<string>;
  readonly onFailure: (error: unknown) => void;
  /** Called when a batch is on the disk. */
  readonly onBatch: (batch: WrittenBatch) => void;
}

export type TransactionListener = (transaction: Transaction) => void | Promise<void>;

interface Measured {
  readonly transaction: Transaction;
  readonly sequence: number;
  /** Of its batch, about. */
  readonly bytes: number;
  /** Bytes that count against the quota after it; more may be staged already. */
  readonly total: number;
}

export interface PendingCommit extends Measured {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** A transaction that is about to be laid over the state. */
export const measured = (transaction: Transaction, sequence: number): Measured => ({
  ...{ transaction, sequence },
  ...{ bytes: sizeOfBatch(transaction), total: transaction.bytes },
});

/** A batch of which nobody knows whether it is on the disk, and what waited after it. */
export interface Doubt {
  readonly batch: string;
  readonly group: readonly PendingCommit[];
  readonly behind: readonly PendingCommit[];
}

/** A smaller batch fits what is kept free for it. */
const largeBatch = 4 << 20;

export class CommitQueue {
  protected readonly state: OverlaidState;
  protected pending: PendingCommit[] = [];
  private writer: Promise<unknown> = Promise.resolve();
  protected flushing: Promise<void> | undefined;
  protected lastCommit: Promise<void> = Promise.resolve();
  protected sequence = 0;
  /** Transactions that were begun or wait to be, and are not written yet. */
  waiting = 0;
  /** Bytes of the batch that is being written, about. */
  private writing = 0;
  protected failure: unknown;
  private doubt: Doubt | undefined;

  constructor(protected readonly options: CommitQueueOptions) {
    this.state = new OverlaidState(options.committed, options.bytes);
  }

  /** A batch could not be written, and nothing is until LevelDB was opened again. */
  get hasFailed(): boolean {
    return this.failure !== undefined;
  }

  /** Bytes that count against the quota, those of commits under way included. */
  get bytes(): number {
    return this.state.bytes;
  }

  /**
   * Runs `work` alone, then commits what it staged, and returns its result when that is on the disk.
   * @throws what `work` throws, and then nothing is written; LwsError `quota-exceeded`, `storage-full` when the disk refuses
   *   the batch
   */
  async transact<T>(work: Work<T>, options: TransactOptions = {}): Promise<T> {
    this.waiting++;
    try {
      return await this.runAndCommit(work, options);
    } finally {
      this.waiting--;
    }
  }

  private async runAndCommit<T>(work: Work<T>, { frees = false, onStaged }: TransactOptions): Promise<T> {
    const { result, committed } = await this.alone(async () => {
      if (this.hasFailed) throw this.refusal();
      const admitted = this.admitted();
      if (admitted) await admitted;
      const transaction = new Transaction(this.state);
      const result = await work(transaction);
      if (!frees) this.assertQuota(transaction);
      if (transaction.changes.length > 0 || transaction.announcements.length > 0)
        for (const listener of this.options.listeners) await listener(transaction);
      await this.assertSpace(sizeOfBatch(transaction), frees);
      // The batch before it may have failed meanwhile, and with it the state that this one saw.
      if (this.failure !== undefined) throw this.refusal();
      return { result, committed: this.stage(transaction, onStaged) };
    });
    await committed;
    return result;
  }

  /** After a batch that the disk did not take, nothing more can be written; so a large one asks before. */
  private async assertSpace(bytes: number, frees: boolean): Promise<void> {
    const underWay = this.flushing ? this.pending.reduce((sum, { bytes: own }) => sum + own, this.writing) : 0;
    if (bytes + underWay > largeBatch) await this.options.assertSpace(bytes + underWay, frees);
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
    // What it saw may not be durable yet, and its answer tells of it.
    if (transaction.isEmpty) return this.lastCommit;
    this.options.changes.number(transaction);
    this.options.onStage(transaction);
    const commit = measured(transaction, ++this.sequence);
    const committed = new Promise<void>((resolve, reject) => {
      this.pending.push({ ...commit, resolve, reject });
    });
    this.state.lay(transaction, commit.sequence, committed);
    this.lastCommit = committed;
    // Whoever waits for it hears of a failure; when nobody does, it is no unhandled one.
    committed.catch(() => {});
    this.flushSoon();
    onStaged?.();
    return committed;
  }

  /** Resolves when a transaction may begin; `undefined`: at once. */
  protected admitted(): Promise<void> | undefined {
    return undefined;
  }

  /** Something was staged. */
  protected flushSoon(): void {
    this.flushing ??= this.flush().finally(() => {
      this.flushing = undefined;
    });
  }

  private async flush(): Promise<void> {
    // The transactions that are waiting for the writer right now join the first batch.
    await breathe();
    while (this.pending.length > 0) {
      if (!(await this.writeGroup(this.takeGroup()))) return;
    }
  }

  /**
   * Writes transactions in one batch, which settles them.
   * @param fillPlace notes their row in the journal that servers share; absent: there is none, and the batch is synced
   * @returns false when it failed, which was dealt with
   */
  protected async writeGroup(
    group: readonly PendingCommit[],
    fillPlace?: (batch: BatchWriter) => void,
  ): Promise<boolean> {
    this.writing = group.reduce((sum, { bytes: own }) => sum + own, 0);
    const [began, bytes, name] = [performance.now(), String(group.at(-1)!.total), loggedBatch + randomUUID()];
    const forgotten = [...this.options.forgotten];
    const fill = async (batch: BatchWriter): Promise<void> => {
      for (const { transaction } of group) await fillBatch(batch, transaction);
      await this.options.changes.write(batch, group);
      for (const key of forgotten) batch.del(key);
      // Says later whether this batch is on the disk.
      batch.put(metaKey('batch'), name);
      fillPlace?.(batch);
    };
    try {
      const { partner } = group.at(-1)!.transaction;
      const last = [metaKey('bytes'), bytes] as const;
      // What is lost of a copy is in the journal.
      const write = fillPlace === undefined ? writeBatch : writeUnsynced;
      await (partner ? writeWithPartner(partner, fill, last) : write(this.options.level, fill, () => last));
    } catch (error) {
      this.fail(error, { batch: name, group, behind: this.pending });
      return false;
    }
    for (const key of forgotten) this.options.forgotten.delete(key);
    for (const commit of group) this.settle(commit);
    const seconds = (performance.now() - began) / 1000;
    this.options.onBatch({ transactions: group.length, bytes: this.writing, seconds });
    return true;
  }

  /** What goes into one batch: all that waits, up to the first that has a partner. */
  private takeGroup(): PendingCommit[] {
    const at = this.pending.findIndex(({ transaction }) => transaction.partner);
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
   * store takes no further write until it is opened again. Everything acknowledged is on the disk, and readable.
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
   * Goes on after a failed batch, while no transaction runs: what was in doubt is settled, or dropped, as LevelDB has it.
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
      this.lastCommit = Promise.resolve();
      this.failure = undefined;
      return wasStored;
    });
  }

  protected quiet(): Promise<void> | undefined {
    return this.flushing;
  }

  /** LevelDB is open again and says what was stored. @returns whether the batch was */
  protected settleDoubt({ batch, group, behind }: Doubt): boolean {
    const { level, onCommit, onDrop } = this.options;
    const wasStored = level.getSync(metaKey('batch')) === batch;
    for (const { transaction } of group) (wasStored ? onCommit : onDrop)(transaction);
    for (const { transaction } of behind) onDrop(transaction);
    this.doubt = { batch, group: [], behind: [] };
    return wasStored;
  }

  /** Waits for the transactions and batches under way. */
  async idle(): Promise<void> {
    await this.writer;
    await this.flushing;
  }
}
