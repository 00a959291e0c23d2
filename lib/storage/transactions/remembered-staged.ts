/** Caches the set of staged graphs for snapshots in the store's thread. Reads the disk only if the set may have changed. */

import { type StagedNames, stagedGraphs, stagedKey } from '../graphs/staged-keys.js';
import type { Level, LevelSnapshot } from '../level/durable-level.js';
import type { Store } from './store.js';
import type { Transaction } from './transaction.js';

const prefix = stagedKey('');

export class RememberedStaged {
  /** Transactions in progress that stage or publish a graph. */
  private readonly underWay = new Set<Transaction>();
  /** Incremented when a transaction that stages or publishes a graph starts and ends. */
  private changes = 0;
  /** True if the transactions that had started before the listeners were added have ended. */
  private isComplete = false;
  private last: { readonly changes: number; readonly names: StagedNames } | undefined;

  constructor(store: Pick<Store, 'onStage' | 'onCommit' | 'onDrop' | 'transact'>) {
    const noted = (transaction: Transaction, begins: boolean): void => {
      for (const key of transaction.entries.keys()) {
        if (!key.startsWith(prefix)) continue;
        this.underWay[begins ? 'add' : 'delete'](transaction);
        this.changes++;
      }
    };
    store.onStage((transaction) => noted(transaction, true));
    store.onCommit((transaction) => noted(transaction, false));
    store.onDrop((transaction) => noted(transaction, false));
    // A transaction without changes ends after all earlier transactions. If it fails, the disk is read for every snapshot.
    store
      .transact(() => {})
      .then(() => {
        this.isComplete = true;
      })
      .catch(() => {});
  }

  /** Returns a function that returns the staged graphs of a snapshot. Call `of` right after the snapshot was taken. */
  of(level: Level, snapshot: LevelSnapshot): () => Promise<StagedNames> {
    const { changes } = this;
    const isSure = this.isComplete && this.underWay.size === 0;
    return async () => {
      if (isSure && this.last?.changes === changes) return this.last.names;
      const names = await stagedGraphs(level, snapshot);
      if (isSure) this.last = { changes, names };
      return names;
    };
  }
}
