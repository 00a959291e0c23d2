/** Rule 14.6: limits end a query, never cut its answer short, and leave the server to others. */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { exchange, head } from '../support/http.js';
import { slowness } from '../support/patience.js';
import { ask, endpointOf, holds, rows, sparqlQuery } from '../support/sparql.js';
import { alice, as, owner } from '../support/wac.js';

const e = 'https://e.example/limits/';
const cross = `SELECT (COUNT(*) AS ?n) { ${'abcdef'.replace(/./g, (v) => `?${v} <${e}p> ?${v}o . `)} }`;

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
      it(`Rule 14.7: ${what} ends at a limit, small reads are answered, and the service goes on`, async () => {
        const started = Date.now();
        const answer = ask(s, query);
        for (let i = 0; i < 5; i++) expect((await s.get(s.scratch)).status).to.equal(200);
        expectProblem(await answer, 422, s);
        expect(Date.now() - started).to.be.below(12_000 * slowness);
        expect(await holds(s, 'ASK { ?s ?p ?o }')).to.equal(true);
      });

    it('Rule 14.6: rows over max-results are never a 200 that is whole', async () => {
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

    it('Rule 14.7: rows up to max-results are answered', async () => {
      expect(await rows(s, `SELECT * { ?a <${e}p> ?b . ?c <${e}p> ?d } LIMIT 1000`)).to.have.length(1000);
    });

    it('Rule 14.7: a client that goes away ends its query, before its answer begins too', async () => {
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

    it('Rule 14.7: one client does not keep another from its turn, and over the queue is 503', async () => {
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
