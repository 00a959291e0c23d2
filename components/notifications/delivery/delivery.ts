/**
 * Delivers the notifications of the outbox: one queue per inbox, in order. Retries each delivery until it succeeds or the
 * attempts are used up. A slow inbox does not delay others.
 */
import { createHash, sign } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallerClass } from '../../../lib/authorization/authorizer.js';
import type { Platform } from '../../../lib/component/contract.js';
import { lwsJson } from '../../../lib/http/negotiate.js';
import type { Store } from '../../../lib/storage/transactions/store.js';
import { addCount } from '../../../lib/tools/collections.js';
import { Gate } from '../../../lib/tools/gate.js';
import type { Log } from '../../../lib/tools/log.js';
import { type Metric, metric, metricBy } from '../../../lib/tools/metrics.js';
import type { GuardedFetch } from '../../../lib/tools/outbound/guarded-fetch.js';
import { OutboundError } from '../../../lib/tools/outbound/outbound-error.js';
import { notificationOf } from './events.js';
import { type Delivery, inboxOfKey, outboxRange, queuedInboxes, stagedAt } from './outbox.js';
import type { Subscription } from './subscription.js';
import { type Subscriptions, subscriptionKey } from './subscriptions.js';

/** Batch of outbox writes after deliveries: one transaction for all inboxes whose deliveries have finished. */
interface Batch {
  readonly changes: Map<string, string | null>;
  readonly told: Map<string, Subscription>;
  readonly written: Promise<void>;
}

class Aftermath {
  private next: Batch | undefined;

  constructor(private readonly store: Store) {}

  /** Writes the results of deliveries: deletes outbox entries (`null`) or replaces them, and updates the subscriptions. */
  write(changes: ReadonlyMap<string, string | null>, told: ReadonlyMap<string, Subscription>): Promise<void> {
    if (changes.size === 0) return Promise.resolve();
    this.next ??= this.begin();
    for (const [key, value] of changes) this.next.changes.set(key, value);
    for (const [id, state] of told) this.next.told.set(id, state);
    return this.next.written;
  }

  private begin(): Batch {
    const [changes, told]: [Map<string, string | null>, Map<string, Subscription>] = [new Map(), new Map()];
    const taken = (): void => {
      if (this.next?.changes === changes) this.next = undefined;
    };
    const written = this.store.transact(
      (tx) => {
        taken();
        for (const [key, value] of changes)
          if (value === null) tx.deleteEntry(key);
          else tx.putEntry(key, value);
        // A subscription that was cancelled meanwhile stays cancelled.
        for (const [id, state] of told)
          if (tx.entry(subscriptionKey(id)) !== undefined) tx.putEntry(subscriptionKey(id), JSON.stringify(state));
      },
      { frees: true },
    );
    return { changes, told, written: written.finally(taken) };
  }
}

const covered = ['@method', '@scheme', '@authority', '@path', 'content-type', 'content-digest'] as const;

/**
 * Returns the header fields of a delivery, signed by RFC 9421 with Ed25519 over an RFC 9530 digest (rule 16.7).
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
    // RFC 9421 2.2.3: lower case, without the default port. The property `host` of a `URL` has this form.
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
  /** Retry delay in milliseconds, multiplied by the number of the attempt. */
  readonly backoffMs: number;
  readonly maxFailures: number;
  readonly maxAtOnce: number;
  readonly maxPerHost: number;
  /** Maximum attempts per second, including retries, to inboxes of subscribers that are not controllers. */
  readonly perSecond: Readonly<Record<Exclude<CallerClass, 'controller'>, number>>;
}

/** Rate limiter: returns evenly spaced start times for attempts. */
class Pace {
  private next = 0;
  constructor(private readonly perSecond: number) {}

  /** Reserves the next start time. Returns the milliseconds until then. */
  turn(): number {
    const now = performance.now();
    const at = Math.max(now, this.next);
    this.next = at + 1000 / this.perSecond;
    return at - now;
  }
}

/** Maximum deliveries that are read ahead for one inbox, and deleted from the outbox together. */
const batch = 50;
/** Maximum time until finished deliveries are deleted from the outbox, in milliseconds. */
const longestUnremembered = 200;
/** Pause after an internal error, in milliseconds. */
const interruptedMs = 10_000;
const timeouts = { connectTimeoutMs: 10_000, timeoutMs: 15_000 };
/** Maximum bytes read of a response, whose content is ignored. */
const maxBytes = 64 << 10;

