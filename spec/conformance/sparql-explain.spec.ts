/** Rule 14.1: query plans, with numbers of readable data only. */
import { expect } from 'chai';
import { describeStorage, type Sender } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { ask, endpointOf, rowsOf, sparqlQuery } from '../support/sparql.js';
import { agent, alice, as, inWac, owner, rule, setAcl } from '../support/wac.js';

interface Part {
  readonly operator: string;
  readonly about?: string;
  readonly estimate?: number;
  readonly rows?: number;
  readonly milliseconds?: number;
  readonly parts?: readonly Part[];
}

const e = 'https://e.example/explain/';

/** Parts of a plan, root first. */
const all = (part: Part): Part[] => [part, ...(part.parts ?? []).flatMap(all)];

describeStorage(
  'SPARQL explained',
  (s) => {
    before(async () => {
      await s.stored('text/turtle', `<${e}a> <${e}p> <${e}b>, <${e}c> . <${e}b> <${e}q> 1 . <${e}c> <${e}q> 2 .`);
    });

    const explained = async (query: string, how: string, sender?: Sender): Promise<Part> => {
      const answer = await s.send(
        'POST',
        `${endpointOf(s)}?explain=${how}`,
        { 'Content-Type': sparqlQuery },
        query,
        sender,
      );
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.headers['content-type']).to.match(/^application\/json/);
      expect(answer.headers['cache-control']).to.match(/no-store/);
      return (JSON.parse(answer.text) as { plan: Part }).plan;
    };
    it('names unknown functions in explain and in LWS-Hint (rule 14.15)', async () => {
      const query = `SELECT ?x { BIND(COALESCE(<${e}é>(1), 0) AS ?x) }`;
      const answer = await s.send('POST', `${endpointOf(s)}?explain=plan`, { 'Content-Type': sparqlQuery }, query);
      expect((JSON.parse(answer.text) as { unknownFunctions?: unknown }).unknownFunctions).to.deep.equal([`${e}é`]);
      const hint = `Unknown function, whose result is an error: <${e}%C3%A9>`;
      expect(answer.headers['lws-hint']).to.equal(hint);
      expect(rowsOf(await ask(s, query))).to.deep.equal(['0']);
      expect((await ask(s, query)).headers['lws-hint']).to.equal(hint);
      const known = await ask(s, 'SELECT ?x { BIND(<http://www.w3.org/2001/XMLSchema#integer>("1") AS ?x) }');
      expect([known.headers['lws-hint'], rowsOf(known)]).to.deep.equal([undefined, ['1']]);
    });

    const join = `SELECT ?s ?n { ?s <${e}p> ?o . ?o <${e}q> ?n FILTER(?n > 1) } ORDER BY ?n`;

    it('explain=plan returns estimates and no row counts (rule 14.1)', async () => {
      const parts = all(await explained(join, 'plan'));
      expect(parts.map(({ operator }) => operator)).to.include.members(['order', 'join', 'pattern']);
      const patterns = parts.filter(({ operator }) => operator === 'pattern');
      expect(patterns.map(({ about, estimate }) => [about, estimate])).to.deep.equal([
        [`?s <${e}p> ?o`, 2],
        [`?o <${e}q> ?n`, 2],
      ]);
      expect(parts.filter((part) => 'rows' in part || 'milliseconds' in part)).to.deep.equal([]);
    });

    it('explain=run returns the rows of each part, for every query form (rule 14.1)', async () => {
      const parts = all(await explained(join, 'run'));
      expect(parts[0]).to.include({ operator: 'order', rows: 1 });
      for (const { operator, rows, milliseconds } of parts) {
        expect(rows, operator).to.be.at.least(1);
        expect(milliseconds, operator).to.be.at.least(0);
      }
      for (const query of [
        'ASK { ?s ?p ?o }',
        `DESCRIBE <${e}a>`,
        `CONSTRUCT { ?s <${e}r> ?o } { ?s <${e}p> ?o }`,
        'ASK {}',
      ])
        for (const how of ['plan', 'run']) expect((await explained(query, how)).operator, query).to.be.a('string');
    });

    it('a caller without read access sees the plan of an empty storage (rule 14.1)', async () => {
      for (const how of ['plan', 'run']) {
        const numbers = (part: Part): unknown => [
          part.operator,
          part.estimate,
          part.rows,
          (part.parts ?? []).map(numbers),
        ];
        const hidden = await explained(join, how, as(s, alice));
        expect(all(hidden).every(({ estimate = 0, rows = 0 }) => estimate === 0 && rows === 0)).to.equal(true);
        const absent = await explained(join.replaceAll('explain/', 'nowhere/'), how, as(s, alice));
        expect(numbers(hidden)).to.deep.equal(numbers(absent));
      }
    });

    it('other values are 400, and a rejected query is still rejected (rule 14.1)', async () => {
      const asked = (parameters: string, query = 'ASK {}') =>
        s.send('POST', `${endpointOf(s)}?${parameters}`, { 'Content-Type': sparqlQuery }, query);
      for (const wrong of ['explain=yes', 'explain=', 'explain=run&explain=run'])
        expectProblem(await asked(wrong), 400, s);
      expectProblem(await asked('explain=run', 'ASK {'), 400, s);
      expectProblem(await asked('explain=plan', 'ASK { SERVICE <http://a.example/> { ?s ?p ?o } }'), 422, s);
    });
  },
  { settings: { owners: owner.did }, owner },
);

describeStorage(
  'SPARQL explained for a caller with access to a part',
  (s) => {
    it('shows the same estimates for any number of unreadable triples (rule 14.1)', async () => {
      const readable = await s.container();
      await setAcl(s, readable, rule('Read', agent(alice)));
      const triples = (count: number, name: string): string =>
        Array.from({ length: count }, (_, at) => `<${e}${name}${at}> <${e}many> ${at} .`).join('\n');
      for (let at = 0; at < 30; at++) await s.stored('text/turtle', triples(2, `r${at}-`), `${readable}${at}`);
      const estimates: unknown[] = [];
      for (const unreadable of [300, 400, 800, 1200]) {
        await s.stored('text/turtle', triples(unreadable, `h${unreadable}-`));
        const answer = await s.send(
          'POST',
          `${endpointOf(s)}?explain=plan`,
          { 'Content-Type': sparqlQuery },
          `SELECT * { ?s <${e}many> ?o }`,
          as(s, alice),
        );
        const { plan } = JSON.parse(answer.text) as { plan: Part };
        estimates.push(all(plan).find(({ operator }) => operator === 'pattern')?.estimate);
      }
      expect(estimates).to.deep.equal([64, 64, 64, 64]);
    });
  },
  inWac(),
);
