/** The registry of prom-client: what is observed as it happens, and the numbers that the house and its components tell when asked. */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Answered, Measure, WrittenBatch } from '../../lib/component/basics.js';
import { Distribution } from './distribution.js';

const prefix = 'quadpod_';
const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30];

/** Of RFC 9110, 5789 and that of queries; what else a client invents is one more. */
const methods = new Set(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'QUERY']);

/** The process's own numbers, once for all storages: what observes the garbage collector and the event loop is never undone. */
const ofProcess = new Registry();
collectDefaultMetrics({ register: ofProcess });

/** What is counted of the requests of one method and route. */
interface Requests {
  readonly labels: string;
  readonly durations: Distribution;
  readonly statuses: Map<number, number>;
}

export class Metrics {
  /** By method and route. */
  private readonly requests = new Map<string, Map<string, Requests>>();
  private readonly batches = {
    seconds: new Distribution(seconds),
    bytes: new Distribution([1e3, 1e4, 1e5, 1e6, 1e7, 1e8]),
    transactions: new Distribution([1, 2, 5, 10, 25, 50, 100]),
  };

  /** @param measures what the house tells when it is asked */
  constructor(private readonly measures: () => Promise<readonly Measure[]>) {}

  answered({ method: sent, route, status, seconds: took }: Answered): void {
    const method = methods.has(sent) ? sent : 'other';
    const routes = kept(this.requests, method, () => new Map<string, Requests>());
    const { statuses, durations } = kept(routes, route, () => ({
      labels: `method="${method}",route="${route}"`,
      durations: new Distribution(seconds),
      statuses: new Map(),
    }));
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    durations.observe(took);
  }

  written({ transactions, bytes, seconds: took }: WrittenBatch): void {
    this.batches.seconds.observe(took);
    this.batches.bytes.observe(bytes);
    this.batches.transactions.observe(transactions);
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
    return [await ofProcess.metrics(), this.ownText(), await told.metrics()].join('\n');
  }

  private ownText(): string {
    const requests = [...this.requests.values()].flatMap((routes) => [...routes.values()]);
    const { seconds: took, bytes, transactions } = this.batches;
    const counts = requests.flatMap(({ labels, statuses }) =>
      [...statuses].map(([status, count]) => `${prefix}http_requests_total{${labels},status="${status}"} ${count}\n`),
    );
    const durations = (name: string) => requests.map((each) => each.durations.text(name, each.labels)).join('');
    return [
      described('http_requests_total counter', 'Requests that were answered; 499: the client went away.', () =>
        counts.join(''),
      ),
      described('http_request_duration_seconds histogram', 'Until the answer was handed over.', durations),
      described('store_batch_duration_seconds histogram', 'Until a batch was synced.', (name) => took.text(name)),
      described('store_batch_bytes histogram', 'The size of batches, about.', (name) => bytes.text(name)),
      described('store_batch_transactions histogram', 'Transactions of a batch.', (name) => transactions.text(name)),
    ].join('\n');
  }

  readonly contentType = ofProcess.contentType;
}

/** @param head name and type */
const described = (head: string, help: string, text: (name: string) => string): string => {
  const name = prefix + head.split(' ', 1)[0];
  return `# HELP ${name} ${help}\n# TYPE ${prefix}${head}\n${text(name)}`;
};

function kept<T>(all: Map<string, T>, key: string, make: () => T): T {
  let found = all.get(key);
  if (found === undefined) {
    found = make();
    all.set(key, found);
  }
  return found;
}
