/**
 * Memory budget for the query indexes of all storages of a process. Only one index is built at a time. If the budget is
 * exceeded, the least recently used indexes are dropped. Must not depend on the content of an index.
 */
import { Gate } from '../../tools/gate.js';

/** Index of a storage, as seen by the budget. */
export interface Held {
  /** Drops the index unless it is being built. The next query builds the index again, or reads its file. */
  leave(): void;
}

export class IndexBudget {
  /** Indexes in memory with their sizes in bytes. The most recently used index is the last. */
  private readonly held = new Map<Held, number>();
  private most = 0;
  private readonly builds = new Gate({ inAll: 1, perHost: 1 });

  /** Adds the memory limit of one storage's index, in bytes. The budget for all indexes is the largest of these limits. */
  allow(bytes: number): void {
    this.most = Math.max(this.most, bytes);
  }

  /** Marks an index as used most recently. If the budget is exceeded, drops other indexes. @param bytes size of the index */
  use(index: Held, bytes: number): void {
    this.held.delete(index);
    this.held.set(index, bytes);
    if (this.taken <= this.most) return;
    for (const each of [...this.held.keys()]) if (each !== index && this.taken > this.most) each.leave();
  }

  /** Removes a dropped index from the sum of sizes. */
  free(index: Held): void {
    this.held.delete(index);
  }

  get taken(): number {
    return [...this.held.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  /** Waits until earlier builds have ended. Returns the function to call at the end of the caller's build. */
  turn(): Promise<() => void> {
    return this.builds.enter({ host: '' });
  }
}

/** Budget of this process. */
export const processBudget = new IndexBudget();
