/**
 * The subscriptions in force, by topic, so that an event finds those that cover it without a look at the others. They follow every commit.
 */
import type { Standing } from '../../lib/component/access.js';
import type { Tally } from '../../lib/component/authentication.js';
import type { Platform } from '../../lib/component/basics.js';
import { entryKey } from '../../lib/component/entries.js';
import { FollowedEntries, type Store } from '../../lib/component/store.js';
import type { Owed } from './distribution.js';
import { type Subscription, standingOf } from './subscription.js';

export const subscriptionSpace = 'subscriptions';
export const subscriptionKey = (id: string): string => entryKey(subscriptionSpace, id);

/** Who subscribed, as a name: a subject and maybe its client. */
export const subscriberOf = Object.assign(
  ({ subscriber, client }: Subscription): string =>
    JSON.stringify(client === undefined ? [subscriber] : [subscriber, client]),
  { read: (name: string) => JSON.parse(name) as [string, string?] },
);

type SubscriptionPlatform = Pick<Platform, 'store' | 'clock' | 'tally'>;

export class Subscriptions {
  private byId!: FollowedEntries<Subscription>;
  /** Ids of subscriptions, by the standing of those who subscribed, their topics, and who they are. */
  private readonly byTopic: Readonly<Record<Standing, Map<string, Map<string, Set<string>>>>> = {
    controller: new Map(),
    known: new Map(),
    stranger: new Map(),
  };
  /** The number of the last event before a subscription; none for those of an earlier process. */
  private readonly begun = new Map<string, number>();
  /** The number of the last event. */
  sequence = (): number => 0;

  private constructor(
    private readonly clock: () => number,
    /** Those of strangers. */
    readonly tally: Tally,
  ) {}

  static async open({ store, clock, tally }: SubscriptionPlatform): Promise<Subscriptions> {
    const subscriptions = new Subscriptions(clock, tally(subscriptionSpace));
    subscriptions.byId = await FollowedEntries.open<Subscription>(store, {
      space: subscriptionSpace,
      read: JSON.parse,
      changed: (id, before, after) => subscriptions.changed(id, before, after),
      followsStaged: true,
    });
    return subscriptions;
  }

  /** One that has expired is gone, whenever it is cleared. */
  get(id: string): Subscription | undefined {
    const found = this.byId.get(id);
    return found && found.expires > this.clock() ? found : undefined;
  }

  /** With whom deliveries of a subscription take turns; nobody with controllers. */
  turnOf(id = ''): Standing | undefined {
    const standing = this.byId.has(id) ? standingOf(this.byId.get(id)!) : 'controller';
    return standing === 'controller' ? undefined : standing;
  }

  all(): Subscription[] {
    const now = this.clock();
    return [...this.byId.values()].filter(({ expires }) => expires > now);
  }

  /** How many there are of a kind, as the commits under way will leave them. */
  count(isOf: (subscription: Subscription) => boolean): number {
    const now = this.clock();
    return [...this.byId.current()].filter((each) => each.expires > now && isOf(each)).length;
  }

  get areNone(): boolean {
    return Object.values(this.byTopic).every(({ size }) => size === 0);
  }

  /** Which of some IRIs are topics of somebody. */
  topicsAmong(iris: readonly string[], standing: Standing): string[] {
    return iris.filter((iri) => this.byTopic[standing].has(iri));
  }

  /** Who subscribed to some topics, each once (`subscriberOf`). */
  subscribersOf(topics: readonly string[], standing: Standing): ReadonlySet<string> {
    return new Set(topics.flatMap((topic) => [...(this.byTopic[standing].get(topic)?.keys() ?? [])]));
  }

  /** The ids of those that an event is owed to still, in their order. @param sequence that of the event */
  idsOf(owed: Owed, standing: Standing, sequence?: string): readonly string[] {
    const { subscriptions, topics = [], readers, after = '' } = owed;
    if (subscriptions) return subscriptions;
    const ids = new Set<string>();
    const number = sequence === undefined ? Number.POSITIVE_INFINITY : Number.parseInt(sequence, 36);
    for (const topic of topics) {
      const byWho = this.byTopic[standing].get(topic);
      for (const who of readers ?? byWho?.keys() ?? [])
        for (const id of byWho?.get(who) ?? [])
          if (id > after && this.get(id)?.active && (this.begun.get(id) ?? 0) < number) ids.add(id);
    }
    return [...ids].sort();
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

  private changed(id: string, before: Subscription | undefined, after: Subscription | undefined): void {
    for (const [each, count] of [
      [before, -1],
      [after, 1],
    ] as const)
      if (each && standingOf(each) === 'stranger') this.tally.add(each.from!, count);
    if (before) this.index(before, (ids) => ids.delete(id));
    else this.begun.set(id, this.sequence());
    if (after) this.index(after, (ids) => ids.add(id));
    else this.begun.delete(id);
  }

  private index(subscription: Subscription, change: (ids: Set<string>) => void): void {
    const byTopic = this.byTopic[standingOf(subscription)];
    const who = subscriberOf(subscription);
    for (const topic of subscription.topics) {
      const byWho = byTopic.get(topic) ?? new Map<string, Set<string>>();
      const ids = byWho.get(who) ?? new Set<string>();
      change(ids);
      if (ids.size > 0) byTopic.set(topic, byWho.set(who, ids));
      else if (byWho.delete(who) && byWho.size === 0) byTopic.delete(topic);
    }
  }
}
