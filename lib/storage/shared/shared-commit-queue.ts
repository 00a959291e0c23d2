/**
 * The commit queue of a storage that several servers write. Transactions run in turns: a server that has the turn (the lock of the journal)
 * has applied all rows of the others, and no other one writes. At the end of the turn its transactions become one row of the journal.
 */

import { type LwsError, tooBusy } from '../../errors.js';
import { metaKey } from '../keys/records.js';
import {
  CommitQueue,
  type CommitQueueOptions,
  type Doubt,
  type PendingCommit,
  type TransactionListener,
} from '../transactions/commit-queue.js';
import { databaseAway } from './connection.js';
import { CopiedRows } from './copied-rows.js';
import { AppendInDoubtError, type Journal, type JournalPlace, type JournalRow, readPlace } from './journal.js';
import { readChanges, writeChanges } from './shared-change.js';
import { SharedLog } from './shared-log.js';

/** After so many bytes a turn ends: its row is a string in the memory of all servers, which apply it before they answer. */
const maxTurnBytes = 32 << 20;

export interface SharedCommitQueueOptions extends CommitQueueOptions {
  /** Called for each transaction of another server, before readers here can see its changes. */
  readonly foreignListeners: readonly TransactionListener[];
  readonly onTrouble: (message: string, error: unknown) => void;
}

export class SharedCommitQueue extends CommitQueue {
  readonly log: SharedLog;
  private isTurn = false;
  private readonly rows: CopiedRows;

  constructor(
    protected override readonly options: SharedCommitQueueOptions,
    journal: Journal,
  ) {
    super(options);
    this.log = new SharedLog(journal, (rows) => this.take(rows));
    this.log.place = this.storedPlace();
    this.rows = new CopiedRows(options.level, this.log.place.seq, options.onTrouble);
  }

  protected override admitted(): Promise<void> | undefined {
    if (!this.isTurn) return this.beginTurn();
    const isFull = this.pending.reduce((sum, { bytes }) => sum + bytes, 0) > maxTurnBytes;
    return isFull ? this.endTurn().then(() => this.beginTurn()) : undefined;
  }

  /** Begins a turn, which ends after the transactions that are queued by then. */
  private async beginTurn(): Promise<void> {
    await this.log.begin();
    this.isTurn = true;
    // The transactions of earlier turns are settled: a transaction without changes need not wait for them.
    this.lastCommit = Promise.resolve();
    this.flushing = this.alone(() => this.endTurn());
  }

  protected override flushSoon(): void {}

  /** Grows beside the rows: a turn has the lock of all servers, and growth is this copy's own. */
  protected override async growOn(): Promise<void> {
    while (this.growth.isUnderWay && !this.hasFailed) await this.log.alone(() => this.step());
  }

  private async endTurn(): Promise<void> {
    if (!this.isTurn) return;
    this.isTurn = false;
    const group = this.pending;
    this.pending = [];
    if (group.length === 0) return this.log.end();
    await this.log.commit({
      write: () => writeChanges(group.map(({ transaction }) => transaction)),
      settle: (place) => this.settleAt(place, group),
      refuse: (error) => this.refuse(group, error),
    });
  }

  private async settleAt(place: JournalPlace, group: readonly PendingCommit[]): Promise<void> {
    if (!(await this.writeGroup(group, (batch) => this.rows.fill(batch, place)))) throw copyBehind(this.failure);
    this.log.place = place;
  }

  /** Rejects transactions that are not in the journal, or of which that is unknown (`AppendInDoubtError`): following the journal shows it. */
  private refuse(group: readonly PendingCommit[], error: unknown): void {
    if (this.hasFailed) return;
    this.forgetStaged();
    for (const { transaction, reject } of group) {
      this.options.onDrop(transaction, error instanceof AppendInDoubtError);
      reject(error);
    }
  }

  private forgetStaged(): void {
    this.state.clear();
    this.state.bytes = Number(this.options.level.getSync(metaKey('bytes')) ?? '0');
  }

  /** Applies what other servers have committed. */
  private async take(rows: readonly JournalRow[]): Promise<void> {
    // Rows of others during a turn: the database has ended it, and the staged transactions ran on an outdated state.
    if (this.isTurn) this.refuse(this.pending.splice(0), databaseAway('the session that had the turn has ended'));
    for (const { body, ...place } of rows) {
      if (this.hasFailed) throw copyBehind(this.failure);
      const group: PendingCommit[] = [];
      try {
        await this.lay(body, group);
      } catch (error) {
        // The row is applied again later, on the state from before.
        this.refuse(group, new AppendInDoubtError('too-busy', 'The changes of another server could not be applied.'));
        throw error;
      }
      await this.settleAt(place, group);
    }
  }

  private async lay(body: Buffer, group: PendingCommit[]): Promise<void> {
    for (const transaction of readChanges(body, this.state)) {
      for (const listener of this.options.foreignListeners) await listener(transaction);
      this.options.changes.number(transaction);
      this.options.onStage(transaction);
      const commit = this.measured(transaction);
      this.state.lay(transaction, commit.sequence, Promise.resolve());
      group.push({ ...commit, resolve() {}, reject() {} });
    }
  }

  protected override quiet(): undefined {}

  /** Drops the transactions of the failed batch: they are in the journal, and are applied from there. */
  protected override settleDoubt({ group }: Doubt): boolean {
    for (const { transaction } of group) this.options.onDrop(transaction, true);
    this.state.clear();
    this.log.place = this.storedPlace();
    return true;
  }

  private storedPlace(): JournalPlace {
    return readPlace(this.options.level.getSync(metaKey('position')));
  }
}

/** The refusal of a server that cannot write its copy; other servers may be able to answer. */
const copyBehind = (cause: unknown): LwsError =>
  tooBusy('This server cannot write its copy of the storage at the moment. Try again soon.', 5, { cause });
