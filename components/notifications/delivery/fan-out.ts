/**
 * Distributes notifications to inboxes after the commit, page by page, so that writes do not wait for many subscribers. Before
 * that, one entry per event stores the notifications. The rate is limited, except for controllers. Does not check permissions.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { CallerClass } from '../../../lib/authorization/authorizer.js';
import { entryKey, entryRange, partsOfEntry } from '../../../lib/storage/keys/records.js';
import type { Store } from '../../../lib/storage/transactions/store.js';
import type { Transaction } from '../../../lib/storage/transactions/transaction.js';
import { HiddenField } from '../../../lib/tools/hidden-field.js';
import type { Log } from '../../../lib/tools/log.js';
import type { Activity } from './events.js';

/** Entry spaces of waiting events, by caller class. */
export const waitingSpaces = {
  controller: 'outbox-waiting',
  known: 'outbox-waiting-known',
  stranger: 'outbox-waiting-stranger',
} as const satisfies Readonly<Record<CallerClass, string>>;

/** Event whose notifications are not in the outbox yet. */
export interface PendingEvent {
  readonly activity: Activity;
  /** Ids of the subscriptions to notify. Absent: all subscriptions to `topics`. */
  readonly subscriptions?: readonly string[];
  readonly topics?: readonly string[];
  /** Subscribers to `topics` that could read the resource at the event (`subscriberOf`). Absent: all subscribers. */
  readonly readers?: readonly string[];
  /** Id of the last notified subscription. Subscriptions with later ids are pending. */
  readonly after?: string;
  /** Inboxes that are notified without a subscription. */
  readonly inboxes: readonly string[];
  /** Trace context of the request that caused the event. */
  readonly traceparent?: string;
}

export interface PageLimits {
  /** Maximum subscription ids of a page, and maximum distinct inboxes. */
  readonly most: number;
  readonly inboxes: number;
  readonly sequence?: string | undefined;
}

export interface SubscriptionPage {
  readonly ids: readonly string[];
  /** Rest of the event for the next page. Absent after the last page. */
  readonly rest?: Pick<PendingEvent, 'subscriptions' | 'after'>;
}

export type Distributions = Readonly<Record<CallerClass, FanOut>>;

/** Maximum count of outbox entries per transaction, and of subscriptions that these entries notify. */
const [atOnce, idsAtOnce] = [100, 1000];
/** Maximum deliveries that are staged directly in the transaction of the event. */
const maxImmediate = 25;
/** Pause after an internal error, in milliseconds. */
const interruptedMs = 10_000;

/** Maximum waiting events, except for controllers: if writes are faster than deliveries, they must not fill the disk. */
export const maxWaiting = 20_000;
/** Maximum waiting events that a transaction processes. */
const maxEvents = 100;
/** Pause between pages under a rate limit, in milliseconds. */
const pauseMs = 250;

export interface DistributionOptions {
  readonly log: Log;
  readonly callerClass: CallerClass;
  /** Maximum deliveries per second. Absent: unlimited. */
  readonly perSecond?: number;
  /** Stages the deliveries of an event. @returns the count of outbox entries */
  readonly stage: (tx: Transaction, pending: PendingEvent) => number;
  /** Returns the next page of subscriptions for an event (`Subscriptions.pageOf`). */
  readonly pageOf: (pending: PendingEvent, callerClass: CallerClass, limits: PageLimits) => SubscriptionPage;
}

export class FanOut {
  /** Keys of waiting events, in order. */
  private readonly waiting = new Set<string>();
  /** Count of deliveries that were staged directly, per transaction. */
  private readonly inTransaction = new HiddenField<Transaction, number>();
  private running: Promise<void> | undefined;
  private readonly ending = new AbortController();

  private readonly space: string;
  /** Token bucket: deliveries allowed (`due`) at a time of `performance.now()`. The fraction is kept for the next page. */
  private pace = { at: 0, due: 0 };
  /** True if the warning about a full queue was logged and the queue is not yet empty. */
  private isFull = false;

  constructor(private readonly options: DistributionOptions) {
    this.space = waitingSpaces[options.callerClass];
  }

