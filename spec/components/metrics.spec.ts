/** Metrics port: on loopback, without authentication, with no other routes. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { Histogram as PromHistogram } from 'prom-client';
import { Histogram } from '../../components/metrics/histogram.js';
import { listenForMetrics } from '../../components/metrics/port.js';
import { Metrics } from '../../components/metrics/registry.js';
import { metricBy } from '../../lib/tools/metrics.js';

const stringsOf = (labels: object): object =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]));

describe('Metrics port', () => {
  const kind = 'counter' as const;
  const metrics = new Metrics(async () => [metricBy({ kind, name: 'tea_total', help: 'Tea.' }, 'of', [['mint', 3]])]);

  it('returns all metrics at /metrics, and 404 elsewhere', async () => {
    const server = await listenForMetrics(metrics, 0);
    const { port, address } = server.address() as AddressInfo;
    expect(address).to.equal('127.0.0.1');
    metrics.answered({ method: 'INVENTED', route: 'resource', status: 405, seconds: 0.1 });
    metrics.written({ transactions: 2, bytes: 300, seconds: 0.01 });
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
    const text = await answer.text();
    expect(text).to.include('quadpod_tea_total{of="mint"} 3');
    expect(text).to.include('quadpod_http_requests_total{method="other",route="resource",status="405"} 1');
    expect(text).to.include('quadpod_store_batch_transactions_sum 2');
    for (const path of ['', 'metrics/', 'metrics?x', '..%2f'])
      expect((await fetch(`http://127.0.0.1:${port}/${path}`)).status, path).to.equal(404);
    expect((await fetch(`http://127.0.0.1:${port}/metrics`, { method: 'POST', body: 'x' })).status).to.equal(404);
    await new Promise((resolve) => server.close(resolve));
  });

  it('returns the histogram samples of prom-client', async () => {
    const [buckets, labels] = [[0.5, 1, 20], { method: 'GET', route: 'resource' }];
    const ours = new Histogram(buckets);
    const theirs = new PromHistogram({
      name: 'a',
      help: 'A.',
      labelNames: ['method', 'route'],
      buckets,
      registers: [],
    });
    for (const value of [0, 0.5, 0.50001, 1, 3, 20, 21, 1e9]) {
      ours.observe(value);
      theirs.observe(labels, value);
    }
    const { values } = await theirs.get();
    const expected = values.map((each) => [each.metricName?.slice(1), stringsOf(each.labels), each.value]);
    expect(ours.samples(labels)).to.deep.equal(expected);
  });

  it('reports the setting of a port in use', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const error = await listenForMetrics(metrics, port).catch((reason: unknown) => reason as Error);
    expect(error).to.have.property('message').that.includes(`lws.metrics.listen-port is ${port}`);
    await new Promise((resolve) => other.close(resolve));
  });
});
