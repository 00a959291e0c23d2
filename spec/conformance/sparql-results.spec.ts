/** Rule 14.3: negotiated formats of results and graphs. Exact texts: result-writers.spec.ts. */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectGraph, mediaType, rdfTypes } from '../support/rdf.js';
import { ask, resultsJson, resultsOf } from '../support/sparql.js';

const e = 'https://e.example/results/';
const data = `<${e}s> <${e}p> <${e}o>, "a\\tb\\"c\\n", "hi"@en, 1, 1.5, true, _:b . _:b <${e}q> "x"^^<${e}t> .`;

describeStorage('SPARQL results', (s) => {
  let iri = '';
  before(async () => {
    iri = (await s.stored('text/turtle', data)).iri;
  });

  for (const type of rdfTypes)
    it(`CONSTRUCT and DESCRIBE as ${type} (rule 14.3)`, async () => {
      const construct = `CONSTRUCT { ?s ?p ?o } FROM <${iri}> { ?s ?p ?o }`;
      const answer = await ask(s, construct, { Accept: type });
      expect(mediaType(answer)).to.equal(type);
      await expectGraph(answer, iri, data);
      const twice = `CONSTRUCT { ?s <${e}is> 1 } FROM <${iri}> { ?s <${e}p> ?o }`;
      await expectGraph(await ask(s, twice, { Accept: type }), iri, `<${e}s> <${e}is> 1 .`);
      await expectGraph(await ask(s, `CONSTRUCT WHERE { <${e}none> ?p ?o }`, { Accept: type }), iri, '');
      const described = await ask(s, `DESCRIBE <${e}s>`, { Accept: type });
      expect(described.status, described.text).to.equal(200);
      expect(described.text).to.include('hi');
    });

  for (const [Accept, table, graph] of [
    [undefined, resultsJson, 'text/turtle'],
    ['*/*', resultsJson, 'text/turtle'],
    ['text/csv, application/n-triples', 'text/csv', 'application/n-triples'],
    ['text/csv;q=0.5, application/sparql-results+xml', 'application/sparql-results+xml', 406],
    ['text/tab-separated-values;q=0.2, text/turtle;q=0.1', 'text/tab-separated-values', 'text/turtle'],
    ['application/json', resultsJson, undefined],
    ['application/ld+json, */*;q=0.1', undefined, 'application/ld+json'],
    [`${resultsJson};q=0, */*`, 'application/sparql-results+xml', 'text/turtle'],
  ] as const)
    it(`Accept: ${Accept} (rule 14.3)`, async () => {
      const headers: Record<string, string> = Accept ? { Accept } : {};
      for (const [query, wanted] of [
        ['SELECT * { ?s ?p ?o } LIMIT 1', table],
        ['ASK {}', table],
        ['CONSTRUCT WHERE { ?s ?p ?o }', graph],
      ] as const) {
        const answer = await ask(s, query, headers);
        if (wanted === 406) expect(answer.status).to.equal(406);
        else if (wanted) expect([answer.status, mediaType(answer)], query).to.deep.equal([200, wanted]);
      }
    });

  it('SPARQL JSON 3.1: variables are in the order of projection, also unbound ones', async () => {
    const answer = resultsOf(await ask(s, `SELECT ?z ?o ?a { <${e}s> <${e}p> ?o FILTER(ISIRI(?o)) }`));
    expect(answer.head.vars).to.deep.equal(['z', 'o', 'a']);
    expect(answer.results!.bindings).to.deep.equal([{ o: { type: 'uri', value: `${e}o` } }]);
    const all = resultsOf(await ask(s, `SELECT * { <${e}none> ?p ?o OPTIONAL { ?o ?q ?r } }`));
    expect(all.head.vars).to.have.members(['p', 'o', 'q', 'r']);
    expect(all.results!.bindings).to.deep.equal([]);
  });

  it('SPARQL CSV and TSV: rows and headers over HTTP', async () => {
    const query = `SELECT ?z ?o { VALUES ?o { "a,\\"b" 1 "x"@en } } ORDER BY STR(?o)`;
    const csv = await ask(s, query, { Accept: 'text/csv' });
    expect(csv.text).to.equal('z,o\r\n,1\r\n,"a,""b"\r\n,x\r\n');
    const tsv = await ask(s, query, { Accept: 'text/tab-separated-values' });
    expect(tsv.text).to.equal('?z\t?o\n\t1\n\t"a,\\"b"\n\t"x"@en\n');
    for (const Accept of ['text/csv', 'text/tab-separated-values'])
      expect((await ask(s, 'ASK {}', { Accept })).text.trim()).to.match(/true$/);
  });
});
