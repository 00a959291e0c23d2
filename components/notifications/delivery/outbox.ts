/**
 * The outbox: notifications that wait for delivery. They are staged in the transaction of their event, in commit order, so that
 * every committed event is delivered, also after a crash.
 */
import { createHash } from 'node:crypto';
import { type Authorizer, ancestorsOf, type CallerClass, type View } from '../../../lib/authorization/authorizer.js';
import type { Access } from '../../../lib/authorization/principal.js';
import { entryKey, entryRange, partsOfEntry, type ResourceRecord } from '../../../lib/storage/keys/records.js';
import type { EventStamp, ResourceChange } from '../../../lib/storage/log/changes.js';
import type { Store } from '../../../lib/storage/transactions/store.js';
import type { Transaction } from '../../../lib/storage/transactions/transaction.js';
import { getOrMake } from '../../../lib/tools/collections.js';
import { formatTraceparent } from '../../../lib/tools/fields/traceparent.js';
import { type Activity, activityOf, announcementOf, type EventContext } from './events.js';
import { type Distributions, type PendingEvent, waitingSpaces } from './fan-out.js';
import { type Follower, type Reader, Subscribers } from './readers.js';
import { standings } from './subscription.js';
import type { Subscriptions } from './subscriptions.js';

const space = 'outbox';
const sequencesPerMs = 64;

/** Pending delivery. */
export interface Delivery {
  readonly inbox: string;
  /** Subscription ids: one request for each. Absent for notifications without a subscription (access requests, grants). */
  readonly subscriptions?: readonly string[];
  /** Single subscription, in entries of earlier versions. */
  readonly subscription?: string;
  readonly activity: Activity;
  readonly traceparent?: string;
}

/** Returns the part of the key that keeps the deliveries of one inbox together, in order. */
export const inboxName = (inbox: string): string => createHash('sha256').update(inbox).digest('base64url').slice(0, 22);
export const outboxRange = (name?: string) => (name === undefined ? entryRange(space) : entryRange(space, name));
const everyInbox = outboxRange().gte;
export const inboxOfKey = (key: string): string | undefined =>
  key.startsWith(everyInbox) ? partsOfEntry(key)[1] : undefined;

const keysAtOnce = 200;

/** Yields the inboxes with pending deliveries, and the last sequence number of each. Skips the middle of long queues. */
export async function* queuedInboxes(store: Store): AsyncGenerator<readonly [name: string, last: string]> {
  const all = outboxRange();
  for (let { gte } = all; ; ) {
    const found = new Map<string, string>();
    const note = (key: string): void => void found.set(partsOfEntry(key)[1]!, partsOfEntry(key)[2]!);
    for await (const keys of store.keys({ ...all, gte }, { limit: keysAtOnce })) keys.forEach(note);
    const name = [...found.keys()].at(-1);
    if (name === undefined) return;
    for await (const keys of store.keys(outboxRange(name), { limit: 1, reverse: true })) keys.forEach(note);
    yield* found;
    gte = outboxRange(name).lt;
  }
}

/** Returns the approximate time at which a delivery was staged, in milliseconds since the epoch. See `Outbox.next`. */
export const stagedAt = (key: string): number => Number.parseInt(partsOfEntry(key)[2] ?? '0', 36) / sequencesPerMs;

export interface OutboxOptions {
  readonly storage: string;
  readonly authorizer: Authorizer;
  readonly subscriptions: Subscriptions;
  readonly distributions: Distributions;
  readonly clock: () => number;
  readonly includeActor: boolean;
  /** Connected event streams of controllers, which get all events that they can read. */
  readonly followers: ReadonlySet<Follower>;
  /** Open live update channels, by topic. */
  readonly channels: { readonly areNone: boolean; covering(iri: string): Iterable<Reader> };
}

/** Processes one change. @param mayRead returns true if a subscriber can read the resource */
type ChangeWork = (
  change: ResourceChange & EventStamp,
  record: ResourceRecord,
  mayRead: (access: (of: Subscribers) => Access) => Promise<boolean>,
) => Promise<void>;

export class Outbox {
  private last = 0;
  /** Cached activities, created on first use: most events have no recipient. */
  private readonly activities = new WeakMap<object, Activity>();
  /** Event streams and channels that could read a change when it happened. */
  private readonly readers = new WeakMap<ResourceChange, readonly Reader[]>();

  constructor(private readonly options: OutboxOptions) {
    // A new subscription stores the last sequence number, so that it gets no events from before its creation.
    options.subscriptions.sequence = () => this.last;
  }

  /** Continues with sequence numbers above those of an earlier process, and follows commits. */
  async open(store: Store): Promise<void> {
    for await (const [, last] of queuedInboxes(store)) this.pass(last);
    for (const distribution of Object.values(this.options.distributions)) {
      await distribution.open(store);
      for (const sequence of distribution.sequences) this.pass(sequence);
    }
    store.onTransaction((tx) => this.stage(tx));
    store.onForeign((tx) => this.meet(tx));
    store.onCommit((tx) => {
      const { followers } = this.options;
      const context = this.contextOf(tx);
      let position = tx.position - tx.changes.length - tx.announcements.length;
      for (const change of tx.changes) {
        position++;
        const readers = this.readers.get(change) ?? [];
        for (const follower of followers) if (!readers.includes(follower)) follower.tell(undefined, position);
        const activity = (): Activity => this.activity(change, () => activityOf(change, context));
        for (const { tell } of readers) tell(activity(), position);
      }
      for (const told of tx.announcements) {
        position++;
        const activity = (): Activity => this.activity(told, () => announcementOf(told, context));
        for (const { tell } of followers) tell(activity(), position);
      }
    });
  }

