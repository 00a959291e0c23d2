/** Short queries on the HTTP thread: an anonymous flood of them does not delay requests of other callers (rule 14.7). */
import { Agent, request as send } from 'node:http';
import { expect } from 'chai';
import { by, expectNoImpact, measureImpact, startOwned } from '../support/attack.js';
import { request } from '../support/http.js';
import { ed25519Identity } from '../support/identity.js';
import type { ServerProcess } from '../support/process.js';
import { until } from '../support/until.js';

const owner = ed25519Identity();
const e = 'https://e.example/';
const times = (count: number, part: (at: number) => string, joint = ' '): string =>
  Array.from({ length: count }, (_, at) => part(at)).join(joint);

/** Each is short, and took 10 to 490 ms on the HTTP thread. */
const attacks: Readonly<Record<string, (at: number) => string>> = {
  'sums of numbers of 900 digits': (at) => `SELECT (SUM(?n) AS ?s) (${at} AS ?a) { ?x <${e}long> ?n }`,
  'sums of numbers of 900 digits of one subject': (at) => `SELECT (SUM(?n) AS ?s) (${at} AS ?a) { <${e}longs> ?p ?n }`,
  '8 products of numbers of 64 digits': (at) =>
    `SELECT (SUM(${times(9, () => '?n', '*')}) AS ?s) (${at} AS ?a) { <${e}wide> <${e}number> ?n }`,
  '500 sums in a row': (at) =>
    `SELECT (${times(480, () => '1', '+')}+?n AS ?s) { ?x <${e}few> ?n FILTER(${at} = ${at}) }`,
  'lists that are nested 900 deep': (at) => `SELECT * { <${e}${at}> ?p ${'('.repeat(900)}1${')'.repeat(900)} }`,
  '200 free patterns': (at) => `SELECT * { <${e}${at}> ?p ?o ${times(180, () => '.?a ?b ?c', '')} } LIMIT 1`,
  'ORDER BY over long texts with a common beginning': (at) =>
    `SELECT ?v${at} { <${e}texts> <${e}text> ?v${at} } ORDER BY ?v${at} LIMIT 1`,
  'triple terms of long texts': (at) => `SELECT ?r${at} { <${e}texts> <${e}text> ?o {| ?r${at} ?v |} }`,
  'triple terms of 8000 numbers': (at) =>
    `SELECT ?r${at} { <${e}wide> <${e}number> ?n ${times(2, (i) => `{| ?r${at} ?v${i} |}`)} }`,
  'GRAPH that is nested 180 deep': (at) => `SELECT * { ${'GRAPH?g{'.repeat(180)}<${e}${at}> ?p ?o${'}'.repeat(180)} }`,
};

describe('Short queries under attack', function () {
  this.timeout(180_000);
  let server: ServerProcess;
  const agent = new Agent({ keepAlive: true, maxSockets: 60 });
  const ask = (query: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const req = send(`${server.root}.lws/sparql?query=${encodeURIComponent(query)}`, { agent }, (response) =>
        response.resume().once('end', () => resolve(response.statusCode!)),
      );
      req.once('error', reject).end();
    });
  const answeredByHttp = async (): Promise<number> => {
    const { text } = await request(`${server.root}.lws/metrics`, { headers: by(server, owner) });
    return Number(/^\w*sparql_short_queries_total(?:\{[^}]*\})? (\d+)/m.exec(text)?.[1] ?? 0);
  };

  before(async () => {
    server = await startOwned(owner);
    const digits = (at: number): string => String(at % 9 || 9).repeat(900);
    const body = [
      times(500, (at) => `<${e}${at}> <${e}long> ${digits(at)} .`, '\n'),
      times(500, (at) => `<${e}longs> <${e}${at}> ${digits(at)} .`, '\n'),
      times(8000, (at) => `<${e}wide> <${e}number> ${String(at).padStart(64, '7')} .`, '\n'),
      times(500, (at) => `<${e}wide> <${e}some> ${String(at).padStart(64, '7')} .`, '\n'),
      times(400, (at) => `<${e}texts> <${e}text> "${'x'.repeat(20_000)}${at}" .`, '\n'),
      times(6000, (at) => `<${e}${at}> <${e}few> ${at} .`, '\n'),
    ].join('\n');
    const headers = { ...by(server, owner), 'Content-Type': 'text/turtle' };
    expect((await request(`${server.root}data`, { method: 'PUT', headers, body })).status).to.equal(201);
    // The HTTP thread executes short queries from the ninth on, after an idle moment.
    await until(
      async () => {
        for (let at = 0; at < 10; at++) expect(await ask(`ASK { <${e}${at}> ?p ?o }`)).to.equal(200);
        return (await answeredByHttp()) > 0;
      },
      'the HTTP thread answers short queries',
      60_000,
    );
  });
  after(async () => {
    agent.destroy();
    await server?.kill();
  });

  for (const [what, query] of Object.entries(attacks))
    it(`60 connections that send ${what} do not delay other clients`, async () => {
      const impact = await measureImpact(server, async () => {
        const length = what.startsWith('8 products') ? 30 : 120;
        const statuses = await Promise.all(Array.from({ length }, (_, at) => ask(query(at))));
        return new Set(statuses);
      });
      // Success, an error or 429 or 503, but never an internal error.
      for (const status of impact.result) expect(status).to.be.oneOf([200, 400, 422, 429, 503]);
      expectNoImpact(impact);
    });

  it('one connection that sends queries of 2 ms without a pause does not delay other clients', async () => {
    const impact = await measureImpact(server, async () => {
      const statuses = new Set<number>();
      for (let at = 0; at < 600; at++)
        statuses.add(await ask(`SELECT (SUM(?n + ${at}) AS ?s) { <${e}wide> <${e}some> ?n }`));
      return statuses;
    });
    // On a busy machine a query can exceed its time, as in the attacks.
    expect([...impact.result]).to.include(200);
    for (const status of impact.result) expect(status).to.be.oneOf([200, 422, 429, 503]);
    expectNoImpact(impact);
  });

  for (const [what, query] of Object.entries({
    lookups: `SELECT ?o { <${e}7> <${e}few> ?o }`,
  }))
    it(`still executes ${what} on the HTTP thread`, async () => {
      await until(
        async () => {
          const before = await answeredByHttp();
          expect(await ask(query)).to.equal(200);
          return (await answeredByHttp()) > before;
        },
        `the HTTP thread executes ${what}`,
        60_000,
      );
    });

  // Also shows that query threads keep no memory of the attacks.
  for (const [what, query] of Object.entries({
    'a lookup of annotations': `SELECT * { <${e}7> <${e}few> ?o {| ?p ?v |} }`,
    'a triple term with a variable of its own': `SELECT * { ?r <${e}of> <<( <${e}7> <${e}few> ?o )>> }`,
    'a triple term in another': `SELECT * { <${e}7> <${e}few> ?o . ?r <${e}of> <<( <${e}1> <${e}of> <<( <${e}7> <${e}few> ?o )>> )>> }`,
    'a triple term in a filter': `SELECT * { <${e}7> <${e}few> ?o FILTER(?o != <<( <${e}7> <${e}few> ?o )>>) }`,
  }))
    it(`does not execute ${what} on the HTTP thread`, async () => {
      const before = await answeredByHttp();
      for (let at = 0; at < 5; at++) expect(await ask(query)).to.equal(200);
      expect(await answeredByHttp()).to.equal(before);
    });
});
