/**
 * What the indexes in memory of all storages of a process take together, and that they are built one after the other. Where they take too
 * much, those give way that were asked longest ago. It must not know what an index is.
 */

/** An index that may be there. */
export interface Held {
  /** Lets go of it, unless it is being built; the next query builds it again, or reads its file. */
  leave(): void;
}

/** Bytes of an index for each of its quads, about. */
const bytesOfQuad = 128;

export class IndexBudget {
  /** The bytes of each, that of the last query at the end. */
  private readonly held = new Map<Held, number>();
  private most = 0;
  private last: Promise<void> = Promise.resolve();

  /** Notes how many quads the index of one storage may have: all together may take as much as the largest. */
  allow(quads: number): void {
    this.most = Math.max(this.most, quads * bytesOfQuad);
  }

  /** Notes a query of an index, of so many bytes, or that it is there from here on. */
  use(index: Held, bytes: number): void {
    this.held.delete(index);
    this.held.set(index, bytes);
    if (this.taken <= this.most) return;
    for (const each of [...this.held.keys()]) if (each !== index && this.taken > this.most) each.leave();
  }

  /** Notes that it is there no more. */
  free(index: Held): void {
    this.held.delete(index);
  }

  get taken(): number {
    return [...this.held.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  /** Resolves when the builds that came before have ended, to what ends this one: each has a thread of its own. */
  async turn(): Promise<() => void> {
    const before = this.last;
    let end = (): void => {};
    this.last = new Promise((resolve) => {
      end = resolve;
    });
    await before;
    return end;
  }
}

/** That of this process. */
export const processBudget = new IndexBudget();
