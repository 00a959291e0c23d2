/** The registry of prom-client: what is observed as it happens, and the numbers that the house and its components tell when asked. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Answered, Measure, WrittenBatch } from '../../lib/component/basics.js';

const prefix = 'quadpod_';
const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30];

/** Of RFC 9110, 5789 and that of queries; what else a client invents is one more. */
const methods = new Set(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'QUERY']);

/** The process's own numbers, once for all storages: what observes the garbage collector and the event loop is never undone. */
const ofProcess = new Registry();
collectDefaultMetrics({ register: ofProcess });

export class Metrics {
  readonly registry = new Registry();
  private readonly requests: Counter<'method' | 'route' | 'status'>;
  private readonly durations: Histogram<'method' | 'route'>;
  private readonly batchSeconds: Histogram;
  private readonly batchBytes: Histogram;
  private readonly batchTransactions: Histogram;
  /** Looking a series up by its labels costs as much as to observe. */
  private readonly counters = new Map<string, Counter.Internal>();
  private readonly timers = new Map<string, Histogram.Internal<'method' | 'route'>>();

  /** @param measures what the house tells when it is asked */
  constructor(private readonly measures: () => Promise<readonly Measure[]>) {
    const registers = [this.registry];
    this.requests = new Counter({
      name: `${prefix}http_requests_total`,
      help: 'Requests that were answered; 499: the client went away.',
      labelNames: ['method', 'route', 'status'],
      registers,
    });
    this.durations = new Histogram({
      name: `${prefix}http_request_duration_seconds`,
      help: 'Until the answer was handed over.',
      labelNames: ['method', 'route'],
      buckets: seconds,
      registers,
    });
    const histogram = (name: string, help: string, buckets: number[]): Histogram =>
      new Histogram({ name: prefix + name, help, buckets, registers });
    this.batchSeconds = histogram('store_batch_duration_seconds', 'Until a batch was synced.', seconds);
    this.batchBytes = histogram('store_batch_bytes', 'The size of batches, about.', [1e3, 1e4, 1e5, 1e6, 1e7, 1e8]);
    this.batchTransactions = histogram(
      'store_batch_transactions',
      'Transactions of a batch.',
      [1, 2, 5, 10, 25, 50, 100],
    );
  }

  answered({ method: sent, route, status, seconds: took }: Answered): void {
    const method = methods.has(sent) ? sent : 'other';
    const series = `${method} ${route}`;
    kept(this.counters, `${series} ${status}`, () => this.requests.labels(method, route, String(status))).inc();
    kept(this.timers, series, () => this.durations.labels(method, route)).observe(took);
  }

  written({ transactions, bytes, seconds: took }: WrittenBatch): void {
    this.batchSeconds.observe(took);
    this.batchBytes.observe(bytes);
    this.batchTransactions.observe(transactions);
  }

  /** Everything in the text format of Prometheus. */
  async text(): Promise<string> {
    const told = new Registry();
    for (const { name, help, kind, values } of await this.measures()) {
      const labelNames = Object.keys(values[0]?.labels ?? {});
      const facts = { name: prefix + name, help, labelNames, registers: [told] };
      const add = (labels: Readonly<Record<string, string>>, value: number): void =>
        kind === 'counter' ? counter!.inc({ ...labels }, value) : gauge!.set({ ...labels }, value);
      const counter = kind === 'counter' ? new Counter(facts) : undefined;
      const gauge = kind === 'gauge' ? new Gauge(facts) : undefined;
      for (const { labels = {}, value } of values) add(labels, value);
    }
    const all = [ofProcess, this.registry, told];
    return (await Promise.all(all.map((registry) => registry.metrics()))).join('\n');
  }

  get contentType(): string {
    return this.registry.contentType;
  }
}

function kept<T>(all: Map<string, T>, key: string, make: () => T): T {
  let found = all.get(key);
  if (found === undefined) {
    found = make();
    all.set(key, found);
  }
  return found;
}
