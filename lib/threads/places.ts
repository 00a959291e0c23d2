/**
 * Places for threads, which the pools of a process have together: as many threads as one pool would have, however many pools there are. It
 * must not know what threads do.
 */

/** A pool that has places. */
export interface Tenant {
  /** Threads that it has. */
  readonly held: number;
  /** Gives a thread without a job to another pool; `false`: it has none. */
  giveIdle(to: Tenant): boolean;
  /** There may be a place for it. */
  next(): void;
}

export class Places {
  private most = 0;
  private taken = 0;
  /** The one that took a place last stands last. */
  private readonly tenants = new Set<Tenant>();
  /** The one that has waited longest stands first. */
  private readonly waiting = new Set<Tenant>();

  /** There are at least so many places. */
  allow(threads: number): void {
    this.most = Math.max(this.most, threads);
  }

  get isFull(): boolean {
    return this.taken >= this.most;
  }

  /** Takes a place for a new thread; where there is none, a pool gives a thread that it does not use, or `next` is called when there is one. */
  take(tenant: Tenant): boolean {
    if (this.isFull) {
      if (![...this.tenants].some((each) => each !== tenant && each.giveIdle(tenant))) this.waiting.add(tenant);
      return false;
    }
    this.taken++;
    this.served(tenant);
    return true;
  }

  /** A pool has got a place. */
  served(tenant: Tenant): void {
    this.waiting.delete(tenant);
    this.tenants.delete(tenant);
    this.tenants.add(tenant);
  }

  /** Who waits for a place of a pool: one that it does not use, or one where it has more. */
  wanting(tenant: Tenant, isIdle: boolean): Tenant | undefined {
    const { held } = tenant;
    const mayHave = (each: Tenant): boolean => isIdle || each.held === 0 || each.held + 1 < held;
    return [...this.waiting].find((each) => each !== tenant && mayHave(each));
  }

  /** A thread has ended. */
  free(): void {
    this.taken--;
    for (const each of [...this.waiting]) {
      if (this.isFull) return;
      this.waiting.delete(each);
      each.next();
    }
  }

  /** A pool takes no thread from here on. */
  leave(tenant: Tenant): void {
    this.waiting.delete(tenant);
    this.tenants.delete(tenant);
  }
}