type Outcome = 'done' | 'gone' | 'again' | 'failed' | 'cancelled';

export class Deliveries {
  private readonly lines = new Map<string, Promise<void>>();
  private readonly again = new Set<string>();
  private readonly gate: Gate;
  /** Two rate limiters per caller class: for attempts before they take a slot, and again after the wait for a slot. */
  private readonly paces: Readonly<Record<Exclude<CallerClass, 'controller'>, readonly [Pace, Pace]>>;
  private readonly aftermath: Aftermath;
  private readonly ending = new AbortController();
  private stopped = false;
  /** Count of attempts by outcome. */
  readonly outcomes = new Map<Outcome, number>();

  constructor(private readonly options: DeliveryOptions) {
    const { maxAtOnce: inAll, maxPerHost: perHost } = options;
    this.aftermath = new Aftermath(options.store);
    const { known, stranger } = options.perSecond;
    this.paces = { known: [new Pace(known), new Pace(known)], stranger: [new Pace(stranger), new Pace(stranger)] };
    // Unresponsive inboxes occupy slots, so each client gets at most a quarter of them.
    this.gate = new Gate({ inAll, perHost, perClient: Math.max(1, inAll >> 2) });
    // Each pending delivery adds a listener to the signal.
    setMaxListeners(0, this.ending.signal);
  }

  /** Resumes deliveries that an earlier process has left in the outbox, and follows commits. */
  async start(): Promise<void> {
    const { store } = this.options;
    store.onCommit(({ entries }) => {
      for (const [key, value] of entries) {
        const name = value === null ? undefined : inboxOfKey(key);
        if (name !== undefined) this.wake(name);
      }
    });
    store.coordination.onLeading(() => {
      this.wakeAll().catch((error: unknown) => {
        this.options.log.error({ err: error }, 'the outbox of another server could not be taken over');
      });
    });
    await this.wakeAll();
  }

  private async wakeAll(): Promise<void> {
    for await (const [name] of queuedInboxes(this.options.store)) this.wake(name);
  }

  /** True after `stop`, and while another server is the leader: only the leader delivers. */
  private get isOver(): boolean {
    return this.stopped || !this.options.store.coordination.leads;
  }

