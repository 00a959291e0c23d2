/** SPARQL over an earlier state of the storage (rule 27.8). */
import { expect } from 'chai';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import type { Answer } from '../support/http.js';
import { until } from '../support/until.js';

const settings = {
  'versions.all': 'true',
  'sparql.endpoint.update': 'true',
  'text-search.enabled': 'true',
};
const turtle = (...values: readonly number[]): string =>
  values.map((value) => `<#a> <http://p.example/p> ${value} .`).join('\n');
const all = 'SELECT ?g ?o { GRAPH ?g { ?s <http://p.example/p> ?o } } ORDER BY ?g ?o';

/** Waits for the end of the present second. @returns a date in it */
async function instant(): Promise<string> {
  const second = Math.floor(Date.now() / 1000);
  await until(() => Date.now() >= (second + 1) * 1000);
  return new Date(second * 1000).toUTCString();
}

const endpoint = (s: StorageUnderTest): string => `${s.root}.lws/sparql`;

function ask(s: StorageUnderTest, query: string, date?: string, parameters = ''): Promise<Answer> {
  const headers: Record<string, string> = { Accept: 'text/csv', 'Content-Type': 'application/sparql-query' };
  if (date !== undefined) headers['Accept-Datetime'] = date;
  return s.send('POST', endpoint(s) + parameters, headers, query);
}

async function rows(s: StorageUnderTest, query: string, date?: string): Promise<string[]> {
  const answer = await ask(s, query, date);
  expect(answer.status, answer.text).to.equal(200);
  if (date !== undefined) expect(answer.headers['memento-datetime']).to.equal(date);
  return answer.text.trim().split('\r\n').slice(1);
}

