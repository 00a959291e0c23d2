/** Calls for SERVICE: data that leaves the server for a query, timeouts and aborts (rule 14.9). */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { QueryJob } from '../../../components/sparql/pool/asked-query.js';
import { QueryPool } from '../../../components/sparql/pool/query-pool.js';
import { acceptedFormats } from '../../../components/sparql/protocol/protocol.js';
import { serviceCalls } from '../../../components/sparql/services/service-calls.js';
import type { ServiceAnswer, ServiceCall } from '../../../lib/query/access/service-call.js';
import { createLog } from '../../../lib/tools/log.js';
import { parseAllowedHost } from '../../../lib/tools/outbound/address-policy.js';
import type { OutboundRequest } from '../../../lib/tools/outbound/guarded-fetch.js';
import { until } from '../../support/until.js';

const endpoint = 'https://remote.example/sparql?key=1';
const allowed = [parseAllowedHost('remote.example')!];
const call: ServiceCall = { endpoint, query: 'SELECT * { ?s ?p "a&b=c +%é" }' };
const { signal } = new AbortController();

function caller(ms = 0) {
  const asked: { url: string; request: OutboundRequest }[] = [];
  const ask = serviceCalls({
    allowed,
    timeoutMs: 1000,
    log: createLog('silent'),
    fetch: async (url, request) => {
      asked.push({ url: String(url), request });
      await new Promise((resolve) => setTimeout(resolve, ms));
      return { status: 200, headers: {}, url: String(url), body: Buffer.from('{}') };
    },
  });
  return { ask, asked };
}

describe('Calls for SERVICE', () => {
  it('are forms without credentials, to the endpoint as it is, and follow nothing', async () => {
    const { ask, asked } = caller();
    expect(await ask(call, signal)).to.deep.equal({ body: new TextEncoder().encode('{}') });
    const [{ url, request } = { url: '', request: undefined }] = asked;
    expect(url).to.equal(endpoint);
    expect(request).to.include({ method: 'POST', maxRedirects: 0, signal });
    expect(request!.headers).to.deep.equal({ 'Content-Type': 'application/x-www-form-urlencoded' });
    expect([...new URLSearchParams(String(request!.body))]).to.deep.equal([['query', call.query]]);
  });

  it('have half of the time that is left, each', async () => {
    const { ask, asked } = caller(200);
    for (let i = 0; i < 3; i++) await ask(call, signal);
    const times = asked.map(({ request }) => request.timeoutMs);
    expect(times[0]).to.equal(500);
    expect(times[1]).to.be.within(300, 405);
    expect(times[2]).to.be.within(150, 305);
  });

  it('are limited to eight, and to allowed hosts even if the worker thread requests others', async () => {
    const { ask, asked } = caller();
    for (let i = 0; i < 8; i++) expect(await ask(call, signal)).to.have.property('body');
    expect(await ask(call, signal)).to.include({ code: 'query-limit' });
    expect(asked).to.have.length(8);
    const other = await ask({ ...call, endpoint: 'https://other.example/' }, signal).catch((error: unknown) => error);
    expect(other).to.include({ code: 'too-complex' });
    expect(asked).to.have.length(8);
  });

  describe('of a worker', () => {
    const folder = mkdtempSync(join(tmpdir(), 'quadpod-pool-'));
    const pool = new QueryPool({
      folder,
      storage: 'https://pod.example/',
      size: 1,
      strangers: 1,
      timeoutMs: 1500,
      strangerTimeoutMs: 1500,
      memoryMb: 256,
      queue: 9,
    });
    after(async () => {
      await pool.close();
      rmSync(folder, { recursive: true });
    });
    const job = (callService: QueryJob['callService'], gone = signal): QueryJob => ({
      task: {
        query: `SELECT ?v { SERVICE <${endpoint}> { ?v ?p ?o } }`,
        base: 'https://pod.example/',
        formats: acceptedFormats('text/csv'),
        maxBytes: 1 << 20,
        maxResults: 10,
        allowedServices: allowed,
      },
      client: 'somebody',
      callerClass: 'known' as const,
      scope: async () => 'everything',
      gone: () => gone,
      decide: async () => [],
      callService,
    });
    const hanging =
      (ends: Promise<void>[]): QueryJob['callService'] =>
      (_call, ended) => {
        ends.push(new Promise((resolve) => ended.addEventListener('abort', () => resolve())));
        return new Promise(() => {});
      };

    it('end with the deadline of the query', async () => {
      const ends: Promise<void>[] = [];
      const error = await pool.run(job(hanging(ends))).catch((reason: unknown) => reason);
      expect(error).to.include({ code: 'query-limit' });
      expect(ends).to.have.length(1);
      await ends[0];
    });

    it('end with the client', async () => {
      const [ends, gone] = [[] as Promise<void>[], new AbortController()];
      const answer = pool.run(job(hanging(ends), gone.signal)).catch((reason: unknown) => reason);
      await until(() => ends.length > 0);
      gone.abort();
      expect(await answer).to.include({ code: 'query-limit' });
      await ends[0];
    });

    it('are answered to the query that made them, one after another', async () => {
      for (const value of ['one', 'two']) {
        const results = { results: { bindings: [{ v: { type: 'literal', value } }] } };
        const answer: ServiceAnswer = { body: new TextEncoder().encode(JSON.stringify(results)) };
        const { body } = await pool.run(job(async () => answer));
        expect(String(body)).to.equal(`v\r\n${value}\r\n`);
      }
    });
  });
});
