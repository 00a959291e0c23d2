/**
 * The outbox: what has to be told to whom, staged in the transaction of what it tells of, in the order of the transactions. An event that
 * was committed is delivered, after a crash too.
 */
import { createHash } from 'node:crypto';
import { type Authorizer, ancestorsOf, type CallerClass, type View } from '../../../lib/authorization/authorizer.js';
import type { Access } from '../../../lib/authorization/principal.js';
import { formatTraceparent } from '../../../lib/fields/traceparent.js';
import { entryKey, entryRange, partsOfEntry, type ResourceRecord } from '../../../lib/storage/keys/records.js';
import type { EventStamp, ResourceChange } from '../../../lib/storage/log/changes.js';
import type { Store } from '../../../lib/storage/transactions/store.js';
import type { Transaction } from '../../../lib/storage/transactions/transaction.js';
import { type Activity, activityOf, announcementOf, type EventContext } from './events.js';
import { type Distributions, type Owed, waitingSpaces } from './fan-out.js';
import { type Follower, type Reader, Subscribers } from './readers.js';
import { standings } from './subscription.js';
import type { Subscriptions } from './subscriptions.js';

const space = 'outbox';
const sequencesPerMs = 64;

/** One delivery that is owed. */
export interface Delivery {
  readonly inbox: string;
  /** Each is a request; absent for a notification without a subscription: of an access request or grant. */
  readonly subscriptions?: readonly string[];
  /** The only one, in entries of earlier versions. */
  readonly subscription?: string;
  readonly activity: Activity;
  readonly traceparent?: string;
}

/** Deliveries to one inbox lie together, in order. */
export const inboxName = (inbox: string): string => createHash('sha256').update(inbox).digest('base64url').slice(0, 22);
export const outboxRange = (name?: string) => (name === undefined ? entryRange(space) : entryRange(space, name));
const everyInbox = outboxRange().gte;
export const inboxOfKey = (key: string): string | undefined =>
  key.startsWith(everyInbox) ? partsOfEntry(key)[1] : undefined;

const keysAtOnce = 200;

/** The inboxes with deliveries, and the last sequence of each. Of a long line the first keys and the last are read. */
export async function* linesOf(store: Store): AsyncGenerator<readonly [name: string, last: string]> {
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

/** When a delivery was staged, in milliseconds since the epoch; about (see `Outbox.next`). */
export const stagedAt = (key: string): number => Number.parseInt(partsOfEntry(key)[2] ?? '0', 36) / sequencesPerMs;

export interface OutboxOptions {
  readonly storage: string;
  readonly authorizer: Authorizer;
  readonly subscriptions: Subscriptions;
  readonly distributions: Distributions;
  readonly clock: () => number;
  readonly includeActor: boolean;
  /** Those who follow now: controllers, who are notified of what they may read. */
  readonly followers: ReadonlySet<Follower>;
  /** Those who listen to some topics now. */
  readonly channels: { covering(iri: string): Iterable<Reader> };
}

export class Outbox {
  private last = 0;
  /** Made when the first wants them: mostly nobody does. */
  private readonly activities = new WeakMap<object, Activity>();
  /** The followers and channels that could read what changed, at that time. */
  private readonly readers = new WeakMap<ResourceChange, readonly Reader[]>();

  constructor(private readonly options: OutboxOptions) {
    // What is owed already is not owed to those who come after it.
    options.subscriptions.sequence = () => this.last;
  }

  /** Goes on after what an earlier process staged, and follows commits. */
  async open(store: Store): Promise<void> {
    for await (const [, last] of linesOf(store)) this.pass(last);
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

  /** One activity of a change, whoever is notified of it. */
  private activity(of: object, make: () => Activity): Activity {
    const activity = this.activities.get(of) ?? make();
    this.activities.set(of, activity);
    return activity;
  }

  /** Sequence numbers grow with every event, also over restarts, as far as the clock does. */
  private next(): string {
    this.last = Math.max(this.last + 1, this.options.clock() * sequencesPerMs);
    return this.last.toString(36).padStart(12, '0');
  }

  /** Goes on after a number of another process. */
  private pass(sequence = '0'): void {
    this.last = Math.max(this.last, Number.parseInt(sequence, 36));
  }

  /** What another server committed is told to those who listen here; it has staged what is owed to others. */
  private async meet(tx: Transaction): Promise<void> {
    for (const [key, value] of tx.entries) {
      const [first, one, two] = partsOfEntry(key);
      if (value !== null && first === space) this.pass(two);
      if (value !== null && Object.values<string | undefined>(waitingSpaces).includes(first)) this.pass(one);
    }
    await this.eachChange(tx, async () => {});
  }

  private async stage(tx: Transaction): Promise<void> {
    const { subscriptions } = this.options;
    const context = this.contextOf(tx);
    const traced = tx.trace && { traceparent: formatTraceparent(tx.trace) };
    await this.eachChange(tx, async (change, { iri }, mayRead) => {
      if (subscriptions.areNone) return;
      const covering = [iri, ...ancestorsOf(iri, this.options.storage)];
      for (const standing of standings) {
        const topics = subscriptions.topicsAmong(covering, standing);
        if (topics.length === 0) continue;
        const isForAll = standing !== 'controller' && (await mayRead((of) => of.anybody()));
        const readers: string[] = [];
        if (!isForAll)
          for (const name of subscriptions.subscribersOf(topics, standing))
            if (await mayRead((accessOf) => accessOf.of(name))) readers.push(name);
        if (!isForAll && readers.length === 0) continue;
        const activity = this.activity(change, () => activityOf(change, context));
        this.owe(tx, { activity, topics, ...(isForAll ? {} : { readers }), inboxes: [], ...traced }, standing);
      }
    });
    for (const told of tx.announcements)
      this.owe(tx, {
        activity: this.activity(told, () => announcementOf(told, context)),
        inboxes: told.inboxes,
        ...traced,
      });
  }

  /** Finds those who listen here to each change, and does what else there is to do with it. */
  private async eachChange(
    tx: Transaction,
    work: (
      change: ResourceChange & EventStamp,
      record: ResourceRecord,
      mayRead: (access: (of: Subscribers) => Access) => Promise<boolean>,
    ) => Promise<void>,
  ): Promise<void> {
    const { authorizer, followers, channels } = this.options;
    const seen = { before: new Subscribers(), after: new Subscribers() };
    for (const change of tx.changes) {
      const record = (change.after ?? change.before)!;
      // Who may read it at the time of the event; what is deleted, before it was.
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
   * To controllers it is staged at once where few are told, else later: the events of one inbox stay in order. What others
   * subscribed to is one entry, whatever their number.
   */
  private owe(tx: Transaction, owed: Owed, standing: CallerClass = 'controller'): void {
    const distribution = this.options.distributions[standing];
    const few = standing === 'controller' ? distribution.fewOf(tx, owed) : undefined;
    if (few) this.deliver(tx, few);
    else distribution.put(tx, this.next(), owed);
  }

  /** Stages the deliveries of an event, in one entry for each inbox. @returns the number of entries */
  deliver(tx: Transaction, { activity, inboxes, subscriptions = [], traceparent }: Owed): number {
    const told = { activity, ...(traceparent === undefined ? {} : { traceparent }) };
    const all = new Set(inboxes);
    for (const inbox of all) this.put(tx, { inbox, ...told });
    const byInbox = new Map<string, string[]>();
    for (const id of subscriptions) {
      // One that was cancelled meanwhile waits for nothing.
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
