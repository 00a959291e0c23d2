/**
 * Hands what is owed of an event to the inboxes, after its commit and a part at a time, so that no write waits for its
 * subscribers; so many a second for those who are no controllers. Until then it lies in the storage, beside what it tells of. It
 * must not know who may be told.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallerClass } from '../../../lib/authorization/authorizer.js';
import type { Log } from '../../../lib/log.js';
import { entryKey, entryRange, partsOfEntry } from '../../../lib/storage/keys/records.js';
import type { Store } from '../../../lib/storage/transactions/store.js';
import type { Transaction } from '../../../lib/storage/transactions/transaction.js';
import type { Activity } from './events.js';

/** Entries of the events that wait, by whom they are owed to. */
export const waitingSpaces = {
  controller: 'outbox-waiting',
  known: 'outbox-waiting-known',
  stranger: 'outbox-waiting-stranger',
} as const satisfies Readonly<Record<CallerClass, string>>;

/** What is owed of one event, and to whom still. */
export interface Owed {
  readonly activity: Activity;
  /** Subscriptions by their ids; absent: those to `topics`. */
  readonly subscriptions?: readonly string[];
  readonly topics?: readonly string[];
  /** Those who could read it, of those who subscribed to `topics` (`subscriberOf`); absent: all of them. */
  readonly readers?: readonly string[];
  /** Subscriptions to `topics` up to this id have been told. */
  readonly after?: string;
  /** Inboxes that nobody subscribed. */
  readonly inboxes: readonly string[];
  /** The trace of the request that did it. */
  readonly traceparent?: string;
}

export interface PageLimits {
  /** Maximum number of ids, and of distinct inboxes. */
  readonly most: number;
  readonly inboxes: number;
  readonly sequence?: string | undefined;
}

export interface Page {
  readonly ids: readonly string[];
  /** Where the next page begins; absent: there is none. */
  readonly rest?: Pick<Owed, 'subscriptions' | 'after'>;
}

export type Distributions = Readonly<Record<CallerClass, FanOut>>;

/** Entries of deliveries that are staged in one transaction, and subscriptions that they are for. */
const [atOnce, idsAtOnce] = [100, 1000];
/** Those that are staged with what they tell of. */
const maxImmediate = 25;
/** After a fault of our own. */
const interruptedMs = 10_000;

/** Events that wait for others than controllers: writes may be quicker than their subscribers, who must not fill the disk. */
export const maxWaiting = 20_000;
/** Events that are looked at in one transaction. */
const maxEvents = 100;
/** Between two parts, where they are bounded by the second. */
const pauseMs = 250;

export interface DistributionOptions {
  readonly log: Log;
  readonly standing: CallerClass;
  /** Deliveries; absent: any number. */
  readonly perSecond?: number;
  /** Stages the deliveries of one event. @returns the number of entries */
  readonly stage: (tx: Transaction, owed: Owed) => number;
  /** The next subscriptions that an event is owed to (`Subscriptions.pageOf`). */
  readonly pageOf: (owed: Owed, standing: CallerClass, limits: PageLimits) => Page;
}

export class FanOut {
  /** In the order of their events. */
  private readonly waiting = new Set<string>();
  /** Deliveries of each transaction so far. */
  private readonly inTransaction = new WeakMap<Transaction, number>();
  private running: Promise<void> | undefined;
  private readonly ending = new AbortController();

  private readonly space: string;
  /** Deliveries that may be staged at a time of `performance`; fewer than one is kept. */
  private pace = { at: 0, due: 0 };
  /** Said once, until nothing waits. */
  private isFull = false;

  constructor(private readonly options: DistributionOptions) {
    this.space = waitingSpaces[options.standing];
  }

  /** Takes up what an earlier process left, and follows what is staged. */
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

  /** What is owed, where it is to be staged with its event: there is little in its transaction, and nothing of before waits. */
  fewOf(tx: Transaction, owed: Owed): Owed | undefined {
    const limits = { most: maxImmediate, inboxes: maxImmediate };
    const { ids, rest } =
      this.waiting.size > 0 ? { ids: [], rest: {} } : this.options.pageOf(owed, this.options.standing, limits);
    const more = rest ? Number.POSITIVE_INFINITY : ids.length + owed.inboxes.length;
    const sum = (this.inTransaction.get(tx) ?? 0) + more;
    this.inTransaction.set(tx, sum);
    return sum <= maxImmediate ? { ...owed, subscriptions: ids } : undefined;
  }

  get isWaiting(): boolean {
    return this.waiting.size > 0;
  }

  /** The sequences of the events that wait. */
  get sequences(): string[] {
    return [...this.waiting].map((key) => partsOfEntry(key)[1]!);
  }

  /** Leaves an event for later; where too many wait of others than controllers, it is not owed. @param sequence that of the event */
  put(tx: Transaction, sequence: string, owed: Owed): void {
    const isFull = this.options.perSecond !== undefined && this.waiting.size >= maxWaiting;
    if (!isFull) tx.putEntry(entryKey(this.space, sequence), JSON.stringify(owed));
    else if (!this.isFull)
      this.options.log.warn(
        { standing: this.options.standing, maxWaiting },
        'events are not told any more: too many wait',
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
        // What is due is a fraction: rounded up at each pause, it would be more than the rate.
        const { at, due } = this.pace;
        this.pace = { at: now, due: Math.min(perSecond ?? 0, due + ((perSecond ?? 0) * (now - at)) / 1000) };
        const most = perSecond === undefined ? idsAtOnce : Math.floor(this.pace.due);
        if (most > 0) this.pace.due -= await store.transact((tx) => this.part(tx, most), { frees: true });
        this.isFull &&= this.waiting.size > 0;
        if (perSecond !== undefined) await sleep(pauseMs, undefined, { signal }).catch(() => {});
      }
    } catch (error) {
      this.options.log.error({ err: error }, 'what is owed to subscribers could not be distributed, and is again');
      await sleep(interruptedMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Stages deliveries to so many subscriptions at most, of one event after the other. @returns to how many */
  private part(tx: Transaction, most: number): number {
    const { stage, pageOf, standing } = this.options;
    let [left, room, events] = [most, atOnce, 0];
    for (const key of this.waiting) {
      if (left === 0 || room <= 0 || ++events > maxEvents) break;
      const value = tx.entry(key);
      if (value === undefined) continue;
      const owed = JSON.parse(value) as Owed;
      const { ids, rest } = pageOf(owed, standing, { most: left, inboxes: room, sequence: partsOfEntry(key)[1] });
      left -= ids.length;
      room -= stage(tx, { ...owed, subscriptions: ids });
      if (!rest) tx.deleteEntry(key);
      else {
        tx.putEntry(key, JSON.stringify({ ...owed, ...rest, inboxes: [] }));
        // A page ends where enough was looked at, too.
        break;
      }
    }
    return most - left;
  }
}
