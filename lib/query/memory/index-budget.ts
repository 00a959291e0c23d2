/**
 * Memory budget for the indexes for queries of all storages of a process. Builds run one after the other. Above the budget, the
 * least recently used indexes are dropped. Must not depend on the content of an index.
 */
import { Gate } from '../../tools/gate.js';

/** An index that may exist. */
export interface Held {
  /** Drops the index unless it is being built. The next query builds it again, or reads its file. */
  leave(): void;
}

export class IndexBudget {
  /** Size of each in bytes, the most recently used last. */
  private readonly held = new Map<Held, number>();
  private most = 0;
  private readonly builds = new Gate({ inAll: 1, perHost: 1 });

  /** Sets the maximum memory of the index of one storage, in bytes. The budget of all is the largest of these. */
  allow(bytes: number): void {
    this.most = Math.max(this.most, bytes);
  }

  /** Records a query or a new index, with its size in bytes. */
  use(index: Held, bytes: number): void {
    this.held.delete(index);
    this.held.set(index, bytes);
    if (this.taken <= this.most) return;
    for (const each of [...this.held.keys()]) if (each !== index && this.taken > this.most) each.leave();
  }

  /** Records that the index is dropped. */
  free(index: Held): void {
    this.held.delete(index);
  }

  get taken(): number {
    return [...this.held.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  /** Resolves after the preceding builds have ended, to the function that ends this one. Each build has its own thread. */
  turn(): Promise<() => void> {
    return this.builds.enter({ host: '' });
  }
}

/** Budget of this process. */
export const processBudget = new IndexBudget();
