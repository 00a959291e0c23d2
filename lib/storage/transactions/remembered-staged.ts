/** Which graphs are hidden in a snapshot, without a look at the disk where none has come or gone. It is for the thread that the store is in. */

import { stagedGraphs, stagedKey } from '../graphs/staged-keys.js';
import type { Level, LevelSnapshot } from '../level/durable-level.js';
import type { Store } from './store.js';
import type { Transaction } from './transaction.js';

const prefix = stagedKey('');

export class RememberedStaged {
  /** Transactions that hide or show a graph and are on their way to the disk. */
  private readonly underWay = new Set<Transaction>();
  /** Counts when such a transaction begins and ends. */
  private changes = 0;
  /** Those that had begun before anybody noted them have ended. */
  private isComplete = false;
  private last: { readonly changes: number; readonly names: ReadonlySet<string> } | undefined;

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
    // One without changes ends after those before it. Where it fails, the disk is looked at for every snapshot.
    store
      .transact(() => {})
      .then(() => {
        this.isComplete = true;
      })
      .catch(() => {});
  }

  /** What gives the hidden graphs of a snapshot. To be called as soon as that has been taken. */
  of(level: Level, snapshot: LevelSnapshot): () => Promise<ReadonlySet<string>> {
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
