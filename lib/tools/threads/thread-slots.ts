/** Slots for threads, which pools of the same script and memory share. */

/** A pool that uses slots. */
export interface Tenant {
  /** Number of its threads. */
  readonly held: number;
  /** Moves an idle thread to another pool. Returns `false` if there is none. */
  giveIdle(to: Tenant): boolean;
  /** A slot may be free for it. */
  next(): void;
}

/** Thread slots that several pools share. */
export class ThreadSlots {
  private most = 0;
  private taken = 0;
  /** The pool with the most recent slot is last. */
  private readonly tenants = new Set<Tenant>();
  /** The longest waiting pool is first. */
  private readonly waiting = new Set<Tenant>();

  /** Minimum number of slots. */
  allow(threads: number): void {
    this.most = Math.max(this.most, threads);
  }

  get isFull(): boolean {
    return this.taken >= this.most;
  }

  /** Acquires a slot for a new thread. If none is free, another pool gives up an idle thread, or `next` is called later. */
  take(tenant: Tenant): boolean {
    if (this.isFull) {
      if (![...this.tenants].some((each) => each !== tenant && each.giveIdle(tenant))) this.waiting.add(tenant);
      return false;
    }
    this.taken++;
    this.served(tenant);
    return true;
  }

  /** A pool got a slot. */
  served(tenant: Tenant): void {
    this.waiting.delete(tenant);
    this.tenants.delete(tenant);
    this.tenants.add(tenant);
  }

  /** Returns the next waiting pool entitled to a slot of this pool: an idle one, or one in excess of its share. */
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

  /** A pool stops taking threads. */
  leave(tenant: Tenant): void {
    this.waiting.delete(tenant);
    this.tenants.delete(tenant);
  }
}
