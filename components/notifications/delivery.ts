/**
 * Delivers the outbox: one line of deliveries for each inbox, in order, each tried again until it succeeds or is given up. A slow inbox
 * holds up nobody else.
 */
import { createHash, sign } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Log, type Measure, measure, measureBy, type Platform } from '../../lib/component/basics.js';
import { lwsJson } from '../../lib/component/http.js';
import { Gate, type GuardedFetch, OutboundError } from '../../lib/component/outbound.js';
import type { Store } from '../../lib/component/store.js';
import { notificationOf } from './events.js';
import { type Delivery, inboxOfKey, outboxRange, stagedAt } from './outbox.js';
import type { Subscription } from './subscription.js';
import { type Subscriptions, subscriptionKey } from './subscriptions.js';

/** What is written after deliveries: one transaction for all inboxes that wait for one. */
interface Batch {
  readonly keys: string[];
  readonly told: Map<string, Subscription>;
  readonly written: Promise<void>;
}

class Aftermath {
  private next: Batch | undefined;

  constructor(private readonly store: Store) {}

  /** What was delivered or given up leaves the outbox, and its subscriptions remember how it went. */
  write(keys: readonly string[], told: ReadonlyMap<string, Subscription>): Promise<void> {
    if (keys.length === 0) return Promise.resolve();
    this.next ??= this.begin();
    this.next.keys.push(...keys);
    for (const [id, state] of told) this.next.told.set(id, state);
    return this.next.written;
  }

  private begin(): Batch {
    const [keys, told]: [string[], Map<string, Subscription>] = [[], new Map()];
    const taken = (): void => {
      if (this.next?.keys === keys) this.next = undefined;
    };
    const written = this.store.transact(
      (tx) => {
        taken();
        for (const key of keys) tx.deleteEntry(key);
        // One that was cancelled meanwhile stays cancelled.
        for (const [id, state] of told)
          if (tx.entry(subscriptionKey(id)) !== undefined) tx.putEntry(subscriptionKey(id), JSON.stringify(state));
      },
      { frees: true },
    );
    return { keys, told, written: written.finally(taken) };
  }
}

const covered = ['@method', '@scheme', '@authority', '@path', 'content-type', 'content-digest'] as const;

/**
 * The fields that a POST of a body carries: a signature by RFC 9421 with Ed25519 over an RFC 9530 digest (rule 16.7). Pure.
 * @param created seconds since the epoch
 */
