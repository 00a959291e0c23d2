/** Rule 14.7: with the index, queries return the same results and see every acknowledged write. */
import { expect } from 'chai';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import { putLinks } from '../support/linkset.js';
import { ask, askByGet, graphsSeen, holds, rows } from '../support/sparql.js';
import { below, build, e, expectImmediateRevocation, half, wholeTree } from '../support/sparql-views.js';
import { until } from '../support/until.js';
import { agent, alice, as, inWac, rule, setAcl } from '../support/wac.js';

const withIndex = (megabytes: number) => inWac({ 'index.memory-mb': String(megabytes) });

async function logged(s: StorageUnderTest, text: string): Promise<void> {
  await until(() => s.server!.log.some(({ msg }) => String(msg).includes(text)), `the log says: ${text}`);
}

const ready = 'The index is ready';

const valuesOf = (s: StorageUnderTest, iri: string): Promise<string[]> =>
  rows(s, `SELECT ?v { GRAPH <${iri}> { ?s <${e}v> ?v } }`);
const typesOf = (s: StorageUnderTest, iri: string): Promise<string[]> =>
  rows(s, `SELECT ?t { GRAPH <${iri}.meta> { ?s a ?t } }`);

function seesChanges(s: StorageUnderTest): void {
  it('sees every kind of write immediately', async () => {
    for (let round = 0; round < 5; round++) {
      const { iri } = await s.stored('text/turtle', `<> <${e}v> ${round} .`);
      expect(await valuesOf(s, iri)).to.deep.equal([String(round)]);
      expect((await s.put(iri, 'text/turtle', `<> <${e}v> "x" .`, { 'If-Match': '*' })).status).to.equal(204);
      expect(await valuesOf(s, iri)).to.deep.equal(['x']);
      const update = `INSERT DATA { <${iri}> <${e}v> "y" }`;
      expect((await s.patch(iri, 'application/sparql-update', update)).status).to.equal(204);
      expect(await valuesOf(s, iri)).to.deep.equal(['x', 'y']);
      for (const type of [`${e}A`, `${e}B`]) {
        expect((await putLinks(s, iri, { type: [{ href: type }] })).status).to.equal(204);
        expect(await typesOf(s, iri)).to.include(type);
        expect(await holds(s, `ASK { <${iri}> a <${e}A> }`)).to.equal(type === `${e}A`);
      }
      expect((await s.delete(iri)).status).to.equal(204);
      expect([...(await valuesOf(s, iri)), ...(await typesOf(s, iri))]).to.deep.equal([]);
    }
  });

  it('sees the deletion of a container with its descendants', async () => {
    const container = await s.container();
    await s.container(`${container}in/`);
    for (const name of ['a', 'in/b']) await s.stored('text/turtle', `<> <${e}gone> 1 .`, container + name);
    await putLinks(s, `${container}in/`, { type: [{ href: `${e}Gone` }] });
    expect(await rows(s, `SELECT ?s { { ?s <${e}gone> 1 } UNION { ?s a <${e}Gone> } }`)).to.have.length(3);
    expect((await s.delete(container, { Depth: 'infinity' })).status).to.equal(204);
    expect(await rows(s, `SELECT ?s { { ?s <${e}gone> 1 } UNION { ?s a <${e}Gone> } }`)).to.deep.equal([]);
  });
  it('shows no revoked graphs', () => expectImmediateRevocation(s));
}

describeStorage(
  'SPARQL from the index',
  (s) => {
    before(async () => {
      expect(s.server!.log.some(({ msg }) => String(msg).includes(ready))).to.equal(false);
      await graphsSeen(s);
      await logged(s, ready);
      await build(s);
      await setAcl(s, `${s.scratch}open/`, rule('Read', agent(alice)));
    });

    describe('for a caller who may read half', () => half(s, () => as(s, alice)));

    it('shows the owner all graphs', async () => {
      expect(await graphsSeen(s)).to.deep.equal(below(s, wholeTree));
    });

    seesChanges(s);

    it('is available again after a restart', async () => {
      await s.restart(withIndex(64));
      expect(await graphsSeen(s)).to.include.members(below(s, wholeTree));
      await logged(s, ready);
      expect(await graphsSeen(s)).to.include.members(below(s, wholeTree));
      const { iri } = await s.stored('text/turtle', `<> <${e}v> 1 .`);
      expect(await valuesOf(s, iri)).to.deep.equal(['1']);
      await s.delete(iri);
    });
  },
  withIndex(64),
);

/** Numbers of queries executed by the HTTP thread and by worker threads. */
async function answered(s: StorageUnderTest): Promise<readonly [short: number, inThreads: number]> {
  const { text } = await s.get(`${s.root}.lws/metrics`);
  const [, short] = /^quadpod_sparql_short_queries_total (\d+)/m.exec(text)!;
  const [, inThreads] = /^quadpod_sparql_queries_total (\d+)/m.exec(text)!;
  return [Number(short), Number(inThreads)];
}

