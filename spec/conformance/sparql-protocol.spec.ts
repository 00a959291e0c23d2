/** Rule 14.1, SPARQL 1.1 Protocol: request forms and errors of the endpoint. */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectProblem, linked, listOf } from '../support/expectations.js';
import { graphOf, mediaType } from '../support/rdf.js';
import { ask, askByGet, encoded, endpointOf, formType, resultsOf, rowsOf, sparqlQuery } from '../support/sparql.js';

const e = 'https://e.example/protocol/';
const sd = 'http://www.w3.org/ns/sparql-service-description#';

describeStorage('SPARQL protocol', (s) => {
  const select = `SELECT ?o { <${e}s> <${e}p> ?o }`;
  let [one, two] = ['', ''];
  before(async () => {
    one = (await s.stored('text/turtle', `<${e}s> <${e}p> 1 .`)).iri;
    two = (await s.stored('text/turtle', `<${e}s> <${e}p> 2 .`)).iri;
  });
  const post = (type: string, body: string, query = '', headers = {}) =>
    s.send('POST', endpointOf(s) + query, { 'Content-Type': type, ...headers }, body);

  for (const [what, send] of [
    ['QUERY', () => ask(s, select)],
    ['QUERY with a charset', () => ask(s, select, { 'Content-Type': `${sparqlQuery}; charset=utf-8` })],
    ['GET', () => askByGet(s, [['query', select]])],
    ['POST directly', () => post(sparqlQuery, select)],
    ['POST of a form', () => post(formType, encoded([['query', select]]))],
    ['POST of a form with plus signs', () => post(formType, encoded([['query', select]]).replaceAll('%20', '+'))],
  ] as const)
    it(`Request forms, rule 14.5: ${what}`, async () => {
      const answer = await send();
      expect(rowsOf(answer)).to.deep.equal(['1', '2']);
      expect(listOf(answer, 'cache-control')).to.have.members(['private', 'no-store']);
      expect(listOf(answer, 'vary')).to.include.members(['accept', 'authorization']);
      expect(linked(answer, 'https://www.w3.org/ns/lws#storage')).to.deep.equal([s.root]);
    });

  for (const [what, send] of [
    ['QUERY', (p: string) => s.send('QUERY', `${endpointOf(s)}?${p}`, { 'Content-Type': sparqlQuery }, select)],
    ['GET', (p: string) => s.get(`${endpointOf(s)}?${encoded([['query', select]])}&${p}`)],
    ['POST directly', (p: string) => post(sparqlQuery, select, `?${p}`)],
    ['POST of a form', (p: string) => post(formType, `${encoded([['query', select]])}&${p}`)],
  ] as const)
    it(`SPARQL Protocol 2.1.4: default-graph-uri and named-graph-uri by ${what}`, async () => {
      const of = (name: string, ...iris: string[]) => send(encoded(iris.map((iri) => [name, iri] as const)));
      expect(rowsOf(await of('default-graph-uri', one))).to.deep.equal(['1']);
      expect(rowsOf(await of('default-graph-uri', one, two))).to.deep.equal(['1', '2']);
      expect(rowsOf(await of('default-graph-uri', `${e}unknown`))).to.deep.equal([]);
      expect(rowsOf(await of('named-graph-uri', one))).to.deep.equal([]);
    });

  it('SPARQL Protocol 2.1.4: the dataset of the request wins over that of the query', async () => {
    const query = `SELECT ?o FROM <${one}> { <${e}s> <${e}p> ?o }`;
    expect(rowsOf(await ask(s, query))).to.deep.equal(['1']);
    expect(
      rowsOf(
        await askByGet(s, [
          ['query', query],
          ['default-graph-uri', two],
        ]),
      ),
    ).to.deep.equal(['2']);
    const named = `SELECT ?o FROM NAMED <${one}> { GRAPH ?g { <${e}s> <${e}p> ?o } }`;
    expect(
      rowsOf(
        await askByGet(s, [
          ['query', named],
          ['named-graph-uri', two],
        ]),
      ),
    ).to.deep.equal(['2']);
  });

  it('SPARQL Protocol: relative IRIs resolve against the endpoint or BASE', async () => {
    const query = 'SELECT ?x ?y { BIND(<x> AS ?x) BIND(<> AS ?y) }';
    expect(rowsOf(await ask(s, query))).to.deep.equal([`${s.root}.lws/x ${endpointOf(s)}`]);
    expect(rowsOf(await ask(s, `BASE <${e}> ${query}`))).to.deep.equal([`${e}x ${e}`]);
  });

  it('SPARQL Protocol 2.1: a repeated or a missing query is 400', async () => {
    const twice = encoded([
      ['query', select],
      ['query', select],
    ]);
    expectProblem(await s.get(`${endpointOf(s)}?${twice}`), 400, s);
    expectProblem(await post(formType, twice), 400, s);
    for (const body of ['', 'x=y', encoded([['default-graph-uri', one]])])
      expectProblem(await post(formType, body), 400, s);
    for (const body of ['query=', ''] as const) expectProblem(await post(body ? formType : sparqlQuery, body), 400, s);
    expectProblem(await ask(s, ''), 400, s);
  });

  for (const update of [
    'INSERT DATA { <a> <b> <c> }',
    'DELETE WHERE { ?s ?p ?o }',
    'LOAD <https://e.example/>',
    'CLEAR ALL',
    'DROP ALL',
    'INSERT { <a> <b> <c> } WHERE {}',
  ])
    it(`an update sent as query is 400 and changes nothing: ${update} (rule 14.5)`, async () => {
      expectProblem(await ask(s, update), 400, s);
      expectProblem(await askByGet(s, [['query', update]]), 400, s);
      expectProblem(await post(formType, encoded([['query', update]])), 400, s);
      expectProblem(await post(formType, encoded([['update', update]])), 400, s);
      expect(rowsOf(await ask(s, select))).to.deep.equal(['1', '2']);
    });

  it('a missing Content-Type is 400 (rule 14.5)', async () => {
    for (const method of ['QUERY', 'POST']) expectProblem(await s.send(method, endpointOf(s), {}, select), 400, s);
  });

  for (const type of [
    'application/sparql-update',
    'text/plain',
    'application/json',
    'application/lws-query+json',
    'multipart/form-data; boundary=x',
  ])
    it(`${type} is 415 with Accept-Query (rule 14.5)`, async () => {
      for (const method of ['QUERY', 'POST']) {
        const answer = await s.send(method, endpointOf(s), { 'Content-Type': type }, select);
        expectProblem(answer, 415, s);
        expect(listOf(answer, 'accept-query')).to.include(sparqlQuery);
      }
    });

  it('a form requires POST: QUERY with one is 415 (rule 14.5)', async () => {
    expectProblem(await ask(s, encoded([['query', select]]), { 'Content-Type': formType }), 415, s);
  });

  for (const [query, line, column] of [
    ['SELECT ?o { ?s ?p ?o ', 1, undefined],
    ['SELECT ?o\n{ ?s ?p ?o }\nORDER NONSENSE', 3, undefined],
    ['ASK {\n  ?s ?p ~ }', 2, 9],
    ['SELECT * { ?s e:p ?o }', undefined, undefined],
    ['SELECT (COUNT(*) AS ?n) ?x { ?s ?p ?x }', undefined, undefined],
    ['SELECT (1 AS ?x) { BIND(2 AS ?x) }', undefined, undefined],
  ] as const)
    it(`a syntax error is 400: ${JSON.stringify(query)} (rule 14.5)`, async () => {
      const answer = await ask(s, query);
      expectProblem(answer, 400, s);
      const { detail } = JSON.parse(answer.text) as { detail: string };
      if (line !== undefined) expect(detail).to.match(new RegExp(`line ${line}\\b.*column ${column ?? '\\d+'}`, 'i'));
    });

  it('SERVICE is 422 at any position (rule 14.9)', async () => {
    for (const service of ['SERVICE <https://e.example/>', 'SERVICE SILENT ?g', 'SERVICE ?g'])
      for (const pattern of [
        `${service} { ?s ?p ?o }`,
        `OPTIONAL { ${service} { ?s ?p ?o } }`,
        `?s ?p ?o FILTER NOT EXISTS { ${service} { ?s ?p ?o } }`,
        `{ SELECT * { ${service} { ?s ?p ?o } } }`,
      ])
        expectProblem(await ask(s, `SELECT * { ${pattern} }`), 422, s);
  });

  it('a query above max-query-bytes is 413, one of exactly that length succeeds (rule 14.5)', async () => {
    const query = `${select} #`.padEnd(65_536, 'x');
    expect((await ask(s, query)).status).to.equal(200);
    expect((await post(formType, encoded([['query', query]]))).status).to.equal(200);
    expectProblem(await ask(s, `${query}x`), 413, s);
    expectProblem(await post(sparqlQuery, `${query}x`), 413, s);
    expectProblem(await post(formType, encoded([['query', `${query}x`]])), 413, s);
  });

  it('an unsupported Accept is 406 (rule 14.5)', async () => {
    for (const [query, Accept] of [
      [select, 'text/turtle'],
      [select, 'image/png'],
      ['ASK {}', 'application/trig'],
      ['CONSTRUCT WHERE { ?s ?p ?o }', 'text/csv'],
      ['DESCRIBE <x>', 'application/sparql-results+json'],
    ] as const)
      expectProblem(await ask(s, query, { Accept }), 406, s);
  });

  it('GET and POST with an unsupported Accept return the default format (rule 7.1)', async () => {
    for (const [query, Accept, wanted] of [
      [select, 'image/png', 'application/sparql-results+json'],
      [select, 'text/turtle', 'application/sparql-results+json'],
      ['CONSTRUCT WHERE { ?s ?p ?o }', 'text/csv', 'text/turtle'],
    ] as const) {
      const asked = await s.get(`${endpointOf(s)}?query=${encodeURIComponent(query)}`, { Accept });
      expect([asked.status, mediaType(asked)]).to.deep.equal([200, wanted]);
      const posted = await s.post(endpointOf(s), sparqlQuery, query, { Accept });
      expect([posted.status, mediaType(posted)]).to.deep.equal([200, wanted]);
    }
  });

  it('OPTIONS names the methods and Accept-Query (rule 14.8)', async () => {
    const answer = await s.options(endpointOf(s));
    expect(answer.status).to.equal(204);
    expect(listOf(answer, 'allow')).to.have.members(['get', 'head', 'post', 'query', 'options']);
    expect(listOf(answer, 'accept-query')).to.deep.equal([sparqlQuery]);
  });

  it('other methods are rejected: 405, or 409 for a reserved name (rule 14.5)', async () => {
    for (const method of ['PUT', 'DELETE', 'PATCH']) {
      const answer = await s.send(method, endpointOf(s), { 'Content-Type': 'text/turtle' }, '');
      expectProblem(answer, [405, 409], s);
    }
  });

  it('HEAD is GET without a body (rule 14.1)', async () => {
    for (const query of ['', `?${encoded([['query', select]])}`]) {
      const [got, head] = [await s.get(endpointOf(s) + query), await s.head(endpointOf(s) + query)];
      expect([head.status, head.text]).to.deep.equal([200, '']);
      for (const name of ['content-type', 'cache-control', 'vary'])
        expect(head.headers[name]).to.equal(got.headers[name]);
    }
    expect((await s.head(`${endpointOf(s)}?query=SELECT`)).status).to.equal(400);
  });

  for (const type of ['text/turtle', 'application/ld+json', 'application/n-triples'])
    it(`GET without a query returns a service description, as ${type} (rule 14.3)`, async () => {
      const answer = await s.get(endpointOf(s), { Accept: type });
      expect(answer.status, answer.text).to.equal(200);
      expect(mediaType(answer)).to.equal(type);
      const quads = (await graphOf(answer, endpointOf(s))).map((q) => `${q.predicate.value} ${q.object.value}`);
      expect(quads).to.include(`${sd}endpoint ${endpointOf(s)}`);
      expect(quads).to.include(`${sd}feature ${sd}UnionDefaultGraph`);
      expect(quads).to.include(`${sd}supportedLanguage ${sd}SPARQL11Query`);
      expect(listOf(answer, 'vary')).to.include('accept');
    });

  it('rejects a GET with parameters but without a query (rule 14.1)', async () => {
    for (const parameters of ['qery=ASK%20%7B%7D', 'timeout=5', 'default-graph-uri=https%3A%2F%2Fe.example%2F']) {
      const answer = await s.get(`${endpointOf(s)}?${parameters}`);
      expect(answer.status, parameters).to.equal(400);
      expect(JSON.parse(answer.text).detail).to.include('The parameter query is missing.');
    }
  });

  it('the storage description lists two services with this endpoint (rule 12.4)', async () => {
    const { service } = JSON.parse(
      (await s.get(`${s.root}.lws/storage-description`, { Accept: 'application/lws+cid' })).text,
    );
    const types = (service as { type: string; serviceEndpoint: string }[])
      .filter(({ serviceEndpoint }) => serviceEndpoint === endpointOf(s))
      .map(({ type }) => type);
    expect(types).to.have.members(['SparqlQueryService', `${sd}Service`]);
  });

  it('SPARQL Protocol 2.1: a query of any form with an empty result is 200', async () => {
    expect(resultsOf(await ask(s, `SELECT * { <${e}x> ?p ?o }`)).results!.bindings).to.deep.equal([]);
    expect(resultsOf(await ask(s, `ASK { <${e}x> ?p ?o }`)).boolean).to.equal(false);
  });
});

describeStorage(
  'SPARQL protocol, disabled',
  (s) => {
    it('it is neither routed nor advertised (rule 12.5)', async () => {
      for (const answer of [await s.get(endpointOf(s)), await ask(s, 'ASK {}')]) expectProblem(answer, 404, s);
      expect((await s.get(`${s.root}.lws/storage-description`, { Accept: 'application/lws+cid' })).text).not.to.match(
        /sparql-service|SparqlQuery/,
      );
      expect(listOf(await s.options(s.root), 'allow')).not.to.include('query');
    });
  },
  { settings: { 'sparql.endpoint.enabled': 'false', 'dev.open': 'true' } },
);