  private contextOf({ actor }: Transaction): EventContext {
    const { storage, includeActor } = this.options;
    return { storage, actor: includeActor ? actor : undefined };
  }

  /** Returns the cached or new activity of a change. All recipients share it. */
  private activity(of: object, make: () => Activity): Activity {
    return getOrMake(this.activities, of, make);
  }

  /** Returns the next sequence number. Increases with each event; after a restart too, unless the clock was set back. */
  private next(): string {
    this.last = Math.max(this.last + 1, this.options.clock() * sequencesPerMs);
    return this.last.toString(36).padStart(12, '0');
  }

  /** Ensures that later sequence numbers are greater than a sequence number of another process. */
  private pass(sequence = '0'): void {
    this.last = Math.max(this.last, Number.parseInt(sequence, 36));
  }

  /** Handles a commit of another server, which has staged the deliveries: notifies only the local streams. */
  private async meet(tx: Transaction): Promise<void> {
    for (const [key, value] of tx.entries) {
      const [first, one, two] = partsOfEntry(key);
      if (value !== null && first === space) this.pass(two);
      if (value !== null && Object.values<string | undefined>(waitingSpaces).includes(first)) this.pass(one);
    }
    if (this.hasListeners) await this.eachChange(tx, async () => {});
  }

  private async stage(tx: Transaction): Promise<void> {
    const { subscriptions } = this.options;
    const context = this.contextOf(tx);
    const traced = tx.trace && { traceparent: formatTraceparent(tx.trace) };
    const notify = async (...[change, { iri }, mayRead]: Parameters<ChangeWork>): Promise<void> => {
      if (subscriptions.areNone) return;
      const covering = [iri, ...ancestorsOf(iri, this.options.storage)];
      for (const callerClass of standings) {
        const topics = subscriptions.topicsAmong(covering, callerClass);
        if (topics.length === 0) continue;
        const isForAll = callerClass !== 'controller' && (await mayRead((of) => of.anybody()));
        const readers: string[] = [];
        if (!isForAll)
          for (const name of subscriptions.subscribersOf(topics, callerClass))
            if (await mayRead((accessOf) => accessOf.of(name))) readers.push(name);
        if (!isForAll && readers.length === 0) continue;
        const activity = this.activity(change, () => activityOf(change, context));
        this.queue(tx, { activity, topics, ...(isForAll ? {} : { readers }), inboxes: [], ...traced }, callerClass);
      }
    };
    if (this.hasListeners || !subscriptions.areNone) await this.eachChange(tx, notify);
    for (const told of tx.announcements)
      this.queue(tx, {
        activity: this.activity(told, () => announcementOf(told, context)),
        inboxes: told.inboxes,
        ...traced,
      });
  }

  /** True if a stream or channel is connected. One that connects during a transaction reads its events from the log. */
  private get hasListeners(): boolean {
    return this.options.followers.size > 0 || !this.options.channels.areNone;
  }

  /** Finds the local readers of each change, and calls `work` for the change. */
  private async eachChange(tx: Transaction, work: ChangeWork): Promise<void> {
    const { authorizer, followers, channels } = this.options;
    const seen = { before: new Subscribers(), after: new Subscribers() };
    for (const change of tx.changes) {
      const record = (change.after ?? change.before)!;
      // Evaluate access in the state of the event; for a deletion, in the state before it.
      const view: View = change.after ? tx : tx.before;
      const accessOf = seen[change.after ? 'after' : 'before'];
      const decided = new Map<Access, boolean>();
      const mayRead = async (wanted: (of: Subscribers) => Access): Promise<boolean> => {
        const access = wanted(accessOf);
        const known = decided.get(access);
        if (known !== undefined) return known;
        const allowed = await authorizer.allows({ view, access, mode: 'read', iri: record.iri, record });
        decided.set(access, allowed);
        return allowed;
      };
      const readers: Reader[] = [];
      for (const each of [...followers, ...channels.covering(record.iri)])
        if (await mayRead((of) => of.ofReader(each))) readers.push(each);
      if (readers.length > 0) this.readers.set(change, readers);
      await work(change, record, mayRead);
    }
  }

  /**
   * Queues the notifications of an event. For controllers, a few notifications are staged directly, unless earlier events wait,
   * so that each inbox gets its events in order. For other callers, one queue entry holds any count of subscriptions.
   */
  private queue(tx: Transaction, pending: PendingEvent, callerClass: CallerClass = 'controller'): void {
    const distribution = this.options.distributions[callerClass];
    const few = callerClass === 'controller' ? distribution.fewOf(tx, pending) : undefined;
    if (few) this.deliver(tx, few);
    else distribution.put(tx, this.next(), pending);
  }

  /** Stages the deliveries of an event, one entry per inbox. @returns the count of entries */
  deliver(tx: Transaction, { activity, inboxes, subscriptions = [], traceparent }: PendingEvent): number {
    const told = { activity, ...(traceparent === undefined ? {} : { traceparent }) };
    const all = new Set(inboxes);
    for (const inbox of all) this.put(tx, { inbox, ...told });
    const byInbox = new Map<string, string[]>();
    for (const id of subscriptions) {
      // Cancelled subscriptions are skipped.
      const inbox = this.options.subscriptions.get(id)?.inbox;
      if (inbox === undefined) continue;
      const ids = byInbox.get(inbox) ?? [];
      ids.push(id);
      byInbox.set(inbox, ids);
    }
    for (const [inbox, ids] of byInbox) this.put(tx, { inbox, subscriptions: ids, ...told });
    return all.size + byInbox.size;
  }

  private put(tx: Transaction, delivery: Delivery): void {
    tx.putEntry(entryKey(space, inboxName(delivery.inbox), this.next()), JSON.stringify(delivery));
  }
}
