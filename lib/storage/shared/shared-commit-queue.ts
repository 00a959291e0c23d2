/**
 * The commit queue of a storage that several servers write. Transactions run in turns: while one server has its turn, no other one
 * writes, and what the others wrote before is applied. At its end all of its transactions are one row of the journal.
 */

import { LwsError } from '../../errors.js';
import {
  CommitQueue,
  type CommitQueueOptions,
  type Doubt,
  measured,
  type PendingCommit,
  type TransactionListener,
} from '../engine/commit-queue.js';
import { metaKey } from '../state/records.js';
import { databaseAway } from './connection.js';
import { CopiedRows } from './copied-rows.js';
import { AppendInDoubtError, type Journal, type JournalRow } from './journal.js';
import { type JournalPlace, readPlace } from './place.js';
import { readChanges, writeChanges } from './shared-change.js';
import { SharedLog } from './shared-log.js';

/** After so many bytes a turn ends: its row has to fit into strings, memory and the patience of all servers. */
const maxTurnBytes = 32 << 20;

export interface SharedCommitQueueOptions extends CommitQueueOptions {
  /** Called for each transaction of another server, before it can be seen here. */
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

  /** The turn ends after those that wait already. */
  private async beginTurn(): Promise<void> {
    await this.log.begin();
    this.isTurn = true;
    // What earlier turns staged is written, or refused.
    this.lastCommit = Promise.resolve();
    this.flushing = this.alone(() => this.endTurn());
  }

  protected override flushSoon(): void {}

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

  /** The journal did not take them, or nobody knows: then it tells later. */
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
    // Others write during a turn when the database has taken it from this server: what was staged is on a state of before.
    if (this.isTurn) this.refuse(this.pending.splice(0), databaseAway('the session that had the turn has ended'));
    for (const { body, ...place } of rows) {
      if (this.hasFailed) throw copyBehind(this.failure);
      const group: PendingCommit[] = [];
      try {
        await this.lay(body, group);
      } catch (error) {
        // It is tried again, on the state that there was before.
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
      const commit = measured(transaction, ++this.sequence);
      this.state.lay(transaction, commit.sequence, Promise.resolve());
      group.push({ ...commit, resolve() {}, reject() {} });
    }
  }

  protected override quiet(): undefined {}

  /** What is in the journal comes again from there. */
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

/** Nothing can be answered from it, while the other servers may be well. */
const copyBehind = (cause: unknown): LwsError =>
  new LwsError('too-busy', 'This server cannot write its copy of the storage at the moment. Try again soon.', {
    cause,
    fields: { 'Retry-After': '5' },
  });
