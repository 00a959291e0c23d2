/** Transactions that were staged and are not on the disk yet. It must not know how they get there. */
import type { Transaction } from './transaction.js';

export interface PendingCommit {
  readonly transaction: Transaction;
  readonly sequence: number;
  /** Of its batch, about. */
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** A batch of which nobody knows whether it is on the disk, and what waited after it. */
export interface Doubt {
  readonly batch: string;
  readonly group: readonly PendingCommit[];
  readonly behind: readonly PendingCommit[];
}
