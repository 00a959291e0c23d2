/** Transactions that were staged and are not on the disk yet. */
import { sizeOfBatch } from './batch-filling.js';
import type { Transaction } from './transaction.js';

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
