/** Collects observed metrics, metrics that server and components compute on demand, and process metrics of prom-client. */
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Answered, Metric, WrittenBatch } from '../../lib/plugin/component.js';
import { Histogram, type Sample } from './histogram.js';

const prefix = 'quadpod_';
const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30];

/** Methods that are counted separately (RFC 9110, RFC 5789, QUERY). All other methods are counted together. */
const methods = new Set(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'MOVE', 'COPY', 'QUERY']);

/** Process metrics, shared by all storages: prom-client cannot remove its observers of the garbage collector and event loop. */
const ofProcess = new Registry();
collectDefaultMetrics({ register: ofProcess });

/** Request counters of one method and route. */
interface Requests {
  readonly labels: Readonly<Record<string, string>>;
  readonly durations: Histogram;
  readonly statuses: Map<number, number>;
}

export class Metrics {
  /** Counters by method and route. */
  private readonly requests = new Map<string, Requests>();
  private readonly batches = {
    seconds: new Histogram(seconds),
    bytes: new Histogram([1e3, 1e4, 1e5, 1e6, 1e7, 1e8]),
    transactions: new Histogram([1, 2, 5, 10, 25, 50, 100]),
  };

  /** @param measures returns the metrics of the server, computed on demand */
  constructor(private readonly measures: () => Promise<readonly Metric[]>) {}

  answered({ method: sent, route, status, seconds: took }: Answered): void {
    const method = methods.has(sent) ? sent : 'other';
    const key = `${method} ${route}`;
    let of = this.requests.get(key);
    if (!of) {
      of = { labels: { method, route }, durations: new Histogram(seconds), statuses: new Map() };
      this.requests.set(key, of);
    }
    of.statuses.set(status, (of.statuses.get(status) ?? 0) + 1);
    of.durations.observe(took);
  }

  written({ transactions, bytes, seconds: took }: WrittenBatch): void {
    this.batches.seconds.observe(took);
    this.batches.bytes.observe(bytes);
    this.batches.transactions.observe(transactions);
  }

  /** Returns all metrics in the Prometheus text format. */
  async text(): Promise<string> {
    const requests = [...this.requests.values()];
    const answers = requests.flatMap(({ labels, statuses }) =>
      [...statuses].map(([status, count]): Sample => ['', { ...labels, status: String(status) }, count]),
    );
    const durations = requests.flatMap((each) => each.durations.samples(each.labels));
    const { seconds: took, bytes, transactions } = this.batches;
    const told = (await this.measures()).map((each) =>
      family(`${each.name} ${each.kind}`, each.help, each.values.map(sampleOf)),
    );
    return [
      await ofProcess.metrics(),
      family('http_requests_total counter', 'Answered requests; 499: the client disconnected.', answers),
      family(
        'http_request_duration_seconds histogram',
        'Time until the response was handed to the connection.',
        durations,
      ),
      family('store_batch_duration_seconds histogram', 'Time until a batch was synced.', took.samples()),
      family('store_batch_bytes histogram', 'Approximate size of a batch.', bytes.samples()),
      family('store_batch_transactions histogram', 'Transactions per batch.', transactions.samples()),
      ...told,
    ].join('\n');
  }

  readonly contentType = ofProcess.contentType;
}

const sampleOf = ({ labels = {}, value }: Metric['values'][number]): Sample => ['', labels, value];

/** Returns the samples of a metric as text. @param head name and type */
function family(head: string, help: string, samples: readonly Sample[]): string {
  const name = prefix + head.split(' ', 1)[0];
  let text = `# HELP ${name} ${help}\n# TYPE ${prefix}${head}\n`;
  for (const [suffix, labels, value] of samples) {
    const pairs = Object.entries(labels).map(([label, of]) => `${label}=${JSON.stringify(of)}`);
    text += `${name}${suffix}${pairs.length > 0 ? `{${pairs.join()}}` : ''} ${value}\n`;
  }
  return text;
}
