/** What is written after deliveries: one transaction for all inboxes that wait for one. */
import type { Store } from '../../lib/component/store.js';
import type { Subscription } from './subscription.js';
import { subscriptionKey } from './subscriptions.js';

interface Batch {
  readonly keys: string[];
  readonly told: Map<string, Subscription>;
  readonly written: Promise<void>;
}

export class Aftermath {
  private next: Batch | undefined;

  constructor(private readonly store: Store) {}

  /** What was delivered or given up leaves the outbox, and its subscriptions remember how it went. */
  write(keys: readonly string[], told: ReadonlyMap<string, Subscription>): Promise<void> {
    if (keys.length === 0) return Promise.resolve();
    this.next ??= this.begin();
    this.next.keys.push(...keys);
    for (const [id, state] of told) this.next.told.set(id, state);
    return this.next.written;
  }

  private begin(): Batch {
    const [keys, told]: [string[], Map<string, Subscription>] = [[], new Map()];
    const taken = (): void => {
      if (this.next?.keys === keys) this.next = undefined;
    };
    const written = this.store.transact(
      (tx) => {
        taken();
        for (const key of keys) tx.deleteEntry(key);
        // One that was cancelled meanwhile stays cancelled.
        for (const [id, state] of told)
          if (tx.entry(subscriptionKey(id)) !== undefined) tx.putEntry(subscriptionKey(id), JSON.stringify(state));
      },
      { frees: true },
    );
    return { keys, told, written: written.finally(taken) };
  }
}
