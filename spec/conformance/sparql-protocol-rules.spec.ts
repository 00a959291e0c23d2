/**
 * SPARQL 1.1 Protocol 2: cases of the W3C protocol tests for queries that sparql-protocol.spec.ts lacks, with every request form.
 * Test names are in brackets.
 */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectProblem, listOf } from '../support/expectations.js';
import type { Answer } from '../support/http.js';
import { graphOf, mediaType, rdfTypes } from '../support/rdf.js';
import { encoded, endpointOf, formType, resultsJson, resultsOf, rowsOf, sparqlQuery } from '../support/sparql.js';

const e = 'https://e.example/protocol-rules/';
const tableTypes = [resultsJson, 'application/sparql-results+xml', 'text/csv', 'text/tab-separated-values'];

type Parameters = readonly (readonly [string, string])[];
type Fields = Readonly<Record<string, string>>;

describeStorage('SPARQL protocol rules', (s) => {
  let [one, two, three] = ['', '', ''];
  before(async () => {
    const stored = async (text: string) => (await s.stored('text/turtle', text)).iri;
    one = await stored(`<${e}s> <${e}p> 1 .`);
    two = await stored(`<${e}s> <${e}p> 2 .`);
    three = await stored(`<${e}s> <${e}p> 3 .`);
  });

  /** A request form takes a query, other parameters and header fields. */
  const forms: Readonly<Record<string, (query: string, beside?: Parameters, fields?: Fields) => Promise<Answer>>> = {
    'GET [query_get]': (query, beside = [], fields = {}) =>
      s.get(`${endpointOf(s)}?${encoded([['query', query], ...beside])}`, fields),
    'POST of a form [query_post_form]': (query, beside = [], fields = {}) =>
      s.post(endpointOf(s), formType, encoded([...beside, ['query', query]]), fields),
    'POST directly [query_post_direct]': (query, beside = [], fields = {}) =>
      s.post(`${endpointOf(s)}?${encoded(beside)}`, sparqlQuery, query, fields),
    QUERY: (query, beside = [], fields = {}) =>
      s.send('QUERY', `${endpointOf(s)}?${encoded(beside)}`, { 'Content-Type': sparqlQuery, ...fields }, query),
  };
  const select = `SELECT ?o { <${e}s> <${e}p> ?o }`;
  const both = `SELECT ?g ?o { { <${e}s> <${e}p> ?o } UNION { GRAPH ?g { <${e}s> <${e}p> ?o } } }`;

  for (const [form, send] of Object.entries(forms)) {
    it(`SPARQL Protocol 2.1.4: several default graphs, several named graphs, and both, by ${form}`, async () => {
      const rows = async (...beside: Parameters) => rowsOf(await send(both, beside));
      const [d, n] = ['default-graph-uri', 'named-graph-uri'];
      expect(await rows([d, one], [d, two]), '[query_dataset_default_graphs_*]').to.deep.equal(['- 1', '- 2']);
      expect(await rows([n, one], [n, two]), '[query_dataset_named_graphs_*]').to.deep.equal(
        [`${one} 1`, `${two} 2`].sort(),
      );
      expect(await rows([d, one], [d, two], [n, two], [n, three]), '[query_dataset_full]').to.deep.equal(
        ['- 1', '- 2', `${two} 2`, `${three} 3`].sort(),
      );
    });

    it(`SPARQL Protocol 2.1.4: the dataset of the request replaces that of the query, by ${form} [query_multiple_dataset]`, async () => {
      const clauses = both.replace('{', `FROM <${one}> FROM NAMED <${two}> {`);
      expect(rowsOf(await send(clauses))).to.deep.equal(['- 1', `${two} 2`].sort());
      expect(rowsOf(await send(clauses, [['default-graph-uri', three]]))).to.deep.equal(['- 3']);
      expect(rowsOf(await send(clauses, [['named-graph-uri', three]]))).to.deep.equal([`${three} 3`]);
    });

    it(`SPARQL Protocol 2.1.4: an empty or relative graph IRI selects no graph, by ${form}`, async () => {
      for (const iri of ['', 'x'])
        for (const name of ['default-graph-uri', 'named-graph-uri'])
          expect(rowsOf(await send(both, [[name, iri]])), `${name}=${iri}`).to.deep.equal([]);
    });

    it(`returns 400 for a language tag with more than eight letters in a part (RFC 5646 2.1), by ${form} (rule 14.5)`, async () => {
      for (const tag of ['abcdefghi', 'en-abcdefghi', 'a-b-abcdefghi'])
        for (const query of [
          `SELECT * { ?s ?p "x"@${tag} }`,
          `SELECT * { BIND("x"@${tag} AS ?x) }`,
          `SELECT * { VALUES ?x { "x"@${tag} } }`,
          `CONSTRUCT { <urn:a> <urn:b> "x"@${tag} } {}`,
        ]) {
          const answer = await send(query);
          expectProblem(answer, 400, s);
          expect(answer.text).to.include('malformed-query').and.to.include(`${tag}\\" is not a language tag.`);
        }
    });

    it(`SPARQL Protocol 2.1: a query is UTF-8, by ${form}`, async () => {
      for (const text of ['é', '食べ物', '😀', 'a+b & c=d %41 #'])
        expect(rowsOf(await send(`SELECT ("${text}" AS ?x) {}`))).to.deep.equal([text]);
    });

    for (const Accept of tableTypes)
      it(`SPARQL Protocol 2.1.6: SELECT and ASK as ${Accept}, by ${form} [query_content_type_select, _ask]`, async () => {
        for (const query of [`SELECT ("here" AS ?x) {}`, 'ASK {}']) {
          const answer = await send(query, [], { Accept });
          expect([answer.status, mediaType(answer)]).to.deep.equal([200, Accept]);
          expect(answer.text).to.match(/here|true/);
        }
      });

    for (const Accept of rdfTypes)
      it(`SPARQL Protocol 2.1.6: CONSTRUCT and DESCRIBE as ${Accept}, by ${form} [query_content_type_construct, _describe]`, async () => {
        for (const query of [`CONSTRUCT WHERE { <${e}s> ?p ?o }`, `DESCRIBE <${e}s>`]) {
          const answer = await send(query, [['default-graph-uri', one]], { Accept });
          expect([answer.status, mediaType(answer)]).to.deep.equal([200, Accept]);
          expect((await graphOf(answer, one)).map(({ object }) => object.value)).to.deep.equal(['1']);
        }
      });

    it(`SPARQL Protocol 2.1: an invalid query is 400, by ${form} [bad_query_syntax]`, async () => {
      for (const query of ['', 'SELECT', 'ASK { ?s ?p', `${select} }`, `${select} ${select}`, 'x', '\u0000'])
        expectProblem(await send(query), 400, s);
    });

    it(`SPARQL Protocol 2.1: unknown parameters are ignored, by ${form}`, async () => {
      const beside: Parameters = [
        ['format', 'text/csv'],
        ['timeout', '1'],
        ['Default-Graph-URI', one],
      ];
      expect(rowsOf(await send(select, beside))).to.deep.equal(['1', '2', '3']);
    });
  }

  it('SPARQL Protocol 2.1.1: a plus sign in the query of GET is a space', async () => {
    const answer = await s.get(`${endpointOf(s)}?query=SELECT+("a%2Bb"+AS+?x)+{}`);
    expect(rowsOf(answer)).to.deep.equal(['a+b']);
  });

  it('SPARQL Protocol 2.1: a media type is case-insensitive and may have charset=UTF-8', async () => {
    for (const [type, body] of [
      ['Application/SPARQL-Query', 'ASK {}'],
      ['application/sparql-query;charset="UTF-8"', 'ASK {}'],
      ['Application/X-WWW-Form-URLencoded', 'query=ASK%20%7B%7D'],
      ['application/x-www-form-urlencoded; charset=utf-8', 'query=ASK%20%7B%7D'],
    ] as const)
      expect(resultsOf(await s.post(endpointOf(s), type, body)).boolean, type).to.equal(true);
  });

  for (const method of ['DELETE', 'PATCH', 'PROPFIND', 'MOVE'])
    it(`SPARQL Protocol 2.1: ${method} is 405 with Allow [bad_query_method]`, async () => {
      const answer = await s.send(method, `${endpointOf(s)}?${encoded([['query', 'ASK {}']])}`);
      expectProblem(answer, 405, s);
      expect(listOf(answer, 'allow')).to.have.members(['get', 'head', 'post', 'query', 'options']);
    });

  it('SPARQL Protocol 2.1: two queries in one place are 400, equal or not [bad_multiple_queries]', async () => {
    for (const second of ['ASK {}', select, '']) {
      const twice = encoded([
        ['query', 'ASK {}'],
        ['default-graph-uri', one],
        ['query', second],
      ]);
      expectProblem(await s.get(`${endpointOf(s)}?${twice}`), 400, s);
      expectProblem(await s.post(endpointOf(s), formType, twice), 400, s);
    }
  });

  for (const type of ['text/plain', 'application/sparql-results+json', 'text/turtle', 'application/sparql-queries'])
    it(`SPARQL Protocol 2.1: ${type} is 415 [bad_query_wrong_media_type]`, async () => {
      for (const body of ['ASK {}', encoded([['query', 'ASK {}']]), ''])
        expectProblem(await s.post(endpointOf(s), type, body), 415, s);
    });

  it('SPARQL Protocol 2.1.2: a form without its Content-Type is 400 [bad_query_missing_form_type]', async () => {
    for (const target of [endpointOf(s), `${endpointOf(s)}?${encoded([['query', 'ASK {}']])}`])
      expectProblem(await s.send('POST', target, {}, encoded([['query', 'ASK {}']])), 400, s);
  });

  it('SPARQL Protocol 2.1.2: the query of a form is read from its body, not from the URL', async () => {
    const target = `${endpointOf(s)}?${encoded([['query', select]])}`;
    expectProblem(await s.post(target, formType, ''), 400, s);
    expectProblem(await s.post(target, formType, encoded([['default-graph-uri', one]])), 400, s);
  });

  it('SPARQL Protocol 2.1.3: a body that is not UTF-8 is 400, with any declared charset [bad_query_non_utf8]', async () => {
    const text = 'SELECT ("é" AS ?x) {}';
    for (const [type, charset, encoding] of [
      [sparqlQuery, '; charset=UTF-16', 'utf16le'],
      [sparqlQuery, '', 'utf16le'],
      [sparqlQuery, '; charset=ISO-8859-1', 'latin1'],
      [sparqlQuery, '; charset=UTF-8', 'latin1'],
    ] as const)
      for (const method of ['POST', 'QUERY']) {
        const headers = { 'Content-Type': `${type}${charset}` };
        expectProblem(await s.send(method, endpointOf(s), headers, Buffer.from(text, encoding)), 400, s);
      }
    const form = Buffer.from(`query=${text.replaceAll(' ', '+')}`, 'latin1');
    expectProblem(await s.post(endpointOf(s), formType, form), 400, s);
  });

  it('SPARQL Protocol 2.2: updates are disabled: 400 with GET, and together with a query', async () => {
    const update: readonly [string, string] = ['update', 'CLEAR ALL'];
    expectProblem(await s.get(`${endpointOf(s)}?${encoded([update])}`), 400, s);
    expectProblem(await s.get(`${endpointOf(s)}?${encoded([['query', 'ASK {}'], update])}`), 400, s);
    expectProblem(await s.post(endpointOf(s), formType, encoded([['query', 'ASK {}'], update])), 400, s);
  });
});
