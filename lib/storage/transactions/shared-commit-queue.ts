/**
 * Commit queue of a storage with several servers. Groups of transactions become rows of a journal, and every server applies all
 * rows to its replica. A `CommitOrder` determines when transactions run and the order of rows.
 */
import { LwsError, tooBusy } from '../../tools/errors.js';
import type { JournalPlace, Replica } from '../graphs/replica.js';
import { featuresKey, newTerms, readFeatures } from '../keys/features.js';
import { metaKey } from '../keys/records.js';
import { asInDoubt } from '../level/commit-in-doubt.js';
import { CommitQueue, type CommitQueueOptions, type Doubt, type PendingCommit } from './commit-queue.js';
import { settleKeptBlobs } from './kept-blobs.js';
import { readChanges, writeChanges } from './shared-change.js';

/** Orders the commits of all servers. */
export interface CommitOrder {
  readonly replica: Replica;
  /** Called before a transaction runs. Resolves when it may run. Returns undefined if it may run at once. @throws LwsError `too-busy` */
  admitted(): Promise<void> | undefined;
  /** Runs work on the replica while no row is applied. */
  alone(work: () => Promise<unknown>): Promise<unknown>;
  /** Called when LevelDB was reopened after a failed batch: rows after `replica.place` must be applied again. */
  reopened(): void;
}

/** Maximum size of a transaction and of its row, in bytes. Strings may be twice as long, and servers have several copies. */
const maxBytes = 256 << 20;

export class SharedCommitQueue extends CommitQueue {
  private readonly order: CommitOrder;

  constructor(options: CommitQueueOptions, order: (queue: SharedCommitQueue) => CommitOrder) {
    const assertSpace = async (bytes: number, frees: boolean): Promise<void> => {
      if (bytes > maxBytes)
        throw new LwsError('too-large', 'The transaction is too large for several servers. Split it.', {
          reason: `the changes of one transaction have about ${bytes} bytes`,
        });
      await options.assertSpace(bytes, frees);
    };
    super({ ...options, assertSpace });
    this.order = order(this);
  }

  /** Size of the staged transactions in bytes. */
  get stagedBytes(): number {
    return this.pending.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Runs work after the transactions that are queued by now. */
  after(work: () => Promise<void>): void {
    this.flushing = this.alone(work);
  }

  /** Removes the staged transactions from the queue. The caller must `commit` or `reject` them. */
  take(): readonly PendingCommit[] {
    return this.pending.splice(0);
  }

  /** Returns the body of the row for a group, and true if the group adds the first terms of RDF 1.2. */
  rowOf(group: readonly PendingCommit[]): readonly [body: Buffer, hasNewTerms: boolean] {
    const transactions = group.map(({ transaction }) => transaction);
    const hasNewTerms = transactions.some(({ entries }) => readFeatures(entries.get(featuresKey) ?? '').has(newTerms));
    return [writeChanges(transactions), hasNewTerms];
  }

  /** Writes a group to the replica and acknowledges it. Call it when the row is in the journal. */
  async commit(group: readonly PendingCommit[], place: JournalPlace): Promise<void> {
    const isWritten = await this.writeGroup(group, (batch) => this.order.replica.fill(batch, place));
    if (!isWritten) throw replicaBehind(this.failure);
  }

  /** Rejects a group. @param mayBeStored true if its row may be in the journal. Applying the journal then shows if it is */
  reject(group: readonly PendingCommit[], error: unknown, mayBeStored: boolean): void {
    if (this.hasFailed) return;
    this.state.clear();
    this.state.bytes = Number(this.options.level.getSync(metaKey('bytes')) ?? '0');
    this.lastCommit = Promise.resolve();
    const reported = mayBeStored && error instanceof LwsError ? asInDoubt(error) : error;
    for (const { transaction, reject } of group) {
      this.options.onDrop(transaction, mayBeStored);
      reject(reported);
    }
  }

  /** Applies a row of another server. */
  async apply(body: Buffer, place: JournalPlace): Promise<void> {
    if (this.hasFailed) throw replicaBehind(this.failure);
    const group: PendingCommit[] = [];
    try {
      for (const transaction of readChanges(body, this.state)) {
        for (const listener of this.options.foreignListeners) await listener(transaction);
        settleKeptBlobs(transaction);
        transaction.seal();
        this.options.changes.number(transaction);
        this.options.onStage(transaction);
        const commit = this.measured(transaction);
        this.state.lay(transaction, commit.sequence, Promise.resolve());
        group.push({ ...commit, resolve() {}, reject() {} });
      }
    } catch (error) {
      // The row will be applied again later, to the previous state.
      this.reject(group, error, true);
      throw error;
    }
    await this.commit(group, place);
  }

  protected override admitted(): Promise<void> | undefined {
    return this.order.admitted();
  }

  protected override flushSoon(): void {}

  protected override quiet(): undefined {}

  /** Drops the transactions of the failed batch: they are in the journal and are applied from there. */
  protected override settleDoubt({ group }: Doubt): boolean {
    for (const { transaction } of group) this.options.onDrop(transaction, true);
    this.state.clear();
    this.order.reopened();
    return true;
  }
}

/** Creates the error of a server that cannot write its replica. Other servers may be able to respond. */
const replicaBehind = (cause: unknown): LwsError =>
  tooBusy('This server cannot write its copy of the storage at the moment. Retry in a few seconds.', 5, { cause });