  /** Resumes the queue left by an earlier process, and follows staged events. */
  async open(store: Store): Promise<void> {
    const prefix = entryKey(this.space, '');
    for await (const keys of store.keys(entryRange(this.space))) for (const key of keys) this.waiting.add(key);
    store.onStage(({ entries }) => {
      for (const [key, value] of entries) {
        if (!key.startsWith(prefix)) continue;
        if (value === null) this.waiting.delete(key);
        else this.waiting.add(key);
      }
    });
    store.onDrop(({ entries }) => {
      if (![...entries.keys()].some((key) => key.startsWith(prefix))) return;
      const all = new Set(this.waiting);
      for (const key of entries.keys()) {
        if (!key.startsWith(prefix)) continue;
        if (store.entry(key) === undefined) all.delete(key);
        else all.add(key);
      }
      this.waiting.clear();
      for (const key of [...all].sort()) this.waiting.add(key);
    });
    store.onCommit(() => this.run(store));
    store.coordination.onLeading(() => this.run(store));
  }

  /** Returns the notifications of an event if they are few and no earlier event waits. They are then staged with the event. */
  fewOf(tx: Transaction, pending: PendingEvent): PendingEvent | undefined {
    const limits = { most: maxImmediate, inboxes: maxImmediate };
    const { ids, rest } =
      this.waiting.size > 0 ? { ids: [], rest: {} } : this.options.pageOf(pending, this.options.callerClass, limits);
    const more = rest ? Number.POSITIVE_INFINITY : ids.length + pending.inboxes.length;
    const sum = (this.inTransaction.get(tx) ?? 0) + more;
    this.inTransaction.set(tx, sum);
    return sum <= maxImmediate ? { ...pending, subscriptions: ids } : undefined;
  }

  get isWaiting(): boolean {
    return this.waiting.size > 0;
  }

  /** Sequence numbers of the waiting events. */
  get sequences(): string[] {
    return [...this.waiting].map((key) => partsOfEntry(key)[1]!);
  }

  /** Queues an event. If the queue is full, drops it, except for controllers. @param sequence sequence number of the event */
  put(tx: Transaction, sequence: string, pending: PendingEvent): void {
    const isFull = this.options.perSecond !== undefined && this.waiting.size >= maxWaiting;
    if (!isFull) tx.putEntry(entryKey(this.space, sequence), JSON.stringify(pending));
    else if (!this.isFull)
      this.options.log.warn(
        { callerClass: this.options.callerClass, maxWaiting },
        'events are dropped: the queue of notifications is full',
      );
    this.isFull ||= isFull;
  }

  run(store: Store): void {
    if (this.running || this.waiting.size === 0 || this.ending.signal.aborted || !store.coordination.leads) return;
    this.running = this.distribute(store).finally(() => {
      this.running = undefined;
      this.run(store);
    });
  }

  async stop(): Promise<void> {
    this.ending.abort();
    await this.running;
  }

  private async distribute(store: Store): Promise<void> {
    const { signal } = this.ending;
    const { perSecond } = this.options;
    try {
      while (this.waiting.size > 0 && !signal.aborted && store.coordination.leads) {
        const now = performance.now();
        // Keep the fraction: rounding up at each pause would exceed the rate.
        const { at, due } = this.pace;
        this.pace = { at: now, due: Math.min(perSecond ?? 0, due + ((perSecond ?? 0) * (now - at)) / 1000) };
        const most = perSecond === undefined ? idsAtOnce : Math.floor(this.pace.due);
        if (most > 0) this.pace.due -= await store.transact((tx) => this.part(tx, most), { frees: true });
        this.isFull &&= this.waiting.size > 0;
        if (perSecond !== undefined) await sleep(pauseMs, undefined, { signal }).catch(() => {});
      }
    } catch (error) {
      this.options.log.error({ err: error }, 'notifications could not be distributed, retrying');
      await sleep(interruptedMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Stages deliveries for at most `most` subscriptions, event by event. @returns the count of notified subscriptions */
  private part(tx: Transaction, most: number): number {
    const { stage, pageOf, callerClass } = this.options;
    let [left, room, events] = [most, atOnce, 0];
    for (const key of this.waiting) {
      if (left === 0 || room <= 0 || ++events > maxEvents) break;
      const value = tx.entry(key);
      if (value === undefined) continue;
      const pending = JSON.parse(value) as PendingEvent;
      const { ids, rest } = pageOf(pending, callerClass, { most: left, inboxes: room, sequence: partsOfEntry(key)[1] });
      left -= ids.length;
      room -= stage(tx, { ...pending, subscriptions: ids });
      if (!rest) tx.deleteEntry(key);
      else {
        tx.putEntry(key, JSON.stringify({ ...pending, ...rest, inboxes: [] }));
        // The event is not complete: a page also ends after a maximum of lookups.
        break;
      }
    }
    return most - left;
  }
}
