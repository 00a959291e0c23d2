/**
 * The subscriptions in force, by topic, so that an event finds those that cover it without a look at the others. They follow
 * every commit. It must not know HTTP nor deliveries.
 */
import { ancestorsOf } from '../../lib/authorization/authorizer.js';
import { entryKey, entryRange, partsOfEntry } from '../../lib/storage/records.js';
import type { Store } from '../../lib/storage/store.js';
import type { Subscription } from './subscription.js';

export const subscriptionSpace = 'subscriptions';
export const subscriptionKey = (id: string): string => entryKey(subscriptionSpace, id);

export class Subscriptions {
  private readonly byId = new Map<string, Subscription>();
  private readonly byTopic = new Map<string, Set<string>>();
  /** What is on its way to the disk; `undefined`: its deletion. */
  private readonly staged = new Map<string, Subscription | undefined>();

  private constructor(
    private readonly storage: string,
    private readonly clock: () => number,
  ) {}

  static async open(store: Store, storage: string, clock: () => number): Promise<Subscriptions> {
    const subscriptions = new Subscriptions(storage, clock);
    for await (const entries of store.entries(entryRange(subscriptionSpace)))
      for (const [key, value] of entries) subscriptions.set(partsOfEntry(key)[1]!, value);
    const prefix = subscriptionKey('');
    store.onStage(({ entries }) => {
      for (const [key, value] of entries)
        if (key.startsWith(prefix))
          subscriptions.staged.set(key.slice(prefix.length), value === null ? undefined : JSON.parse(value));
    });
    store.onDrop(({ entries }) => {
      for (const key of entries.keys())
        if (key.startsWith(prefix)) subscriptions.staged.delete(key.slice(prefix.length));
    });
    store.onCommit(({ entries }) => {
      for (const [key, value] of entries)
        if (key.startsWith(prefix)) subscriptions.set(key.slice(prefix.length), value);
    });
    return subscriptions;
  }

  /** One that has expired is gone, whenever it is cleared. */
  get(id: string): Subscription | undefined {
    const found = this.byId.get(id);
    return found && found.expires > this.clock() ? found : undefined;
  }

  all(): Subscription[] {
    const now = this.clock();
    return [...this.byId.values()].filter(({ expires }) => expires > now);
  }

  /** How many there are of a kind, as the commits under way will leave them. */
  count(isOf: (subscription: Subscription) => boolean): number {
    const now = this.clock();
    const counts = (each: Subscription | undefined): boolean => each !== undefined && each.expires > now && isOf(each);
    const others = [...this.byId].filter(([id, each]) => !this.staged.has(id) && counts(each));
    return others.length + [...this.staged.values()].filter(counts).length;
  }

  get size(): number {
    return this.byId.size;
  }

  /** Those whose topic is the resource or a container above it, each once. */
  covering(iri: string): Subscription[] {
    if (this.byId.size === 0) return [];
    const ids = new Set<string>();
    const now = this.clock();
    for (const topic of [iri, ...ancestorsOf(iri, this.storage)])
      for (const id of this.byTopic.get(topic) ?? []) ids.add(id);
    return [...ids].map((id) => this.byId.get(id)!).filter(({ active, expires }) => active && expires > now);
  }

  /** Those that have expired leave the storage. */
  async purge(store: Store): Promise<void> {
    const now = this.clock();
    const expired = [...this.byId.values()].filter(({ expires }) => expires <= now);
    if (expired.length === 0) return;
    await store.transact((tx) => {
      for (const { id } of expired) tx.deleteEntry(subscriptionKey(id));
    });
  }

  private set(id: string, value: string | null): void {
    this.staged.delete(id);
    for (const topic of this.byId.get(id)?.topics ?? []) {
      const ids = this.byTopic.get(topic);
      ids?.delete(id);
      if (ids?.size === 0) this.byTopic.delete(topic);
    }
    this.byId.delete(id);
    if (value === null) return;
    const subscription = JSON.parse(value) as Subscription;
    this.byId.set(id, subscription);
    for (const topic of subscription.topics) this.byTopic.set(topic, (this.byTopic.get(topic) ?? new Set()).add(id));
  }
}
