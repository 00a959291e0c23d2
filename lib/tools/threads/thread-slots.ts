/** Slots for threads, which are shared by pools with the same script and memory limit. */

/** A pool that uses slots. */
export interface Tenant {
  /** Count of the pool's threads. */
  readonly held: number;
  /** Moves an idle thread to another pool. Returns `false` if there is none. */
  giveIdle(to: Tenant): boolean;
  /** Called when a slot may be free for the pool. */
  next(): void;
}

/** Thread slots that several pools share. */
export class ThreadSlots {
  private most = 0;
  private taken = 0;
  /** Pools with slots. The pool that acquired a slot most recently is last. */
  private readonly tenants = new Set<Tenant>();
  /** Pools that wait for a slot, the longest waiting first. */
  private readonly waiting = new Set<Tenant>();

  /** Raises the number of slots to at least `threads`. */
  allow(threads: number): void {
    this.most = Math.max(this.most, threads);
  }

  get isFull(): boolean {
    return this.taken >= this.most;
  }

  /** Returns true if a slot for a new thread was acquired. Otherwise another pool moves a thread, or `next` is called later. */
  take(tenant: Tenant): boolean {
    if (this.isFull) {
      if (![...this.tenants].some((each) => each !== tenant && each.giveIdle(tenant))) this.waiting.add(tenant);
      return false;
    }
    this.taken++;
    this.served(tenant);
    return true;
  }

  /** Records that a pool has acquired a slot. */
  served(tenant: Tenant): void {
    this.waiting.delete(tenant);
    this.tenants.delete(tenant);
    this.tenants.add(tenant);
  }

  /** Returns the next waiting pool for a slot of this pool: any if this pool is idle, otherwise one with fewer slots. */
  wanting(tenant: Tenant, isIdle: boolean): Tenant | undefined {
    const { held } = tenant;
    const mayHave = (each: Tenant): boolean => isIdle || each.held === 0 || each.held + 1 < held;
    return [...this.waiting].find((each) => each !== tenant && mayHave(each));
  }

  /** Releases the slot of a thread that has ended. */
  free(): void {
    this.taken--;
    for (const each of [...this.waiting]) {
      if (this.isFull) return;
      this.waiting.delete(each);
      each.next();
    }
  }

  leave(tenant: Tenant): void {
    this.waiting.delete(tenant);
    this.tenants.delete(tenant);
  }
}
