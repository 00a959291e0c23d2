/**
 * The outbox: what has to be told to whom, staged in the transaction of what it tells of, in the order of the transactions.
 * An event that was committed is delivered, after a crash too. It must not know how.
 */
import { createHash } from 'node:crypto';
import type { Authorizer, View } from '../../lib/authorization/authorizer.js';
import { entryKey, entryRange, partsOfEntry } from '../../lib/storage/records.js';
import type { Store } from '../../lib/storage/store.js';
import type { Transaction } from '../../lib/storage/transaction.js';
import type { Distribution, Owed } from './distribution.js';
import { type Activity, activityOf, announcementOf, type EventContext } from './events.js';
import type { Subscriptions } from './subscriptions.js';

const space = 'outbox';

/** One delivery that is owed. */
export interface Delivery {
  readonly inbox: string;
  /** Absent for a notification that nobody subscribed to: of an access request or grant. */
  readonly subscription?: string;
  readonly activity: Activity;
}

/** Deliveries to one inbox lie together, in order. */
export const inboxName = (inbox: string): string => createHash('sha256').update(inbox).digest('base64url').slice(0, 22);
export const outboxRange = (name?: string) => (name === undefined ? entryRange(space) : entryRange(space, name));
export const inboxOfKey = (key: string): string | undefined => {
  const [first, name] = partsOfEntry(key);
  return first === space ? name : undefined;
};

export interface OutboxOptions {
  readonly storage: string;
  readonly authorizer: Authorizer;
  readonly subscriptions: Subscriptions;
  readonly distribution: Distribution;
  readonly clock: () => number;
  readonly includeActor: boolean;
  /** Whether anybody wants every committed activity now. */
  readonly isFollowed: () => boolean;
  /** Told of every committed activity while it is followed. */
  readonly onActivity: (activity: Activity) => void;
}

export class Outbox {
  private last = 0;
  /** Made when the first wants them: mostly nobody does. */
  private readonly activities = new WeakMap<object, Activity>();

  constructor(private readonly options: OutboxOptions) {}

  /** Goes on behind what an earlier process staged, and follows commits. */
  async open(store: Store): Promise<void> {
    for await (const entries of store.entries(outboxRange()))
      for (const [key] of entries) this.last = Math.max(this.last, Number.parseInt(partsOfEntry(key)[2] ?? '0', 36));
    const { distribution } = this.options;
    await distribution.open(store);
    for (const sequence of distribution.sequences) this.last = Math.max(this.last, Number.parseInt(sequence, 36));
    store.onTransaction((tx) => this.stage(tx));
    store.onCommit((tx) => {
      if (!this.options.isFollowed()) return;
      const context = this.contextOf(tx);
      for (const change of tx.changes)
        this.options.onActivity(this.activity(change, () => activityOf(change, context)));
      for (const told of tx.announcements)
        this.options.onActivity(this.activity(told, () => announcementOf(told.id, told.types, context)));
    });
  }

  private contextOf({ actor }: Transaction): EventContext {
    const { storage, clock, includeActor } = this.options;
    return { storage, now: clock(), actor: includeActor ? actor : undefined };
  }

  /** One activity of a change, whoever is told of it. */
  private activity(of: object, make: () => Activity): Activity {
    const activity = this.activities.get(of) ?? make();
    this.activities.set(of, activity);
    return activity;
  }

  /** Sequence numbers grow with every event, also over restarts, as far as the clock does. */
  private next(): string {
    this.last = Math.max(this.last + 1, this.options.clock() * 64);
    return this.last.toString(36).padStart(12, '0');
  }

  private async stage(tx: Transaction): Promise<void> {
    const { subscriptions, authorizer } = this.options;
    const context = this.contextOf(tx);
    for (const change of tx.changes) {
      const record = (change.after ?? change.before)!;
      const told: string[] = [];
      for (const { id, subscriber, client } of subscriptions.covering(record.iri)) {
        // Who may read it at the time of the event; what is deleted, before it was.
        const view: View = change.after ? tx : tx.before;
        const access = { principal: { subject: subscriber, ...(client === undefined ? {} : { client }) } };
        const allowed = authorizer.allows({ view, access, mode: 'read', iri: record.iri, record });
        if (allowed === true || (await allowed)) told.push(id);
      }
      if (told.length > 0)
        this.owe(tx, {
          activity: this.activity(change, () => activityOf(change, context)),
          subscriptions: told,
          inboxes: [],
        });
    }
    for (const told of tx.announcements)
      this.owe(tx, {
        activity: this.activity(told, () => announcementOf(told.id, told.types, context)),
        subscriptions: [],
        inboxes: told.inboxes,
      });
  }

  /** Staged at once where few are told, else later: the events of one inbox stay in order. */
  private owe(tx: Transaction, owed: Owed): void {
    const { distribution } = this.options;
    if (distribution.isImmediate(tx, owed.subscriptions.length + owed.inboxes.length)) this.deliver(tx, owed);
    else distribution.put(tx, this.next(), owed);
  }

  /** Stages the deliveries of an event. */
  deliver(tx: Transaction, { activity, subscriptions, inboxes }: Owed): void {
    for (const inbox of new Set(inboxes)) this.put(tx, { inbox, activity });
    for (const id of subscriptions) {
      // One that was cancelled meanwhile waits for nothing.
      const inbox = this.options.subscriptions.get(id)?.inbox;
      if (inbox !== undefined) this.put(tx, { inbox, subscription: id, activity });
    }
  }

  private put(tx: Transaction, delivery: Delivery): void {
    tx.putEntry(entryKey(space, inboxName(delivery.inbox), this.next()), JSON.stringify(delivery));
  }
}
