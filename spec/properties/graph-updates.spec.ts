/**
 * SPARQL Update at the endpoint: a request of several operations has the effect of one request for each operation, with the
 * in-memory index and from LevelDB.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import '../support/random-seed.js';
import { request } from '../support/http.js';
import { credential } from '../support/identity.js';
import { type SpecServer, startSpecServer } from '../support/server.js';
import { runs } from '../support/speed.js';
import { agent, alice, owner, ownerRule, rule, turtleOf, wacSettings } from '../support/wac.js';

const names = ['a', 'b', 'c'];
/** Characters beyond and within the BMP, for which byte order and UTF-16 order differ. */
const terms = ['1', '2', '"\u{1F600}"', '"\uFB01"', '<urn:x>', '<urn:y>'];

const name = fc.constantFrom(...names);
const triple = fc
  .tuple(
    fc.constantFrom('<urn:x>', '<urn:y>', '<urn:\u{10400}>'),
    fc.constantFrom('<urn:p>', '<urn:q>'),
    fc.constantFrom(...terms),
  )
  .map((parts) => parts.join(' '));
const data = fc.array(triple, { minLength: 1, maxLength: 4 }).map((triples) => triples.join(' . '));
/** Patterns with solutions for ?s ?p ?o, in named graphs or in all graphs of the container. */
const where = fc.oneof(
  name.map((graph) => `GRAPH <${graph}> { ?s ?p ?o }`),
  fc.tuple(name, name).map(([g, h]) => `GRAPH <${g}> { ?s ?p ?o } GRAPH <${h}> { ?s ?q ?o2 }`),
  fc.tuple(name, name).map(([g, h]) => `GRAPH <${g}> { ?s ?p ?o } FILTER NOT EXISTS { GRAPH <${h}> { ?s ?p ?o } }`),
  name.map((graph) => `GRAPH <${graph}> { ?s <urn:p> ?o . ?s ?p ?o }`),
  fc.constantFrom(
    'GRAPH ?g { ?s ?p ?o } FILTER(STRSTARTS(STR(?g), STR(<>)))',
    'GRAPH ?g { ?x ?p ?o } FILTER(STRSTARTS(STR(?g), STR(<>))) BIND(<urn:x> AS ?s)',
    '{ SELECT (COUNT(*) AS ?o) { GRAPH ?g { ?x ?y ?z } FILTER(STRSTARTS(STR(?g), STR(<>))) } } BIND(<urn:n> AS ?s) BIND(<urn:n> AS ?p)',
    'GRAPH ?g { <urn:x> ?p ?o } FILTER(STRSTARTS(STR(?g), STR(<>))) BIND(<urn:y> AS ?s)',
    'GRAPH ?g {} FILTER(STRSTARTS(STR(?g), STR(<>))) BIND(<urn:g> AS ?s) BIND(<urn:g> AS ?p) BIND(STRAFTER(STR(?g), STR(<>)) AS ?o)',
  ),
);
const operation = fc.oneof(
  fc.tuple(name, data).map(([graph, triples]) => `INSERT DATA { GRAPH <${graph}> { ${triples} } }`),
  fc.tuple(name, data).map(([graph, triples]) => `DELETE DATA { GRAPH <${graph}> { ${triples} } }`),
  fc.tuple(name, where).map(([graph, found]) => `INSERT { GRAPH <${graph}> { ?s ?p ?o } } WHERE { ${found} }`),
  fc.tuple(name, where).map(([graph, found]) => `DELETE { GRAPH <${graph}> { ?s ?p ?o } } WHERE { ${found} }`),
  fc
    .tuple(name, name, where)
    .map(
      ([g, h, found]) =>
        `DELETE { GRAPH <${g}> { ?s ?p ?o } } INSERT { GRAPH <${h}> { ?s <urn:q> ?o } } WHERE { ${found} }`,
    ),
  fc
    .tuple(fc.constantFrom('COPY', 'MOVE', 'ADD'), name, name)
    .map(([op, from, to]) => `${op} SILENT <${from}> TO <${to}>`),
  fc.tuple(fc.constantFrom('CLEAR', 'DROP', 'CREATE'), name).map(([op, graph]) => `${op} SILENT GRAPH <${graph}>`),
);

for (const who of [owner, alice])
  describe(`Updates of several graphs by ${who === owner ? 'an owner' : 'a caller with access to a part'}`, function () {
    this.timeout(60_000);
    let server: SpecServer;
    let count = 0;
    before(async () => {
      server = await startSpecServer({ settings: { ...wacSettings, 'sparql.endpoint.update': 'true' } });
      const own = `${server.root}own/`;
      const put = (iri: string, body?: string) =>
        send('PUT', iri, body, body === undefined ? undefined : 'text/turtle', owner);
      for (const iri of [own, `${server.root}shut/`]) expect((await put(iri)).status).to.equal(201);
      const rules = turtleOf(ownerRule, rule('Read Write', agent(alice)));
      expect((await put(`${own}.acl`, rules)).status).to.equal(201);
      // The unreadable container has the same terms.
      const subjects = ['<urn:x>', '<urn:y>', '<urn:\u{10400}>'];
      const all = subjects.flatMap((subject) => terms.map((term) => `${subject} <urn:p> ${term} ; <urn:q> ${term} .`));
      for (const name of ['a', 'z'])
        expect((await put(`${server.root}shut/${name}`, all.join('\n'))).status).to.equal(201);
    });
    after(() => server.stop());

    const send = (method: string, iri: string, body?: string, type?: string, by = who) =>
      request(iri, {
        method,
        headers: {
          Authorization: `Bearer ${credential(by, { aud: new URL(iri).origin })}`,
          Accept: 'application/n-triples, */*;q=0.1',
          ...(type === undefined ? {} : { 'Content-Type': type }),
        },
        body,
      });

    async function update(base: string, operations: readonly string[]): Promise<void> {
      const text = `BASE <${base}> ${operations.join(' ; ')}`;
      const answer = await send('POST', new URL('/.lws/sparql', base).href, text, 'application/sparql-update');
      expect(answer.status, answer.text).to.equal(200);
    }

    async function container(): Promise<string> {
      const iri = `${server.root}own/n${count++}/`;
      expect((await send('PUT', iri)).status).to.equal(201);
      return iri;
    }

    /** Returns the sorted lines of each graph. */
    const states = (base: string): Promise<string[]> =>
      Promise.all(
        names.map(async (graph) => {
          const answer = await send('GET', base + graph);
          return answer.status === 404 ? 'absent' : answer.text.split('\n').sort().join('\n');
        }),
      );

    it('have the effect of separate requests', () =>
      fc.assert(
        fc.asyncProperty(
          fc.array(operation, { maxLength: 3 }),
          fc.array(operation, { minLength: 2, maxLength: 7 }),
          async (first, rest) => {
            const [together, apart] = [await container(), await container()];
            for (const base of [together, apart]) await update(base, first);
            await update(together, rest);
            for (const one of rest) await update(apart, [one]);
            expect(await states(together)).to.deep.equal(await states(apart));
          },
        ),
        { numRuns: runs(100) },
      ));
  });
