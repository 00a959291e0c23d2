/**
 * Queries and updates of a few kilobytes that double, repeat or multiply texts (rule 14.7, limits): each is rejected or aborted,
 * the process continues, and concurrent reads do not wait. The server is a separate process, so that a crash is detected.
 */
import { expect } from 'chai';
import { slowness } from '../support/patience.js';
import { type ServerProcess, startProcess } from '../support/process.js';
import { type Read, read, readsDuring, residentMb } from '../support/sparql-stream.js';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

/** A string doubled thirty times, and a function that reads all of it. */
const doubling = numbers(30).map((at) => `BIND(CONCAT(?t${at}, ?t${at}) AS ?t${at + 1})`);
const huge = `BIND("xxxxxxxxxxxxxxxx" AS ?t0) ${doubling.join(' ')} FILTER(STRLEN(UCASE(?t30)) > 0)`;
/** Each round makes eight characters of one. */
const replaced = (rounds: number): string =>
  numbers(rounds).reduce((text) => `REPLACE(${text}, "x", "xxxxxxxx")`, '"xx"');
const long = replaced(6);
const rows = `VALUES ?v { ${numbers(900).join(' ')} }`;
const squares = numbers(40).map((at) => `BIND(?n${at} * ?n${at} AS ?n${at + 1})`);

const inExistence: Readonly<Record<string, string>> = {
  'EXISTS in a filter': `SELECT * { FILTER(EXISTS { ${huge} } || false) }`,
  'NOT EXISTS in a filter': `SELECT * { FILTER(!(NOT EXISTS { ${huge} })) }`,
  'EXISTS in an assignment': `SELECT * { BIND(IF(EXISTS { ${huge} }, 1, 2) AS ?b) }`,
  'EXISTS in an aggregate': `SELECT (COUNT(EXISTS { ${huge} }) AS ?n) { ?s ?p ?o }`,
  'EXISTS in ORDER BY': `SELECT ?s { ?s ?p ?o } ORDER BY (EXISTS { ${huge} })`,
  'EXISTS in HAVING': `SELECT ?s { ?s ?p ?o } GROUP BY ?s HAVING(EXISTS { ${huge} })`,
  'EXISTS in OPTIONAL': `SELECT ?s { ?s ?p ?o OPTIONAL { ?s ?q ?r FILTER(EXISTS { ${huge} } || false) } }`,
  'EXISTS within EXISTS': `SELECT * { FILTER(EXISTS { FILTER(EXISTS { ${huge} } || false) } || false) }`,
};

/** Queries that must fail, with the expected limit. */
const refused: readonly (readonly [what: string, limit: RegExp, query: string])[] = [
  ...Object.entries(inExistence).map(
    ([where, query]) => [`a doubled text within ${where}`, /string of more than 1000000/, query] as const,
  ),
  ['a replaced text', /string of more than 1000000/, `SELECT (STRLEN(${replaced(12)}) AS ?n) {}`],
  [
    'a long text many times in a group',
    /string of more than 1000000/,
    `SELECT (GROUP_CONCAT(${long}) AS ?t) { ${rows} }`,
  ],
  [
    'a long text in each row, sorted',
    /long strings/,
    `SELECT ?t { ${rows} BIND(CONCAT(${long}, STR(?v)) AS ?t) } ORDER BY ?t`,
  ],
  ['a long text in each place of an order', /long strings/, `SELECT ?v { ${rows} } ORDER BY CONCAT(${long}, STR(?v))`],
  [
    'a long text in each group',
    /long strings/,
    `SELECT ?v (MAX(CONCAT(${long}, STR(?v))) AS ?t) { ${rows} } GROUP BY ?v`,
  ],
  [
    'a long text in each column',
    /max-answer-mb/,
    `SELECT ${numbers(999)
      .map((at) => `(?t AS ?c${at})`)
      .join(' ')} { BIND(${long} AS ?t) }`,
  ],
  ['a stored text with each other', /max-answer-mb/, 'SELECT ?t { ?s <urn:long> ?t . ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }'],
  [
    'a stored text in triples',
    /max-answer-mb/,
    'CONSTRUCT { ?new <urn:p> ?t } { ?s <urn:long> ?t . ?a ?b ?c . ?d ?e ?f . ?g ?h ?i BIND(BNODE() AS ?new) }',
  ],
];

