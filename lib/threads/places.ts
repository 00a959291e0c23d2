/**
 * Places for threads, which the pools of a process have together: as many threads as one pool would have, however many pools there are. It
 * must not know what threads do.
 */

/** A pool that has places. */
export interface Tenant {
  /** Threads that it has. */
  readonly held: number;
  /** Ends a thread without a job; `false`: it has none. */
  giveIdle(): boolean;
  /** There may be a place for it. */
  next(): void;
}

export class Places {
  private most = 0;
  private taken = 0;
  /** Threads that end for somebody who waits. */
  private ending = 0;
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

  /** Takes a place for a thread; where there is none, a pool gives one that it does not use, and `next` is called when it is free. */
  take(tenant: Tenant): boolean {
    if (this.isFull) {
      this.waiting.add(tenant);
      if (this.ending >= this.waiting.size) return false;
      for (const each of this.tenants)
        if (each !== tenant && each.giveIdle()) {
          this.ending++;
          break;
        }
      return false;
    }
    this.taken++;
    this.tenants.delete(tenant);
    this.tenants.add(tenant);
    return true;
  }

  /** Whether a pool has to give a place, one that it does not use, or one where it has more than who waits. */
  isWanted(tenant: Tenant, isIdle: boolean): boolean {
    const { held } = tenant;
    const mayHave = (each: Tenant): boolean => isIdle || each.held === 0 || each.held + 1 < held;
    return [...this.waiting].some((each) => each !== tenant && mayHave(each));
  }

  /** A thread has ended. */
  free(): void {
    this.taken--;
    this.ending = Math.max(0, this.ending - 1);
    for (const each of [...this.waiting]) {
      if (this.isFull) return;
      this.waiting.delete(each);
      each.next();
    }
  }

  /** A pool is closed. */
  leave(tenant: Tenant): void {
    this.waiting.delete(tenant);
    this.tenants.delete(tenant);
  }
}
