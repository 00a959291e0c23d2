/** Active subscriptions by topic, so that an event reads only matching subscriptions. Every commit updates the index. */

import type { Tally } from '../../../lib/authentication/tally.js';
import type { CallerClass } from '../../../lib/authorization/authorizer.js';
import type { Platform } from '../../../lib/component/contract.js';
import { entryKey } from '../../../lib/storage/keys/records.js';
import { FollowedEntries } from '../../../lib/storage/transactions/followed-entries.js';
import type { Store } from '../../../lib/storage/transactions/store.js';
import { addCount, partitionPoint } from '../../../lib/tools/collections.js';
import type { PageLimits, PendingEvent, SubscriptionPage } from './fan-out.js';
import { type Subscription, standingOf } from './subscription.js';

export const subscriptionSpace = 'subscriptions';
export const subscriptionKey = (id: string): string => entryKey(subscriptionSpace, id);

/** Returns a text that identifies the subscriber: subject, and client if there is one. */
export const subscriberOf = Object.assign(
  ({ subscriber, client }: Subscription): string =>
    JSON.stringify(client === undefined ? [subscriber] : [subscriber, client]),
  { read: (name: string) => JSON.parse(name) as [string, string?] },
);

type SubscriptionPlatform = Pick<Platform, 'store' | 'clock' | 'tally'>;

/** Index entry of a topic. */
interface Topic {
  /** Count of subscriptions to the topic, by subscriber (`subscriberOf`). */
  readonly subscribers: Map<string, number>;
  /** Subscription ids, sorted. */
  readonly ids: string[];
}

/** Maximum subscriptions that are read to fill a page. */
const maxLooked = 1000;

export class Subscriptions {
  private byId!: FollowedEntries<Subscription>;
  /** Active subscriptions, by caller class and topic. */
  private readonly byTopic: Readonly<Record<CallerClass, Map<string, Topic>>> = {
    controller: new Map(),
    known: new Map(),
    stranger: new Map(),
  };
  /** Sequence number of the last event before each subscription was created. Absent for subscriptions of an earlier process. */
  private readonly begun = new Map<string, number>();
  /** Returns the sequence number of the last event. */
  sequence = (): number => 0;

  private constructor(
    private readonly clock: () => number,
    /** Counts subscriptions of unprivileged callers, over all storages of the process. */
    readonly tally: Tally,
  ) {}

  static async open({ store, clock, tally }: SubscriptionPlatform): Promise<Subscriptions> {
    const subscriptions = new Subscriptions(clock, tally(subscriptionSpace));
    subscriptions.byId = await FollowedEntries.open<Subscription>(store, {
      space: subscriptionSpace,
      read: (value) => JSON.parse(value) as Subscription,
      changed: (id, before, after) => subscriptions.changed(id, before, after),
      followsStaged: true,
    });
    return subscriptions;
  }

  /** Returns a subscription, or `undefined` if it has expired, even if it is not deleted yet. */
  get(id: string): Subscription | undefined {
    const found = this.byId.get(id);
    return found && found.expires > this.clock() ? found : undefined;
  }

  /** Returns the rate limit class of a subscription, or `undefined` for controllers, which have no limit. */
  turnOf(id = ''): Exclude<CallerClass, 'controller'> | undefined {
    const callerClass = this.byId.has(id) ? standingOf(this.byId.get(id)!) : 'controller';
    return callerClass === 'controller' ? undefined : callerClass;
  }

  all(): Subscription[] {
    const now = this.clock();
    return [...this.byId.values()].filter(({ expires }) => expires > now);
  }

  /** Returns the count of matching subscriptions, including those of pending commits. */
  count(isOf: (subscription: Subscription) => boolean): number {
    const now = this.clock();
    return [...this.byId.current()].filter((each) => each.expires > now && isOf(each)).length;
  }

  get areNone(): boolean {
    return Object.values(this.byTopic).every(({ size }) => size === 0);
  }

  /** Returns the given IRIs that are topics of subscriptions. */
  topicsAmong(iris: readonly string[], callerClass: CallerClass): string[] {
    return iris.filter((iri) => this.byTopic[callerClass].has(iri));
  }

  /** Returns the distinct subscribers to the topics (`subscriberOf`). */
  subscribersOf(topics: readonly string[], callerClass: CallerClass): ReadonlySet<string> {
    return new Set(topics.flatMap((topic) => [...(this.byTopic[callerClass].get(topic)?.subscribers.keys() ?? [])]));
  }

  /**
   * Returns the next page of subscription ids for an event, in order. Reads a limited number of subscriptions.
   * @param sequence sequence number of the event; absent: it happens now
   */
  pageOf(pending: PendingEvent, callerClass: CallerClass, { most, inboxes, sequence }: PageLimits): SubscriptionPage {
    const { subscriptions, topics = [], readers, after = '' } = pending;
    if (subscriptions) {
      const left = subscriptions.slice(most);
      return { ids: subscriptions.slice(0, most), ...(left.length > 0 ? { rest: { subscriptions: left } } : {}) };
    }
    const number = sequence === undefined ? Number.POSITIVE_INFINITY : Number.parseInt(sequence, 36);
    const wanted = readers && new Set(readers);
    const lists = topics.map((topic) => {
      const ids = this.byTopic[callerClass].get(topic)?.ids ?? [];
      return { ids, at: indexBehind(ids, after) };
    });
    const [ids, found]: [string[], Set<string>] = [[], new Set()];
    for (let [looked, last] = [0, after]; ; looked++) {
      let next: string | undefined;
      for (const { ids: list, at } of lists) if (at < list.length && !(next! <= list[at]!)) next = list[at];
      if (next === undefined) return { ids };
      if (ids.length === most || found.size === inboxes || looked === maxLooked) return { ids, rest: { after: last } };
      for (const list of lists) if (list.ids[list.at] === next) list.at++;
      last = next;
      const each = this.get(next);
      if (!each || (this.begun.get(next) ?? 0) >= number || wanted?.has(subscriberOf(each)) === false) continue;
      ids.push(next);
      found.add(each.inbox);
    }
  }

  /** Deletes expired subscriptions. */
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
    if (!before) this.begun.set(id, this.sequence());
    else if (before.active) this.index(before, false);
    if (after?.active) this.index(after, true);
    if (!after) this.begun.delete(id);
  }

  private index(subscription: Subscription, isAdded: boolean): void {
    const byTopic = this.byTopic[standingOf(subscription)];
    const who = subscriberOf(subscription);
    const { id } = subscription;
    for (const topic of subscription.topics) {
      const { subscribers, ids } = byTopic.get(topic) ?? { subscribers: new Map<string, number>(), ids: [] };
      const at = indexBehind(ids, id);
      if (isAdded) ids.splice(at, 0, id);
      else ids.splice(at - 1, 1);
      addCount(subscribers, who, isAdded ? 1 : -1);
      if (ids.length > 0) byTopic.set(topic, { subscribers, ids });
      else byTopic.delete(topic);
    }
  }
}

/** Returns the index of the first id that is greater than a given id. */
const indexBehind = (ids: readonly string[], id: string): number =>
  partitionPoint(0, ids.length, (at) => ids[at]! <= id);
