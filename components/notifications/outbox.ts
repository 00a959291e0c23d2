/**
 * The outbox: what has to be told to whom, staged in the transaction of what it tells of, in the order of the transactions.
 * An event that was committed is delivered, after a crash too. It must not know how.
 */
import { createHash } from 'node:crypto';
import type { Authorizer, View } from '../../lib/authorization/authorizer.js';
import { entryKey, entryRange, partsOfEntry } from '../../lib/storage/records.js';
import type { Store } from '../../lib/storage/store.js';
import type { Transaction } from '../../lib/storage/transaction.js';
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
  readonly clock: () => number;
  readonly includeActor: boolean;
  /** Told of every committed activity. */
  readonly onActivity: (activity: Activity) => void;
}

export class Outbox {
  private last = 0;
  private readonly staged = new WeakMap<Transaction, Activity[]>();

  constructor(private readonly options: OutboxOptions) {}

  /** Goes on behind what an earlier process staged, and follows commits. */
  async open(store: Store): Promise<void> {
    for await (const entries of store.entries(outboxRange()))
      for (const [key] of entries) this.last = Math.max(this.last, Number.parseInt(partsOfEntry(key)[2] ?? '0', 36));
    store.onTransaction((tx) => this.stage(tx));
    store.onCommit((tx) => {
      for (const activity of this.staged.get(tx) ?? []) this.options.onActivity(activity);
    });
  }

  /** Sequence numbers grow with every event, also over restarts, as far as the clock does. */
  private next(): string {
    this.last = Math.max(this.last + 1, this.options.clock() * 64);
    return this.last.toString(36).padStart(12, '0');
  }

  private async stage(tx: Transaction): Promise<void> {
    const { storage, clock, includeActor, subscriptions } = this.options;
    const context: EventContext = { storage, now: clock(), actor: includeActor ? tx.actor : undefined };
    const activities: Activity[] = [];
    for (const change of tx.changes) {
      const record = (change.after ?? change.before)!;
      const activity = activityOf(change, context);
      activities.push(activity);
      for (const { id, inbox, subscriber, client } of subscriptions.covering(record.iri)) {
        // Who may read it at the time of the event; what is deleted, before it was.
        const view: View = change.after ? tx : tx.before;
        const access = { principal: { subject: subscriber, ...(client === undefined ? {} : { client }) } };
        if (await this.options.authorizer.allows({ view, access, mode: 'read', iri: record.iri, record }))
          this.put(tx, { inbox, subscription: id, activity });
      }
    }
    for (const { id, types, inboxes } of tx.announcements) {
      const activity = announcementOf(id, types, context);
      for (const inbox of new Set(inboxes)) this.put(tx, { inbox, activity });
    }
    this.staged.set(tx, activities);
  }

  private put(tx: Transaction, delivery: Delivery): void {
    tx.putEntry(entryKey(space, inboxName(delivery.inbox), this.next()), JSON.stringify(delivery));
  }
}