describeStorage(
  'Short SPARQL queries on the HTTP thread',
  (s) => {
    const lookup = `SELECT ?p ?o { <${e}a> ?p ?o }`;
    before(async () => {
      await build(s);
      await setAcl(s, `${s.scratch}open/`, rule('Read', agent(alice)));
      for (let n = 0; n < 10; n++) await rows(s, lookup);
      const isShort = async (): Promise<boolean> => {
        // It is loaded while the server is idle.
        await new Promise((resolve) => setTimeout(resolve, 400));
        await rows(s, lookup);
        return (await answered(s))[0] > 0;
      };
      await until(isShort, 'the HTTP thread answers a query', 30_000);
    });

    describe('for a caller who may read half', () => half(s, () => as(s, alice)));
    seesChanges(s);

    for (const query of [
      lookup,
      `ASK { <${e}a> <${e}same> 1 }`,
      `CONSTRUCT { ?s <${e}of> ?o } { ?s <${e}next> <${e}b> . ?s <${e}n> ?o }`,
      `SELECT ?g ?x { GRAPH ?g { <${e}a> <${e}next> ?x } OPTIONAL { ?x <${e}n> ?n FILTER(?n > 10) } } ORDER BY ?g LIMIT 3`,
      `SELECT * { { ?s <${e}n> 20 } UNION { <${e}c> ?p ?o } VALUES ?s { <${e}b> UNDEF } }`,
      `SELECT ?p (COUNT(?o) AS ?n) (SAMPLE(?p) AS ?m) { <${e}a> ?p ?o } GROUP BY ?p HAVING(COUNT(?o) > 0)`,
      `SELECT ?o { ?s <${e}n> 20 ; ?p ?o } ORDER BY DESC(?o) LIMIT 5`,
    ])
      it(`returns the result of a worker thread: ${query}`, async () => {
        const type = query.startsWith('CONSTRUCT') ? 'application/n-triples' : 'text/csv';
        for (const sender of [undefined, as(s, alice), s.stranger, 'anonymous'] as const) {
          const asked = async (more: readonly (readonly [string, string])[]): Promise<string> => {
            const { status, text } = await askByGet(s, [['query', query], ...more], { Accept: type }, sender);
            expect(status, text).to.equal(200);
            return text.split(/\r?\n/).sort().join('\n');
          };
          let before = 0;
          let short = '';
          const isShort = async (): Promise<boolean> => {
            [before] = await answered(s);
            short = await asked([]);
            return (await answered(s))[0] === before + 1;
          };
          // On a busy machine a query may count as long, and unauthorized callers pause after that.
          await until(isShort, 'the HTTP thread answers it', 30_000);
          // A query with its own limit runs in a worker thread.
          expect(short).to.equal(await asked([['timeout', '30']]));
          expect((await answered(s))[0]).to.equal(before + 1);
        }
      });

    const values = (name: string): string => `VALUES ?${name} { ${Array.from({ length: 60 }, (_, n) => n).join(' ')} }`;
    for (const [what, query, isTried] of [
      ['many rows', `SELECT * { <${e}a> <${e}same> 1 ${values('a')} ${values('b')} }`, true],
      ['aggregates of texts', `SELECT (GROUP_CONCAT(?o) AS ?n) { <${e}a> ?p ?o }`, false],
      ['paths', `SELECT ?x { <${e}a> <${e}next>+ ?x }`, false],
      ['functions of texts', `SELECT ?o { <${e}a> ?p ?o FILTER(REGEX(STR(?o), "a")) }`, false],
      ['no term to begin with', 'SELECT * { ?s ?p ?o } LIMIT 3', false],
      ['a long text', `SELECT * { <${e}a> ?p ?o } #${'x'.repeat(3000)}`, false],
    ] as const)
      it(`passes queries with ${what} to worker threads`, async () => {
        const [short, inThreads] = await answered(s);
        const found = await rows(s, query);
        if (isTried) expect(found).to.have.length(3600);
        expect(await answered(s)).to.deep.equal([short, inThreads + 1]);
      });

    it('passes queries with exploding joins to worker threads, and executes the next', async () => {
      const [short, inThreads] = await answered(s);
      // Each step multiplies the rows by a hundred, and the result shows none of them.
      const found = await rows(
        s,
        `SELECT ?a { <${e}a> <${e}same> 1 ${values('a')} ${values('b')} ${values('c')} } LIMIT 1 OFFSET 9999`,
      );
      expect(found).to.have.length(1);
      expect(await answered(s)).to.deep.equal([short, inThreads + 1]);
      await rows(s, lookup);
      expect(await answered(s)).to.deep.equal([short + 1, inThreads + 1]);
    });

    it('returns the same result after a cached one, and a new value of NOW()', async () => {
      const nows = `SELECT (NOW() AS ?t) { <${e}a> <${e}same> 1 }`;
      const first = await rows(s, nows);
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect(await rows(s, nows)).not.to.deep.equal(first);
      expect(await rows(s, lookup)).to.deep.equal(await rows(s, lookup));
    });

    it('rejects queries like a worker thread', async () => {
      const { status, text } = await askByGet(s, [['query', `SELECT * { <${e}a> ?p }`]]);
      expect(status).to.equal(400);
      expect(text).to.include('malformed-query').and.to.include('line 1');
      expect((await ask(s, lookup, { Accept: 'text/turtle' })).status).to.equal(406);
    });
  },
  withIndex(64),
);