  /** Aborts deliveries in progress. They stay in the outbox. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.ending.abort();
    await Promise.all(this.lines.values());
  }

  /** True while a delivery is in progress or waits for a retry. */
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
        this.options.log.error({ err: error }, 'deliveries to an inbox were interrupted and restart');
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
    // Read one entry first, so that queues that wait for their inbox take little memory.
    for (let limit = 1; ; ) {
      this.again.delete(name);
      const entries: [string, string][] = [];
      for await (const block of this.options.store.entries(outboxRange(name), { limit })) entries.push(...block);
      if (entries.length === 0 || this.isOver) return;
      const told = new Map<string, Subscription>();
      const done = await this.deliverEntries(entries, told);
      await this.aftermath.write(done, told);
      if (this.isOver) return;
      limit = done.size < entries.length || hasFailed(told) ? 1 : Math.min(batch, limit * 4);
    }
  }

  /** Delivers until interrupted, or until results must be stored. @returns the new value of each entry; `null` to delete it */
  private async deliverEntries(
    entries: readonly [string, string][],
    told: Map<string, Subscription>,
  ): Promise<Map<string, string | null>> {
    const done = new Map<string, string | null>();
    const began = performance.now();
    // Store results of slow deliveries, and failures, immediately.
    const isDue = (): boolean => performance.now() - began > longestUnremembered || hasFailed(told);
    for (const [key, value] of entries) {
      const { subscription, subscriptions = [subscription], ...delivery } = JSON.parse(value) as Delivery;
      for (const [at, id] of subscriptions.entries()) {
        if (!(await this.deliver(delivery, id, told))) {
          if (at > 0) done.set(key, JSON.stringify({ ...delivery, subscriptions: subscriptions.slice(at) }));
          return done;
        }
        const left = subscriptions.slice(at + 1);
        const isLast = left.length === 0;
        if (isLast) done.set(key, null);
        if (!isDue()) continue;
        if (!isLast) done.set(key, JSON.stringify({ ...delivery, subscriptions: left }));
        return done;
      }
    }
    return done;
  }

  /** Delivers to one subscription, with retries. @returns false if interrupted: the delivery stays in the outbox */
  private async deliver(delivery: Delivery, id: string | undefined, told: Map<string, Subscription>): Promise<boolean> {
    const { subscriptions, clock, maxAttempts, backoffMs, maxFailures } = this.options;
    const current = (): Subscription | undefined =>
      id === undefined ? undefined : (told.get(id) ?? subscriptions.get(id));
    for (let attempt = 1; ; attempt++) {
      if (this.isOver) return false;
      // The subscription was cancelled or deactivated meanwhile.
      if (id !== undefined && (!subscriptions.get(id) || current()?.active !== true)) return true;
      const outcome = await this.send(delivery, id);
      addCount(this.outcomes, outcome, 1);
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

  private async send(delivery: Delivery, subscription: string | undefined): Promise<Outcome> {
    const { inbox, activity, traceparent } = delivery;
    const { fetch, key, storage, clock, log, subscriptions } = this.options;
    // True if the subscription still exists. Called again when the delivery gets a slot, which may be much later.
    const isWanted = (): boolean => subscription === undefined || subscriptions.get(subscription) !== undefined;
    const url = new URL(inbox);
    const body = Buffer.from(JSON.stringify(notificationOf(activity, storage)));
    const client = subscriptions.turnOf(subscription);
    const [before, within] = client ? this.paces[client] : [];
    if (before) await this.sleep(before.turn());
    const release = await this.gate.enter({ host: url.host, client }, this.ending.signal).catch(() => undefined);
    // The server stopped before the delivery got a slot.
    if (!release) return 'cancelled';
    try {
      if (within && isWanted()) await this.sleep(within.turn());
      if (this.stopped || !isWanted()) return 'cancelled';
      // Sign after the wait for a slot, so that `created` of the signature is not too old.
      const signed = signedFields(key, url, lwsJson, body, Math.floor(clock() / 1000));
      const headers = traceparent === undefined ? signed : { ...signed, traceparent };
      const { status } = await fetch(url, {
        ...{ method: 'POST', headers, body, signal: this.ending.signal },
        ...{ ...timeouts, maxBytes, maxRedirects: 0, discardBody: true },
      });
      if (status < 200 || status > 299) log.info({ inbox: url.host, status, subscription }, 'a delivery failed');
      return outcomeOf(status);
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      // The delivery stays in the outbox, and does not count as a failure of the inbox.
      if (this.stopped) return 'cancelled';
      log.info({ inbox: url.host, reason: error.message, subscription }, 'a delivery failed');
      // Do not retry blocked addresses: retries would allow a subscriber to probe the network.
      return ['address', 'scheme', 'credentials-in-url'].includes(error.code) ? 'failed' : 'again';
    } finally {
      release();
    }
  }

  private async sleep(ms: number): Promise<void> {
    if (ms > 0) await sleep(ms, undefined, { signal: this.ending.signal }).catch(() => {});
  }
}

const hasFailed = (told: ReadonlyMap<string, Subscription>): boolean =>
  [...told.values()].some(({ failures }) => failures > 0);

/** Returns the outcome of a response: 2xx is done, 410 permanent, 429 and 5xx retry, other statuses rejected (rule 16.8). */
function outcomeOf(status: number): Outcome {
  if (status >= 200 && status < 300) return 'done';
  if (status === 410) return 'gone';
  return status === 429 || status >= 500 ? 'again' : 'failed';
}

/** Maximum outbox entries that are counted for metrics. */
const maxCounted = 20_000;

/** Returns the metrics of the outbox. @param outcomes attempts by outcome @param now milliseconds since the epoch */
export async function outboxMeasures(
  store: Store,
  outcomes: Iterable<readonly [string, number]>,
  now: number,
): Promise<readonly Metric[]> {
  let [waiting, oldest] = [0, now];
  for await (const keys of store.keys(outboxRange())) {
    for (const key of keys) oldest = Math.min(oldest, stagedAt(key));
    waiting += keys.length;
    if (waiting >= maxCounted) break;
  }
  return [
    metric('gauge', 'outbox_deliveries', `Pending deliveries, counted up to ${maxCounted}.`, waiting),
    metric('gauge', 'outbox_oldest_seconds', 'Age of the oldest pending delivery.', (now - oldest) / 1000),
    metricBy(
      { kind: 'counter', name: 'webhook_attempts_total', help: 'Delivery attempts by outcome.' },
      'outcome',
      outcomes,
    ),
  ];
}
