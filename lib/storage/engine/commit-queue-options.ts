/** What the commit queue needs of the store, and whom it tells. */
import type { WrittenBatch } from '../../measures.js';
import type { ChangeLog } from '../log/change-log.js';
import type { Level } from './durable-level.js';
import type { CommittedState } from './overlaid-state.js';
import type { Transaction } from './transaction.js';

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