function signedFields(
  { keyId, key }: Platform['signingKey'],
  url: URL,
  contentType: string,
  body: Uint8Array,
  created: number,
): Readonly<Record<string, string>> {
  const digest = `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
  const values: Readonly<Record<(typeof covered)[number], string>> = {
    '@method': 'POST',
    '@scheme': url.protocol.slice(0, -1),
    // RFC 9421 2.2.3: lower case, without the default port, which is how URL has it.
    '@authority': url.host,
    '@path': url.pathname,
    'content-type': contentType,
    'content-digest': digest,
  };
  const parameters = `(${covered.map((name) => `"${name}"`).join(' ')});created=${created};keyid="${keyId}"`;
  const base = [...covered.map((name) => `"${name}": ${values[name]}`), `"@signature-params": ${parameters}`].join(
    '\n',
  );
  const signature = sign(null, Buffer.from(base), key).toString('base64');
  return {
    'Content-Type': contentType,
    'Content-Digest': digest,
    'Signature-Input': `sig1=${parameters}`,
    Signature: `sig1=:${signature}:`,
  };
}

export interface DeliveryOptions {
  readonly store: Store;
  readonly storage: string;
  readonly subscriptions: Subscriptions;
  readonly fetch: GuardedFetch;
  readonly key: Platform['signingKey'];
  readonly clock: () => number;
  readonly log: Log;
  readonly maxAttempts: number;
  /** Milliseconds, times the attempt. */
  readonly backoffMs: number;
  readonly maxFailures: number;
  readonly maxAtOnce: number;
  readonly maxPerHost: number;
}

/** Deliveries that are read ahead of one inbox, and marked as done together at most. */
const batch = 50;
/** Milliseconds after which what was delivered leaves the outbox. */
const longestUnremembered = 200;
/** After a fault of our own. */
const interruptedMs = 10_000;
const timeouts = { connectTimeoutMs: 10_000, timeoutMs: 15_000 };
/** Of a response, which nobody reads. */
const maxBytes = 64 << 10;

type Outcome = 'done' | 'gone' | 'again' | 'failed' | 'cancelled';

export class Deliveries {
  private readonly lines = new Map<string, Promise<void>>();
  private readonly again = new Set<string>();
  private readonly gate: Gate;
  private readonly aftermath: Aftermath;
  private readonly ending = new AbortController();
  private stopped = false;
  /** Attempts so far, by what came of them. */
  readonly outcomes = new Map<Outcome, number>();

  constructor(private readonly options: DeliveryOptions) {
    const { maxAtOnce: inAll, maxPerHost: perHost } = options;
    this.aftermath = new Aftermath(options.store);
    // Inboxes that do not answer take places; those of strangers not all.
    this.gate = new Gate({ inAll, perHost, perClient: Math.max(1, inAll >> 2) });
    // Each delivery under way listens.
    setMaxListeners(0, this.ending.signal);
  }

  /** Takes up what is left of an earlier process, and follows commits. */
  async start(): Promise<void> {
    const { store } = this.options;
    store.onCommit(({ entries }) => {
      for (const [key, value] of entries) {
        const name = value === null ? undefined : inboxOfKey(key);
        if (name !== undefined) this.wake(name);
      }
    });
    store.shared?.onLeading(() => {
      this.wakeAll().catch((error: unknown) => {
        this.options.log.error({ err: error }, 'the outbox could not be taken over from another server');
      });
    });
    await this.wakeAll();
  }

  private async wakeAll(): Promise<void> {
    const names = new Set<string>();
    for await (const entries of this.options.store.entries(outboxRange()))
      for (const [key] of entries) names.add(inboxOfKey(key)!);
    for (const name of names) this.wake(name);
  }

  /** Of several servers one delivers. */
  private get isOver(): boolean {
    return this.stopped || this.options.store.shared?.leads === false;
  }

  /** Ends what is under way; what is not delivered stays in the outbox. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.ending.abort();
    await Promise.all(this.lines.values());
  }

  /** Something is being delivered, or waits for another attempt. */
  get isBusy(): boolean {
    return this.lines.size > 0;
  }

  private wake(name: string): void {
    if (this.isOver) return;
    if (this.lines.has(name)) {
      this.again.add(name);
      return;
    }
    const line = this.deliverLine(name)
      .catch(async (error: unknown) => {
        this.options.log.error({ err: error }, 'deliveries to an inbox were interrupted, and begin again');
        this.again.add(name);
        await this.sleep(interruptedMs);
      })
      .finally(() => {
        this.lines.delete(name);
        if (this.again.delete(name)) this.wake(name);
      });
    this.lines.set(name, line);
  }

  private async deliverLine(name: string): Promise<void> {
    for (;;) {
      this.again.delete(name);
      const entries: [string, string][] = [];
      for await (const block of this.options.store.entries(outboxRange(name))) {
        entries.push(...block.slice(0, batch - entries.length));
        if (entries.length >= batch) break;
      }
      if (entries.length === 0 || this.isOver) return;
      const done: string[] = [];
      const began = performance.now();
      const told = new Map<string, Subscription>();
      for (const [key, value] of entries) {
        if (!(await this.deliver(JSON.parse(value) as Delivery, told))) break;
        done.push(key);
        // What is told slowly, and what was refused, is remembered at once.
        if (performance.now() - began > longestUnremembered || [...told.values()].some(({ failures }) => failures > 0))
          break;
      }
      await this.aftermath.write(done, told);
      if (this.isOver) return;
    }
  }

  /** @returns false when it was interrupted and stays in the outbox */
  private async deliver(delivery: Delivery, told: Map<string, Subscription>): Promise<boolean> {
    const { subscriptions, clock, maxAttempts, backoffMs, maxFailures } = this.options;
    const { subscription: id } = delivery;
    const current = (): Subscription | undefined =>
      id === undefined ? undefined : (told.get(id) ?? subscriptions.get(id));
    for (let attempt = 1; ; attempt++) {
      if (this.isOver) return false;
      // Cancelled or deactivated meanwhile: nobody waits for it any more.
      if (id !== undefined && (!subscriptions.get(id) || current()?.active !== true)) return true;
      const outcome = await this.send(delivery, () => id === undefined || subscriptions.get(id) !== undefined);
      this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
      if (outcome === 'cancelled') return !this.stopped;
      const state = current();
      if (outcome === 'done') {
        if (state) told.set(id!, { ...state, lastSuccess: clock(), failures: 0 });
        return true;
      }
      if (outcome === 'again' && attempt < maxAttempts) {
        await this.sleep(backoffMs * attempt);
        continue;
      }
      if (state) {
        const failures = state.failures + 1;
        const active = outcome !== 'gone' && failures < maxFailures;
        told.set(id!, { ...state, lastFailure: clock(), failures, active });
      }
      return true;
    }
  }

  /** @param isWanted asked when it is its turn, which may be late */
  private async send(delivery: Delivery, isWanted: () => boolean): Promise<Outcome> {
    const { inbox, activity, subscription, traceparent } = delivery;
    const { fetch, key, storage, clock, log } = this.options;
    const url = new URL(inbox);
    const body = Buffer.from(JSON.stringify(notificationOf(activity, storage)));
    const client = this.options.subscriptions.turnOf(subscription);
    const release = await this.gate.enter({ host: url.host, client }, this.ending.signal).catch(() => undefined);
    // Its turn has not come, and the server stops.
    if (!release) return 'cancelled';
    try {
      if (this.stopped || !isWanted()) return 'cancelled';
      // Not earlier: a signature that waited for its turn is old.
      const signed = signedFields(key, url, lwsJson, body, Math.floor(clock() / 1000));
      const headers = traceparent === undefined ? signed : { ...signed, traceparent };
      const { status } = await fetch(url, {
        ...{ method: 'POST', headers, body, signal: this.ending.signal },
        ...{ ...timeouts, maxBytes, maxRedirects: 0, discardBody: true },
      });
      if (status < 200 || status > 299) log.info({ inbox: url.host, status, subscription }, 'a delivery was not taken');
      return outcomeOf(status);
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      // It stays in the outbox, and is no failure of the inbox.
      if (this.stopped) return 'cancelled';
      log.info({ inbox: url.host, reason: error.message, subscription }, 'a delivery failed');
      // An address that is not public today may be tomorrow, but nobody should be made to try.
      return ['address', 'scheme', 'credentials-in-url'].includes(error.code) ? 'failed' : 'again';
    } finally {
      release();
    }
  }

  private async sleep(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.ending.signal }).catch(() => {});
  }
}

/** 2xx done; 410 for good; 429 and 5xx later; whatever else is refused, redirects included (rule 16.8). */
function outcomeOf(status: number): Outcome {
  if (status >= 200 && status < 300) return 'done';
  if (status === 410) return 'gone';
  return status === 429 || status >= 500 ? 'again' : 'failed';
}

/** A long outbox is not read through each time. */
const maxCounted = 20_000;

/**
 * Numbers of the outbox for those who watch the server.
 * @param outcomes attempts so far, by what came of them
 * @param now milliseconds since the epoch
 */
export async function outboxMeasures(
  store: Store,
  outcomes: Iterable<readonly [string, number]>,
  now: number,
): Promise<readonly Measure[]> {
  let [waiting, oldest] = [0, now];
  for await (const keys of store.keys(outboxRange())) {
    for (const key of keys) oldest = Math.min(oldest, stagedAt(key));
    waiting += keys.length;
    if (waiting >= maxCounted) break;
  }
  return [
    measure('gauge', 'outbox_deliveries', `Deliveries that are owed; at most ${maxCounted} are counted.`, waiting),
    measure('gauge', 'outbox_oldest_seconds', 'The age of the oldest of these.', (now - oldest) / 1000),
    measureBy(
      { kind: 'counter', name: 'webhook_attempts_total', help: 'Attempts to deliver, by what came of them.' },
      'outcome',
      outcomes,
    ),
  ];
}
