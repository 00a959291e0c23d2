/** Rules 12.7, 12.8: health, metrics and traces for operators. */
import { expect } from 'chai';
import { formatTraceparent, readTraceparent } from '../../lib/tools/fields/traceparent.js';
import { describeStorage } from '../support/conformance.js';
import { expectChallenge, expectProblem } from '../support/expectations.js';
import { startInboxHost, told } from '../support/inbox.js';
import { watchAt } from '../support/subscriptions.js';
import { until } from '../support/until.js';
import { alice, as } from '../support/wac.js';

const host = await startInboxHost();
after(() => host.close());

describeStorage(
  'Operation',
  (s) => {
    const at = (path: string): string => `${s.root}.lws/${path}`;
    const read = async (): Promise<Map<string, number>> => {
      const { status, text, headers } = await s.get(at('metrics'));
      expect(status, text).to.equal(200);
      expect(headers['content-type']).to.match(/^text\/plain; version=0\.0\.4/);
      const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
      return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
    };

    for (const name of ['live', 'ready'])
      it(`health/${name} is public and has no details`, async () => {
        const { status, text, headers } = await s.send('GET', at(`health/${name}`), {}, undefined, 'anonymous');
        expect([status, text, headers['cache-control']]).to.deep.equal([200, 'ok\n', 'no-store']);
        expectProblem(await s.send('POST', at(`health/${name}`), {}, 'x'), 405, s);
      });

    it('metrics require control', async () => {
      expectChallenge(await s.send('GET', at('metrics'), {}, undefined, 'anonymous'), s);
      for (const who of [as(s, alice), s.stranger])
        expectProblem(await s.send('GET', at('metrics'), {}, undefined, who), [403, 404], s);
    });

    it('metrics count requests by method, route class and status, without names of resources or subjects', async () => {
      const before = await read();
      const { iri } = await s.stored('text/turtle', '<> a <#C> .');
      for (let n = 0; n < 3; n++) await s.get(iri);
      await s.get(`${iri}.meta`);
      await s.get(`${iri}-absent`);
      await s.send('BREW', iri, {});
      const after = await read();
      const grown = (series: string): number => (after.get(series) ?? 0) - (before.get(series) ?? 0);
      const requests = (labels: string): number => grown(`quadpod_http_requests_total{${labels}}`);
      expect(requests('method="GET",route="resource",status="200"')).to.equal(3);
      expect(requests('method="GET",route="resource",status="404"')).to.equal(1);
      expect(requests('method="GET",route="linkset",status="200"')).to.equal(1);
      expect(requests('method="GET",route="metrics",status="200"')).to.equal(1);
      expect(grown('quadpod_http_request_duration_seconds_count{method="GET",route="resource"}')).to.equal(4);
      expect(grown('quadpod_store_batch_duration_seconds_count')).to.be.at.least(1);
      expect(grown('quadpod_store_bytes')).to.be.above(0);
      for (const series of after.keys()) expect(series).to.not.match(/http:|did:|spec/);
    });

    it('metrics cover queries, deliveries and imports', async () => {
      const { status } = await s.get(`${s.root}.lws/sparql?query=${encodeURIComponent('ASK {}')}`);
      expect(status).to.equal(200);
      const all = await read();
      expect(all.get('quadpod_sparql_queries_total')).to.be.at.least(1);
      expect(all.get('quadpod_sparql_threads_killed_total')).to.equal(0);
      expect(all.get('quadpod_outbox_deliveries')).to.equal(0);
      expect(all.get('quadpod_import_running')).to.equal(0);
      expect(all.get('process_resident_memory_bytes')).to.be.above(1e6);
    });

    it('the notification of a traced write carries a child span of its trace', async () => {
      const { container, inbox, make } = await watchAt(host, s);
      const [trace, parent] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
      const traceparent = `00-${trace}-${parent}-01`;
      const iri = `${container}traced`;
      expect((await s.send('PUT', iri, { 'Content-Type': 'text/plain', traceparent }, 'x')).status).to.equal(201);
      const [later] = await make();
      await until(async () => host.activities(inbox).map(told).includes(later!), 'the later one is told');
      const deliveries = host.deliveries.filter(({ to }) => to === inbox);
      const fields = deliveries.map(({ headers }) => headers['traceparent']);
      expect(fields.filter((field) => field !== undefined)).to.have.length(1);
      expect(fields[0])
        .to.match(new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`))
        .and.not.include(parent);
    });
  },
  { settings: { 'webhook.allowed-hosts': host.authority } },
);

describe('traceparent (W3C Trace Context)', () => {
  const [trace, parent, span] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331', '0123456789abcdef'];
  it('is parsed and continued with the span of this server', () => {
    const read = readTraceparent(`00-${trace}-${parent}-01`, span)!;
    expect(read).to.deep.equal({ traceId: trace, parentId: parent, spanId: span, flags: '01' });
    expect(formatTraceparent(read)).to.equal(`00-${trace}-${span}-01`);
    expect(readTraceparent(`cc-${trace}-${parent}-00-what-comes`, span)).to.include({ traceId: trace });
  });
  for (const field of [
    undefined,
    '',
    `00-${trace}-${parent}`,
    `00-${trace}-${parent}-01-more`,
    `ff-${trace}-${parent}-01`,
    `00-${'0'.repeat(32)}-${parent}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `00-${trace.toUpperCase()}-${parent}-01`,
    `01-${trace}-${parent}-01-${'x'.repeat(1000)}`,
  ])
    it(`is ignored if malformed: ${field?.slice(0, 70)}`, () => {
      expect(readTraceparent(field, span)).to.equal(undefined);
    });
});
