/**
 * Hands what many are owed of one event to the inboxes, after its commit and a part at a time, so that no write waits for all
 * of its subscribers. Until then it lies in the storage, beside what it tells of. It must not know who may be told.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../lib/log.js';
import { entryKey, entryRange, partsOfEntry } from '../../lib/storage/records.js';
import type { Store } from '../../lib/storage/store.js';
import type { Transaction } from '../../lib/storage/transaction.js';
import type { Activity } from './events.js';

export const waitingSpace = 'outbox-waiting';

/** What is owed of one event, and to whom still. */
export interface Owed {
  readonly activity: Activity;
  /** Subscriptions by their ids. */
  readonly subscriptions: readonly string[];
  /** Inboxes that nobody subscribed. */
  readonly inboxes: readonly string[];
  /** The trace of the request that did it. */
  readonly traceparent?: string;
}

/** Deliveries that are staged in one transaction. */
const atOnce = 100;
/** Those that are staged with what they tell of. */
const maxImmediate = 25;
/** After a fault of our own. */
const interruptedMs = 10_000;

export interface DistributionOptions {
  readonly log: Log;
  /** Stages the deliveries of one event. */
  readonly stage: (tx: Transaction, owed: Owed) => void;
}

export class Distribution {
  /** In the order of their events. */
  private readonly waiting = new Set<string>();
  /** Deliveries of each transaction so far. */
  private readonly inTransaction = new WeakMap<Transaction, number>();
  private running: Promise<void> | undefined;
  private readonly ending = new AbortController();

  constructor(private readonly options: DistributionOptions) {}

  /** Takes up what an earlier process left, and follows what is staged. */
  async open(store: Store): Promise<void> {
    const prefix = entryKey(waitingSpace, '');
    for await (const entries of store.entries(entryRange(waitingSpace)))
      for (const [key] of entries) this.waiting.add(key);
    store.onStage(({ entries }) => {
      for (const [key, value] of entries) {
        if (!key.startsWith(prefix)) continue;
        if (value === null) this.waiting.delete(key);
        else this.waiting.add(key);
      }
    });
    store.onDrop(({ entries }) => {
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
    store.shared?.onLeading(() => this.run(store));
  }

  /** Whether deliveries are to be staged with their event: there are few in its transaction, and none of before wait. */
  isImmediate(tx: Transaction, count: number): boolean {
    const sum = (this.inTransaction.get(tx) ?? 0) + count;
    this.inTransaction.set(tx, sum);
    return sum <= maxImmediate && this.waiting.size === 0;
  }

  /** The sequences of the events that wait. */
  get sequences(): string[] {
    return [...this.waiting].map((key) => partsOfEntry(key)[1]!);
  }

  /** Leaves an event for later. @param sequence that of the event */
  put(tx: Transaction, sequence: string, owed: Owed): void {
    tx.putEntry(entryKey(waitingSpace, sequence), JSON.stringify(owed));
  }

  run(store: Store): void {
    if (this.running || this.waiting.size === 0 || this.ending.signal.aborted || store.shared?.leads === false) return;
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
    try {
      for (const key of this.waiting) {
        if (signal.aborted || store.shared?.leads === false) return;
        while (this.waiting.has(key)) if (!(await this.part(store, key))) break;
      }
    } catch (error) {
      this.options.log.error({ err: error }, 'what is owed to subscribers could not be distributed, and is again');
      await sleep(interruptedMs, undefined, { signal }).catch(() => {});
    }
  }

  /** @returns whether there is more of this event */
  private part(store: Store, key: string): Promise<boolean> {
    return store.transact(
      (tx) => {
        const value = tx.entry(key);
        if (value === undefined) return false;
        const owed = JSON.parse(value) as Owed;
        this.options.stage(tx, { ...owed, subscriptions: owed.subscriptions.slice(0, atOnce) });
        const left: Owed = { ...owed, inboxes: [], subscriptions: owed.subscriptions.slice(atOnce) };
        if (left.subscriptions.length > 0) tx.putEntry(key, JSON.stringify(left));
        else tx.deleteEntry(key);
        return left.subscriptions.length > 0;
      },
      { frees: true },
    );
  }
}