describeStorage(
  'SPARQL as of a date',
  (s) => {
    it('returns graphs as they were: changed, deleted, moved, replaced by JSON, and not yet created (rule 27.8)', async () => {
      const c = await s.container();
      const [same, changed, deleted, moved, json, empty, later] = 'same changed deleted moved json empty later'
        .split(' ')
        .map((name) => c + name) as [string, string, string, string, string, string, string];
      const inC = `SELECT ?g ?o { GRAPH ?g { ?s <http://p.example/p> ?o } FILTER(STRSTARTS(STR(?g), "${c}")) } ORDER BY ?g ?o`;
      for (const iri of [same, changed, deleted, moved, json]) await s.stored('text/turtle', turtle(1, 2), iri);
      await s.stored('text/turtle', '', empty);
      const then = await rows(s, inC);
      expect(then).to.have.length(10);
      const names = `SELECT ?g { GRAPH ?g {} FILTER(STRSTARTS(STR(?g), "${c}")) } ORDER BY ?g`;
      const first = await instant();
      const replace = async (iri: string, type: string, body: string): Promise<void> => {
        const { headers } = await s.head(iri);
        expect((await s.put(iri, type, body, { 'If-Match': headers['etag']! })).status).to.equal(204);
      };
      await replace(changed, 'text/turtle', turtle(2, 3));
      await s.delete(deleted);
      expect((await s.send('MOVE', moved, { Destination: `${c}target` })).status).to.equal(201);
      await replace(json, 'application/json', '{}');
      await replace(empty, 'text/turtle', turtle(7));
      await s.stored('text/turtle', turtle(9), later);
      const second = await instant();
      await replace(changed, 'text/turtle', '');
      await s.stored('text/turtle', turtle(8), deleted);

      expect(await rows(s, inC, first)).to.deep.equal(then);
      expect(await rows(s, names, first)).to.deep.equal([changed, deleted, empty, json, moved, same]);
      const name = (iri: string, ...values: readonly number[]): string[] => values.map((value) => `${iri},${value}`);
      expect(await rows(s, inC, second)).to.deep.equal([
        ...[...name(changed, 2, 3), ...name(empty, 7), ...name(later, 9), ...name(same, 1, 2)],
        ...name(`${c}target`, 1, 2),
      ]);
      expect(await rows(s, inC)).to.deep.equal([
        ...[
          ...name(deleted, 8),
          ...name(empty, 7),
          ...name(later, 9),
          ...name(same, 1, 2),
          ...name(`${c}target`, 1, 2),
        ],
      ]);
      expect(await rows(s, names)).to.deep.equal([changed, deleted, empty, later, same, `${c}target`]);
      // Graphs that the query names.
      for (const [date, counts] of [
        [first, [2, 2, 2, 0]],
        [second, [2, 0, 0, 1]],
      ] as const)
        for (const [at, iri] of [changed, deleted, json, later].entries()) {
          expect(await rows(s, `SELECT (COUNT(*) AS ?n) FROM <${iri}> { ?s ?p ?o }`, date), iri).to.deep.equal([
            String(counts[at]),
          ]);
          expect(await rows(s, `SELECT (COUNT(*) AS ?n) { GRAPH <${iri}> { ?s ?p ?o } }`, date)).to.deep.equal([
            String(counts[at]),
          ]);
        }
      for (const [date, exists] of [
        [first, 'true'],
        [second, 'false'],
      ] as const)
        expect(
          (await ask(s, `ASK { GRAPH <${empty}> {} FILTER NOT EXISTS { GRAPH <${empty}> { ?s ?p ?o } } }`, date)).text,
        ).to.include(exists);
    });

    it('returns graphs of which only links changed since, and leaves links out (rule 27.8)', async () => {
      const c = await s.container();
      const [iri, empty] = [`${c}linked`, `${c}empty`];
      await s.stored('text/turtle', turtle(1, 2), iri);
      await s.stored('text/turtle', '', empty);
      const link = async (at: number): Promise<void> => {
        const body = JSON.stringify({ license: [{ href: `urn:l:${at}` }] });
        for (const each of [iri, empty]) {
          const { status } = await s.patch(`${each}.meta`, 'application/merge-patch+json', body, { 'If-Match': '*' });
          expect(status).to.equal(204);
        }
      };
      await link(1);
      const then = await instant();
      await link(2);
      const later = await instant();
      for (const date of [then, later]) {
        const inC = `SELECT ?g ?o { GRAPH ?g { ?s ?p ?o } FILTER(STRSTARTS(STR(?g), "${c}")) } ORDER BY ?o`;
        expect(await rows(s, inC, date)).to.deep.equal([`${iri},1`, `${iri},2`]);
        expect(
          await rows(s, `SELECT ?o FROM <${iri}> FROM <${iri}.meta> { ?s ?p ?o } ORDER BY ?o`, date),
        ).to.deep.equal(['1', '2']);
        expect(
          await rows(s, `SELECT ?g { GRAPH ?g {} FILTER(STRSTARTS(STR(?g), "${c}")) } ORDER BY ?g`, date),
        ).to.deep.equal([empty, iri]);
      }
    });

    it('has the state of a large graph while its content is being removed (rule 27.8)', async () => {
      const iri = `${await s.container()}large`;
      await s.stored('text/turtle', turtle(...Array.from({ length: 25_000 }, (_, at) => at)), iri);
      const then = await instant();
      const { headers } = await s.head(iri);
      expect((await s.put(iri, 'application/json', '{}', { 'If-Match': headers['etag']! })).status).to.equal(204);
      for (const query of [
        `SELECT (COUNT(*) AS ?n) { GRAPH <${iri}> { ?s ?p ?o } }`,
        `SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } FILTER(?g = <${iri}>) }`,
      ])
        expect(await rows(s, query, then)).to.deep.equal(['25000']);
    });

    it('has no incomplete result while a large container is being removed (rule 27.8)', async () => {
      const c = await s.container();
      const [updates, inUpdate] = [6, 200];
      for (let update = 0; update < updates; update++) {
        const graphs = Array.from(
          { length: inUpdate },
          (_, at) => `GRAPH <${c}r${update}-${at}> { <urn:s> <urn:p> 1 }`,
        );
        const type = { 'Content-Type': 'application/sparql-update' };
        const { status, text } = await s.send('POST', endpoint(s), type, `INSERT DATA { ${graphs.join(' ')} }`);
        expect(status, text).to.equal(200);
      }
      const then = await instant();
      expect((await s.send('DELETE', c, { Depth: 'infinity' })).status).to.equal(204);
      const deleted = Date.now();
      const query = `SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s <urn:p> ?o } FILTER(STRSTARTS(STR(?g), "${c}")) }`;
      await until(async () => {
        const { status, text, headers } = await ask(s, query, then);
        if (status === 503) expect(headers['retry-after']).to.equal('5');
        else expect(text.trim().split('\r\n')[1], `${status}`).to.equal(String(updates * inUpdate));
        return status === 200;
      });
      // Also of those that were removed last.
      const ends = new Set<string>();
      for (let update = 0; update < updates; update++) {
        const { versions } = JSON.parse((await s.get(`${c}r${update}-7?versions`)).text) as {
          versions: { until: string }[];
        };
        ends.add(versions[0]!.until);
      }
      expect(ends.size).to.equal(1);
      expect(Date.parse([...ends][0]!)).to.be.at.most(deleted);
    });

    it('answers in every form of a request (rules 14.1, 14.8, 14.12, 27.8)', async () => {
      const c = await s.container();
      const iri = `${c}g`;
      await s.stored('text/turtle', turtle(1), iri);
      const query = 'SELECT ?o { ?s <http://p.example/p> ?o FILTER(?o < 3) }';
      const stored = `${c}query`;
      await s.stored('application/sparql-query', `SELECT ?o FROM <${iri}> { ?s ?p ?o }`, stored);
      const date = await instant();
      await s.put(iri, 'text/turtle', turtle(2), { 'If-Match': '*' });
      const of = `SELECT ?o FROM <${iri}> { ?s ?p ?o }`;
      const type = { 'Content-Type': 'application/sparql-query' };
      const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
      const encoded = encodeURIComponent(of);
      const forms: readonly (readonly [string, string, Record<string, string>, string?])[] = [
        ['GET', `${endpoint(s)}?query=${encoded}`, {}],
        ['POST', endpoint(s), type, of],
        ['POST', endpoint(s), form, `query=${encoded}`],
        ['QUERY', endpoint(s), type, of],
        ['QUERY', c, type, query],
        ['QUERY', iri, type, query],
        ['GET', `${stored}?run`, {}],
      ];
      for (const [method, url, headers, body] of forms)
        for (const [then, value] of [
          [date, '1'],
          ['Fri, 01 Jan 2100 00:00:00 GMT', '2'],
          [undefined, '2'],
        ] as const) {
          const dated = then === undefined ? {} : { 'Accept-Datetime': then };
          const answer = await s.send(method, url, { Accept: 'text/csv', ...headers, ...dated }, body);
          expect([answer.status, answer.text], `${method} ${url}`).to.deep.equal([200, `o\r\n${value}\r\n`]);
          expect(answer.headers['vary']).to.include('Accept-Datetime');
          const memento = answer.headers['memento-datetime'];
          if (then === date) expect(memento).to.equal(date);
          else if (then === undefined) expect(memento).to.equal(undefined);
          else expect(Math.abs(Date.parse(memento!) - Date.now())).to.be.below(60_000);
        }
      const plan = await ask(s, query, date, '?explain=run');
      expect([plan.status, plan.headers['memento-datetime']], plan.text).to.deep.equal([200, date]);
      expect(JSON.parse(plan.text)).to.have.property('plan');
      const before = await ask(s, all, 'Sun, 06 Nov 1994 08:49:37 GMT');
      expect([before.status, before.text]).to.deep.equal([200, 'g,o\r\n']);
    });

    it('rejects a malformed date and text searches, and ignores the field in updates (rule 27.8)', async () => {
      for (const date of ['yesterday', '2026-03-02T12:00:00Z', '']) expectProblem(await ask(s, all, date), 400);
      const text = 'PREFIX text: <http://jena.apache.org/text#> SELECT ?s { ?s text:query "word" }';
      expect((await ask(s, text)).status).to.equal(200);
      const refused = await ask(s, text, new Date().toUTCString());
      expectProblem(refused, 422);
      expect(refused.text).to.include('present state only');
      const iri = s.fresh();
      const update = await s.send(
        'POST',
        endpoint(s),
        { 'Content-Type': 'application/sparql-update', 'Accept-Datetime': 'Sun, 06 Nov 1994 08:49:37 GMT' },
        `INSERT DATA { GRAPH <${iri}> { <${iri}> <http://p.example/p> 5 } }`,
      );
      expect([update.status, update.headers['memento-datetime']], update.text).to.deep.equal([200, undefined]);
      expect(await rows(s, `SELECT ?o FROM <${iri}> { ?s ?p ?o }`)).to.deep.equal(['5']);
    });
  },
  { settings },
);

describeStorage('SPARQL with a date, without versions', (s) => {
  it('ignores the date, also a malformed one (rule 27.8)', async () => {
    const { iri } = await s.stored('text/turtle', turtle(1));
    for (const date of ['Sun, 06 Nov 1994 08:49:37 GMT', 'yesterday']) {
      const answer = await ask(s, `SELECT ?o FROM <${iri}> { ?s ?p ?o }`, date);
      expect([answer.status, answer.text]).to.deep.equal([200, 'o\r\n1\r\n']);
      expect(answer.headers['memento-datetime']).to.equal(undefined);
      expect(answer.headers['vary']).to.not.include('Accept-Datetime');
    }
  });
});
