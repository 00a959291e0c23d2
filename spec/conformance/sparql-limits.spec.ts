/** Rule 14.6: limits end a query, never truncate its result silently, and keep the server available. */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { type Answer, exchange, head } from '../support/http.js';
import { slowness } from '../support/patience.js';
import { ask, endpointOf, holds, rows, sparqlQuery } from '../support/sparql.js';
import { alice, as, owner } from '../support/wac.js';

const e = 'https://e.example/limits/';
const cross = `SELECT (COUNT(*) AS ?n) { ${'abcdef'.replace(/./g, (v) => `?${v} <${e}p> ?${v}o . `)} }`;

const detailOf = ({ text }: Answer): string => (JSON.parse(text) as { detail: string }).detail;

describeStorage(
  'SPARQL limits',
  (s) => {
    before(async () => {
      const lines = Array.from({ length: 120 }, (_, i) => `<${e}${i}> <${e}p> ${i} .`);
      await s.stored('text/turtle', lines.join('\n'));
      await holds(s, 'ASK {}');
    });

    for (const [what, query] of [
      ['a cross join', cross],
      ['a cross join that is sorted', `${cross.replace('(COUNT(*) AS ?n)', '*')} ORDER BY ?ao DESC(?fo)`],
    ] as const)
      it(`${what} ends at a limit, small reads are answered, and the service continues (rule 14.7)`, async () => {
        const started = Date.now();
        const answer = ask(s, query);
        for (let i = 0; i < 5; i++) expect((await s.get(s.scratch)).status).to.equal(200);
        expectProblem(await answer, 422, s);
        expect(Date.now() - started).to.be.below(12_000 * slowness);
        expect(await holds(s, 'ASK { ?s ?p ?o }')).to.equal(true);
      });

    for (const [what, query, named] of [
      ['ends a query sooner', cross, /time limit of 0\.3 seconds \(the parameter timeout\)/],
      [
        'does not end it later than the setting',
        cross,
        /time limit of 2 seconds \(lws\.sparql\.endpoint\.timeout-seconds\)/,
      ],
    ] as const)
      it(`the parameter timeout ${what} (rule 14.1)`, async () => {
        const seconds = what === 'ends a query sooner' ? '0.3' : '9999';
        const body = new URLSearchParams({ query, timeout: seconds }).toString();
        const form = await s.send('POST', endpointOf(s), { 'Content-Type': 'application/x-www-form-urlencoded' }, body);
        const direct = await s.send(
          'POST',
          `${endpointOf(s)}?timeout=${seconds}`,
          { 'Content-Type': sparqlQuery },
          query,
        );
        for (const answer of [form, direct]) {
          expectProblem(answer, 422, s);
          expect(detailOf(answer)).to.match(named);
        }
      });

    it('an invalid timeout is 400 and names the expected form (rule 14.1)', async () => {
      for (const wrong of ['timeout=-1', 'timeout=soon', 'timeout=1e3', 'timeout=1&timeout=2']) {
        const answer = await s.send('GET', `${endpointOf(s)}?query=ASK%7B%7D&${wrong}`);
        expectProblem(answer, 400, s);
        expect(detailOf(answer), wrong).to.match(/^The parameter timeout is .*; expected seconds/);
      }
      expect((await s.send('GET', `${endpointOf(s)}?query=ASK%7B%7D&timeout=1.5`)).status).to.equal(200);
      for (const wrong of ['timeout=&timeout=', 'timeout=0&timeout=1', 'timeout=0x', 'timeout=.'])
        expect((await s.send('GET', `${endpointOf(s)}?query=ASK%7B%7D&${wrong}`)).status, wrong).to.equal(400);
    });

    it('parameters in the URL of a form are 400 and are not ignored (rule 14.5)', async () => {
      const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
      for (const misplaced of ['timeout=abc', 'timeout=1', 'explain=plan', 'query=ASK%7B%7D']) {
        const answer = await s.send('POST', `${endpointOf(s)}?${misplaced}`, form, 'query=ASK%7B%7D');
        expectProblem(answer, 400, s);
        expect(detailOf(answer), misplaced).to.match(/^Send the parameter [a-z-]+ in the form, not in the URL\.$/);
      }
      // Graphs are used, as in the W3C suite.
      for (const [graph, count] of [
        ['', '1'],
        ['?default-graph-uri=urn:none', '0'],
      ]) {
        const asked = `query=${encodeURIComponent('SELECT (COUNT(*) AS ?n) { SELECT * { ?s ?p ?o } LIMIT 1 }')}`;
        const { text } = await s.send('POST', endpointOf(s) + graph, { ...form, Accept: 'text/csv' }, asked);
        expect(text, graph).to.equal(`n\r\n${count}\r\n`);
      }
      const direct = { 'Content-Type': 'application/sparql-query' };
      expect((await s.send('POST', `${endpointOf(s)}?timeout=1`, direct, 'ASK{}')).status).to.equal(200);
    });

    it('a timeout of 0 and an empty one count as absent (rule 14.1)', async () => {
      for (const timeout of ['0', '', '0.0']) {
        const url = `${endpointOf(s)}?query=ASK%7B%7D&timeout=${timeout}`;
        expect((await s.send('GET', url)).status, timeout).to.equal(200);
        const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
        const posted = await s.send('POST', endpointOf(s), form, `query=ASK%7B%7D&timeout=${timeout}`);
        expect(posted.status, timeout).to.equal(200);
      }
    });

    it('rows above max-results never give a complete 200 (rule 14.6)', async () => {
      const query = `SELECT * { ?a <${e}p> ?b . ?c <${e}p> ?d }`;
      let text = '';
      try {
        const answer = await ask(s, query);
        if (answer.status !== 200) return expectProblem(answer, 422, s);
        text = answer.text;
      } catch {
        return;
      }
      expect.fail(`an answer that looks complete: ${text.length} characters`);
    });

    it('rows up to max-results are returned (rule 14.7)', async () => {
      expect(await rows(s, `SELECT * { ?a <${e}p> ?b . ?c <${e}p> ?d } LIMIT 1000`)).to.have.length(1000);
    });

    it('a client that disconnects ends its query, also before its response begins (rule 14.7)', async () => {
      const field = { Authorization: `Bearer ${s.token}`, 'Content-Type': sparqlQuery };
      const request = head(endpointOf(s), 'QUERY', { ...field, 'Content-Length': String(cross.length) });
      await Promise.all(
        Array.from({ length: 14 }, () => exchange(endpointOf(s), [request + cross, 300, 'abort'], 1000)),
      );
      const started = Date.now();
      expect(await holds(s, 'ASK {}')).to.equal(true);
      // Fourteen queries, two at a time, would take seven timeouts.
      expect(Date.now() - started).to.be.below(12_000 * slowness);
    });

    it('clients are served in turn, and a full queue is 503 (rule 14.7)', async () => {
      const many = Array.from({ length: 40 }, () => ask(s, cross).catch(() => undefined));
      await new Promise((resolve) => setTimeout(resolve, 500));
      const other = await ask(s, 'ASK {}', {}, as(s, alice));
      expect(other.status, other.text).to.equal(200);
      const busy = await Promise.race(
        many.map(async (one) => ((await one)?.status === 503 ? one : new Promise<never>(() => {}))),
      );
      expectProblem(busy, 503, s);
      expect(Number(busy?.headers['retry-after'])).to.be.above(0);
    });
  },
  {
    settings: {
      owners: owner.did,
      'sparql.endpoint.timeout-seconds': '2',
      'sparql.endpoint.max-results': '1000',
      'sparql.endpoint.max-concurrent': '2',
      'sparql.endpoint.memory-mb': '256',
    },
    owner,
  },
);