/** Templates of updates, with the WHERE of the queries. */
const updates: readonly (readonly [what: string, update: string])[] = [
  ['a doubled text', `INSERT { <urn:a> <urn:b> ?t30 } WHERE { ${huge} }`],
  ['a doubled text within EXISTS', `INSERT { <urn:a> <urn:b> 1 } WHERE { FILTER(EXISTS { ${huge} } || false) }`],
  [
    'a long text in each solution',
    `INSERT { ?s <urn:b> ?t } WHERE { ${rows} BIND(IRI(CONCAT("urn:", STR(?v))) AS ?s) BIND(CONCAT(${long}, STR(?v)) AS ?t) }`,
  ],
  [
    'a product of all triples',
    `INSERT { ?a ?e ?i } WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o . ?p ?q ?r }`,
  ],
];

const maxMoreMb = 300;
const longestReadMs = 100;

describe('Memory of queries and updates', () => {
  let server: ServerProcess;
  let base: number;

  const put = async (name: string, body: string): Promise<void> => {
    const answer = await fetch(`${server.root}${name}`, {
      method: 'PUT',
      headers: { 'Content-Type': 'text/turtle' },
      body,
    });
    expect(answer.status).to.equal(201);
  };

  before(async () => {
    server = await startProcess({ environment: { LWS_SPARQL_ENDPOINT_MAX_CONCURRENT: '2' } });
    await put(
      'data',
      numbers(40)
        .map((at) => `<urn:s${at}> <urn:p> "x${at}" .`)
        .join('\n'),
    );
    await put('long', `<urn:l> <urn:long> "${'y'.repeat(50_000)}" .`);
    // The threads and their engines are loaded.
    await Promise.all(numbers(4).map(() => read(server.root, 'SELECT * { ?s ?p ?o } ORDER BY ?o')));
    await patch('INSERT { <urn:c> <urn:d> 1 } WHERE { FILTER(EXISTS { ?s ?p ?o } || false) }');
    base = residentMb(server.pid);
  });
  after(() => server.kill());

  async function patch(body: string): Promise<Read> {
    const answer = await fetch(`${server.root}data`, {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/sparql-update', 'If-Match': '*' },
      body,
    });
    return { status: answer.status, text: await answer.text(), isWhole: true };
  }

  /** Monitors memory and concurrent small reads. A busy machine may delay a read occasionally. */
  async function watched(work: () => Promise<Read>, tries = 4): Promise<Read> {
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, residentMb(server.pid));
    }, 20);
    const running = work();
    const [longest = 0] = await readsDuring(`${server.root}data`, running).finally(() => clearInterval(watch));
    if (longest > longestReadMs * slowness && tries > 1) return watched(work, tries - 1);
    expect(longest, 'longest read during the work, in ms').to.be.at.most(longestReadMs * slowness);
    expect(most - base, 'growth of memory, in MiB').to.be.at.most(maxMoreMb);
    return running;
  }

  for (const [what, limit, query] of refused)
    it(`a query of ${query.length} bytes is rejected at a limit or aborted: ${what} (rule 14.6)`, async () => {
      const accept = query.startsWith('CONSTRUCT') ? 'application/n-triples' : 'application/sparql-results+json';
      const { status, text, isWhole } = await watched(() => read(server.root, query, accept));
      if (isWhole) expect([status, text].join(' ')).to.match(/^422/).and.match(limit);
      // A started response is aborted, and is not much longer than permitted.
      else expect(text.length).to.be.below(70 << 20);
    });

  it('SPARQL 1.1 17.1: products of large numbers are errors above the digit limit', async () => {
    const query = `SELECT ?n40 { BIND(9999999999999999999999 AS ?n0) ${squares.join(' ')} }`;
    const { status, text } = await watched(() => read(server.root, query));
    expect(status).to.equal(200);
    expect(JSON.parse(text).results.bindings).to.deep.equal([{}]);
  });

  for (const [what, update] of updates)
    it(`an update of ${update.length} bytes is rejected at a limit: ${what} (rule 6.15)`, async () => {
      const { status, text } = await watched(() => patch(update));
      expect(status, text).to.equal(422);
    });
});
