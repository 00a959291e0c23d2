/** Rule 14.9, SPARQL 1.1 Federated Query: SERVICE only contacts endpoints of allowed hosts. */

import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { exchange, head } from '../support/http.js';
import { ask, askByGet, endpointOf, holds, rows, rowsBothWays, rowsOf, sparqlQuery } from '../support/sparql.js';
import { startSparqlEndpoint } from '../support/sparql-endpoint.js';
import { until } from '../support/until.js';
import { agent, alice, as, inWac, rule, setAcl } from '../support/wac.js';

const e = 'https://e.example/service/';
const first = await startSparqlEndpoint();
const second = await startSparqlEndpoint();
const foreign = await startSparqlEndpoint();
after(() => {
  for (const endpoint of [first, second, foreign]) endpoint.close();
});
const allowed = `${first.authority},${second.authority}`;

const P = `PREFIX e: <${e}> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>\n`;
const books = Array.from(
  { length: 60 },
  (_, i) => `e:b${i} rdfs:label "Book ${i}"@en-GB, "Buch ${i}"@de ; e:pages ${i} .`,
);
first.load(
  `${P.replaceAll('PREFIX', '@prefix').replaceAll('> @', '> . @').trim()} .\n${books.join('\n')}\n_:x e:in e:b1 . e:b2 e:by e:p1 .`,
);
second.load(`@prefix e: <${e}> . e:b1 e:price 10 . e:b2 e:price 20.5 . e:b3 e:price 30 . e:p1 e:name "P. One" .`);

const forget = (): void => [first, second, foreign].forEach((endpoint) => void endpoint.forget());

describeStorage('SPARQL SERVICE where no host is allowed', (s) => {
  it('every SERVICE is 422, without a connection (rule 14.9)', async () => {
    forget();
    for (const service of [`SERVICE <${first.url}>`, 'SERVICE ?x', 'SERVICE SILENT ?x'])
      for (const query of [
        `SELECT * { ${service} { ?s ?p ?o } }`,
        `ASK { OPTIONAL { ${service} { ?s ?p ?o } } }`,
        `CONSTRUCT { ?s ?p ?o } { ?s ?p ?o FILTER NOT EXISTS { ${service} { ?s ?p ?o } } }`,
        `DESCRIBE ?s { ?s <${e}p>* ?o . { SELECT * { ${service} { ?s ?p ?o } } } }`,
      ])
        expectProblem(await ask(s, query), 422, s);
    expect([first.connections, first.asked]).to.deep.equal([0, []]);
  });

  it('returns one empty solution for SERVICE SILENT, without a connection (rule 14.9; Federated Query, 2.3)', async () => {
    forget();
    const silent = `SERVICE SILENT <${first.url}> { ?s ?p ?o }`;
    expect(await rowsBothWays(s, `SELECT * { ${silent} }`)).to.deep.equal(['- - -']);
    expect(await rowsBothWays(s, `SELECT ?x ?o { VALUES ?x { 1 2 } ${silent} }`)).to.deep.equal(['1 -', '2 -']);
    expect(await holds(s, `ASK { ${silent} FILTER(!BOUND(?o)) }`)).to.equal(true);
    expect(await rowsBothWays(s, `SELECT ?x { VALUES ?x { 1 } FILTER EXISTS { ${silent} } }`)).to.deep.equal(['1']);
    expect(await rowsBothWays(s, `SELECT ?o { VALUES ?o { 1 } MINUS { ${silent} } }`)).to.deep.equal(['1']);
    expect([first.connections, first.asked]).to.deep.equal([0, []]);
  });

  it('SPARQL 1.1 Service Description: BasicFederatedQuery is not listed', async () => {
    expect((await askByGet(s, [], { Accept: 'text/turtle' })).text).not.to.include('BasicFederatedQuery');
  });
});

describeStorage(
  'SPARQL SERVICE',
  (s) => {
    before(async () => {
      const own = `${P}
        e:b1 e:owned true ; e:shelf "a" . e:b2 e:owned true ; e:shelf "b" . e:b99 e:owned true .
        e:l1 e:title "Buch 3"@de . e:many e:of ${books.map((_, i) => `e:b${i}`).join(', ')} .`;
      await s.stored('text/turtle', own, `${s.scratch}own`);
      await s.stored('text/turtle', `<${e}h> <${e}secret> "s3cret" .`, `${s.scratch}hidden`);
      await setAcl(s, `${s.scratch}own`, rule('Read', agent(alice)));
    });
    beforeEach(forget);

    const first_ = `SERVICE <${first.url}>`;
    const second_ = `SERVICE <${second.url}>`;
    for (const [what, query, expected] of [
      ['alone', `SELECT ?l { ${first_} { e:b1 rdfs:label ?l FILTER(LANG(?l) = "de") } }`, ['Buch 1']],
      [
        'joined',
        `SELECT ?l { ?b e:owned true . ${first_} { ?b rdfs:label ?l FILTER LANGMATCHES(LANG(?l), "de") } }`,
        ['Buch 1', 'Buch 2'],
      ],
      [
        'written first',
        `SELECT ?l { ${first_} { ?b rdfs:label ?l } ?b e:shelf "a" FILTER(LANG(?l) = "de") }`,
        ['Buch 1'],
      ],
      [
        'joined by a literal with a language',
        `SELECT ?b { ?t e:title ?l . ${first_} { ?b rdfs:label ?l } }`,
        [`${e}b3`],
      ],
      [
        'with more rows than go along',
        `SELECT (COUNT(*) AS ?n) (SUM(?p) AS ?m) { e:many e:of ?b . ${first_} { ?b e:pages ?p } }`,
        ['60 1770'],
      ],
      [
        'with more rows than go along, and few answers',
        `SELECT ?b { e:many e:of ?b . ${first_} { ?b e:by ?p } }`,
        [`${e}b2`],
      ],
      [
        'in OPTIONAL',
        `SELECT ?b ?s ?l { ?b e:owned true OPTIONAL { ?b e:shelf ?s } OPTIONAL { ${first_} { ?b rdfs:label ?l FILTER(LANG(?l) = "de") } } }`,
        [`${e}b1 a Buch 1`, `${e}b2 b Buch 2`, `${e}b99 - -`],
      ],
      [
        'in OPTIONAL with a condition',
        `SELECT ?b ?p { ?b e:owned true OPTIONAL { ${first_} { ?b e:pages ?p } FILTER(?p > 1) } }`,
        [`${e}b1 -`, `${e}b2 2`, `${e}b99 -`],
      ],
      [
        'in OPTIONAL with more',
        `SELECT ?b ?p { ?b e:owned true OPTIONAL { ?b e:shelf ?s . ${first_} { ?b e:pages ?p } } }`,
        [`${e}b1 1`, `${e}b2 2`, `${e}b99 -`],
      ],
      [
        'in OPTIONAL of many rows',
        `SELECT (COUNT(?by) AS ?n) (COUNT(*) AS ?m) { e:many e:of ?b OPTIONAL { ${first_} { ?b e:by ?by } } }`,
        ['1 60'],
      ],
      [
        'with an OPTIONAL before it',
        `SELECT ?b ?p { ?b e:owned true OPTIONAL { ?b e:pages ?p } ${first_} { ?b e:pages ?p } }`,
        [`${e}b1 1`, `${e}b2 2`],
      ],
      [
        'in UNION',
        `SELECT ?x { { ?b e:shelf ?x } UNION { ${first_} { e:b1 e:pages ?x } } UNION { ?b e:owned true . ${second_} { ?b e:price ?x } } }`,
        ['1', '10', '20.5', 'a', 'b'],
      ],
      [
        'with a UNION beside it',
        `SELECT ?x { ?b e:owned true . { ${first_} { ?b e:pages ?x } } UNION { ${second_} { ?b e:price ?x } } }`,
        ['1', '10', '2', '20.5'],
      ],
      ['in MINUS', `SELECT ?b { ?b e:owned true MINUS { ${first_} { ?b e:pages ?p } } }`, [`${e}b99`]],
      [
        'in MINUS with more',
        `SELECT ?b { ?b e:owned true MINUS { ?b e:shelf "a" . ${first_} { ?b e:pages ?p } } }`,
        [`${e}b2`, `${e}b99`],
      ],
      [
        'in a subquery',
        `SELECT ?b ?n { ?b e:shelf ?s { SELECT ?b (COUNT(*) AS ?n) { ${first_} { ?b ?p ?o } } GROUP BY ?b } }`,
        [`${e}b1 3`, `${e}b2 4`],
      ],
      [
        'in a subquery that projects',
        `SELECT * { ?b e:shelf ?o { SELECT ?b { ${first_} { ?b e:pages ?o } } } }`,
        [`${e}b1 a`, `${e}b2 b`],
      ],
      ['with a subquery in it', `SELECT ?m { ${first_} { SELECT (MAX(?p) AS ?m) { ?b e:pages ?p } } }`, ['59']],
      [
        'with a filter on both',
        `SELECT ?b { ?b e:shelf ?s . ${first_} { ?b e:pages ?p } FILTER(?s = "b" && ?p > 1) }`,
        [`${e}b2`],
      ],
      [
        'with BIND and VALUES',
        `SELECT ?y { VALUES ?b { e:b1 UNDEF e:b7 } ${first_} { ?b e:pages ?p } BIND(?p * 2 AS ?y) FILTER(?y IN (2, 14)) }`,
        ['14', '14', '2', '2'],
      ],
      [
        'with VALUES at the end',
        `SELECT ?b ?p { ${first_} { ?b e:pages ?p } } VALUES ?b { e:b5 e:b6 }`,
        [`${e}b5 5`, `${e}b6 6`],
      ],
      [
        'with paths and more in it',
        `SELECT ?n { ${first_} { e:b2 (e:by|e:none)* ?x OPTIONAL { ?x e:none ?y } MINUS { ?x e:pages 2 } } ${second_} { ?x e:name ?n } }`,
        ['P. One'],
      ],
      [
        'twice',
        `SELECT ?l ?p { ?b e:shelf "b" . ${first_} { ?b rdfs:label ?l FILTER(LANG(?l) = "de") } ${second_} { ?b e:price ?p } }`,
        ['Buch 2 20.5'],
      ],
      [
        'with ORDER, LIMIT and DISTINCT',
        `SELECT DISTINCT ?p { ${first_} { ?b e:pages ?p } } ORDER BY DESC(?p) LIMIT 2`,
        ['58', '59'],
      ],
      [
        'with a blank node in the pattern',
        `SELECT ?p { ${first_} { _:a rdfs:label "Buch 4"@de ; e:pages ?p } }`,
        ['4'],
      ],
      ['that binds nothing', `SELECT ?s { ?b e:shelf ?s . ${first_} { e:b1 e:pages 1 } }`, ['a', 'b']],
      ['that finds nothing', `SELECT ?s { ?b e:shelf ?s . ${first_} { e:b1 e:pages 2 } }`, []],
      [
        'with a nested one',
        `SELECT ?b { SERVICE SILENT <${first.text('/nested', '{"head":{},"results":{"bindings":[{"b":{"type":"literal","value":"n"}}]}}')}> { ${second_} { ?b ?p ?o } } }`,
        ['n'],
      ],
      [
        'of a prefixed name',
        `PREFIX f: <http://${first.authority}/> SELECT ?p { SERVICE f:sparql { e:b5 e:pages ?p } }`,
        ['5'],
      ],
    ] as const)
      it(`SPARQL 1.1 Federated Query 2, rule 14.9: ${what}`, async () => {
        expect(await rows(s, P + query, as(s, alice))).to.deep.equal(expected);
      });

    it('SPARQL 1.1 Federated Query 2: in ASK and CONSTRUCT', async () => {
      expect(await holds(s, `${P}ASK { ?b e:shelf ?s . ${first_} { ?b e:pages 1 } }`)).to.equal(true);
      expect(await holds(s, `${P}ASK { ?b e:shelf ?s . ${first_} { ?b e:pages 3 } }`)).to.equal(false);
      const query = `${P}CONSTRUCT { ?b e:has ?p . ?p e:no 1 . _:n e:of ?b, ?none } { ?b e:shelf ?s . ${first_} { ?b e:pages ?p } } ORDER BY ?p LIMIT 2`;
      const { status, text } = await ask(s, query, { Accept: 'application/n-triples' });
      expect(status, text).to.equal(200);
      const lines = text
        .trim()
        .split('\n')
        .map((line) => line.replace(/_:\S+/, '_:n'))
        .sort();
      const one = '"1"^^<http://www.w3.org/2001/XMLSchema#integer>';
      expect(lines).to.deep.equal([
        `<${e}b1> <${e}has> ${one} .`,
        `<${e}b2> <${e}has> ${one.replace('1', '2')} .`,
        `_:n <${e}of> <${e}b1> .`,
        `_:n <${e}of> <${e}b2> .`,
      ]);
      expect(new Set(text.match(/_:\S+/g))).to.have.property('size', 2);
    });

    it('SPARQL 1.1 Federated Query 4: few rows are sent as VALUES, many are not, and each clause is sent once', async () => {
      await rows(s, `${P}SELECT * { ?b e:shelf ?s FILTER(?s = "a") ${first_} { ?b e:pages ?p } }`);
      await rows(s, `${P}SELECT * { e:many e:of ?b OPTIONAL { ${first_} { ?b e:pages ?p } } }`);
      await rows(s, `${P}SELECT * { ?b e:no ?s . ${first_} { ?b e:pages ?p } }`);
      expect(first.asked).to.have.length(2);
      expect(first.asked[0]!.query).to.match(new RegExp(`VALUES \\(\\?b\\) \\{ \\(<${e}b1>\\) \\}$`));
      expect(first.asked[1]!.query).not.to.include('VALUES');
    });

    it('sends no data of the client, and requests JSON (rule 14.9)', async () => {
      const headers = { Cookie: 'a=b', 'X-Secret': 's', Origin: 'https://app.example' };
      const answer = await ask(s, `SELECT * { ${first_} { ?s ?p 7 } }`, headers, as(s, alice));
      expect(rowsOf(answer)).to.have.length(1);
      expect(first.asked.map(({ method }) => method)).to.deep.equal(['POST']);
      expect(Object.keys(first.asked[0]!.headers).sort()).to.deep.equal([
        'accept',
        'accept-encoding',
        'connection',
        'content-length',
        'content-type',
        'host',
        'user-agent',
      ]);
      expect(first.asked[0]!.headers).to.include({
        accept: 'application/sparql-results+json',
        'content-type': 'application/x-www-form-urlencoded',
      });
      expect(first.asked[0]!.query).not.to.include(new URL(s.root).host);
    });

    it('SPARQL 1.1 Query 4.1.1: relative references resolve against the base of the query', async () => {
      await rows(s, `BASE <${e}> SELECT * { ${first_} { <b1> <pages> ?p } }`);
      await rows(s, `SELECT * { ${first_} { <#x> ?q ?p } }`);
      expect(first.asked[0]!.query).to.match(new RegExp(`^BASE <${e}>\nSELECT`));
      expect(first.asked[1]!.query).to.match(new RegExp(`^BASE <${endpointOf(s)}>\nSELECT`));
    });

    const at = (url: string): string => `SERVICE <${url}> { ?s ?p ?o }`;
    for (const [what, service] of [
      ['another host', at(foreign.url)],
      ['the host by another name', at(first.url.replace('127.0.0.1', 'localhost'))],
      ['another port', at('http://127.0.0.1:1/sparql')],
      ['a name with the host in it', at(`http://${first.authority}.e.example/`)],
      ['user information', at(first.url.replace('//', '//user:password@'))],
      ['user information that looks like the host', at(`http://${first.authority}@${foreign.authority}/`)],
      ['another scheme', at('file:///etc/passwd')],
      ['no hierarchical URL', at('urn:x:y')],
      ['a relative reference', at('sparql')],
      ['a variable', 'SERVICE ?x { ?s ?p ?o }'],
      ['a variable that has a value', `VALUES ?x { <${first.url}> } SERVICE SILENT ?x { ?s ?p ?o }`],
      ['a nested one that is not allowed', `${first_} { ${at(foreign.url)} }`],
      ['a nested one with a variable', `${first_} { ?s ?p ?o OPTIONAL { SERVICE SILENT ?s { ?s ?p ?o } } }`],
      ['one of two that is not allowed', `${first_} { ?s ?p ?o } OPTIONAL { ${at(foreign.url)} }`],
      ['one in EXISTS of FILTER of SERVICE', `${first_} { ?s ?p ?o FILTER EXISTS { ${at(foreign.url)} } }`],
      ['more than eight', Array.from({ length: 9 }, () => `${first_} { ?s ?p 1 }`).join(' ')],
    ] as const)
      it(`422 before a connection is opened: ${what} (rule 14.9)`, async () => {
        expectProblem(await ask(s, `SELECT * { ${service} }`), 422, s);
        expect([first, second, foreign].map(({ connections }) => connections)).to.deep.equal([0, 0, 0]);
      });

    const silently = (url: string): string => at(url).replace('SERVICE', 'SERVICE SILENT');
    for (const [what, url] of [
      ['another host', foreign.url],
      ['another port', 'http://127.0.0.1:1/sparql'],
      ['user information', first.url.replace('//', '//user:password@')],
      ['another scheme', 'file:///etc/passwd'],
    ] as const)
      it(`returns one empty solution for SERVICE SILENT, without a connection: ${what} (rule 14.9)`, async () => {
        expect(await rowsBothWays(s, `SELECT * { ${silently(url)} }`)).to.deep.equal(['- - -']);
        expect(await rows(s, `${P} SELECT ?x ?o { ?x e:shelf "a" OPTIONAL { ${silently(url)} } }`)).to.deep.equal([
          `${e}b1 -`,
        ]);
        expect([first, second, foreign].map(({ connections }) => connections)).to.deep.equal([0, 0, 0]);
      });

    it('sends no SERVICE SILENT of another host to an allowed one (rule 14.9)', async () => {
      const found = await rows(s, `${P} SELECT ?n ?o { ${first_} { e:b7 e:pages ?n ${silently(foreign.url)} } }`);
      expect(found).to.deep.equal(['7 -']);
      expect(first.asked.map(({ query }) => query.includes(foreign.authority))).to.deep.equal([false]);
      expect(foreign.connections).to.equal(0);
    });

    for (const [what, query] of [
      ['EXISTS', `SELECT * { ?s ?p ?o FILTER EXISTS { ${at(first.url)} } }`],
      ['NOT EXISTS in an expression', `SELECT * { ?s ?p ?o FILTER(1 = 2 || NOT EXISTS { ${at(first.url)} }) }`],
      ['EXISTS in BIND', `SELECT * { ?s ?p ?o BIND(EXISTS { ${at(first.url)} } AS ?x) }`],
    ] as const)
      it(`with a feature that only Comunica supports it is 422, and no socket is opened: ${what} (rule 14.9)`, async () => {
        expectProblem(await ask(s, P + query), 422, s);
        expect([first.connections, first.asked]).to.deep.equal([0, []]);
      });

    for (const [what, query] of [
      ['a path', `SELECT * { ?a e:p* ?b . ${at(first.url)} }`],
      ['a path in ASK', `ASK { ?a e:p* ?b . ${at(first.url)} }`],
      ['DESCRIBE', `DESCRIBE ?s { ${at(first.url)} }`],
    ] as const)
      it(`it can be combined with ${what} (rule 14.9)`, async () => {
        expect((await ask(s, P + query)).status).to.equal(200);
        expect(first.asked).to.have.length(1);
      });

    it('a response that names unreadable graphs does not make them readable (rules 2.1, 14.9)', async () => {
      const graphs = ['hidden', 'hidden.acl', 'hidden.meta', 'absent', 'own'].map((name) => s.scratch + name);
      const url = first.rows(
        '/graphs',
        graphs.map((value) => ({ g: { type: 'uri', value } })),
      );
      const query = `SELECT DISTINCT ?g ?x { SERVICE <${url}> { ?g ?p ?o } OPTIONAL { GRAPH ?g { ?s e:secret|e:title ?x } } }`;
      expect(await rows(s, P + query, as(s, alice))).to.deep.equal(
        graphs.map((graph) => (graph.endsWith('own') ? `${graph} Buch 3` : `${graph} -`)).sort(),
      );
      const join = `SELECT ?x { SERVICE <${url}> { ?g ?p ?o } GRAPH ?g { ?s e:secret ?x } }`;
      expect(await rows(s, P + join, as(s, alice))).to.deep.equal([]);
      expect(await rows(s, P + join)).to.deep.equal(['s3cret']);
    });

    it('only readable data is sent (rules 2.1, 14.9)', async () => {
      await rows(s, `${P}SELECT * { ?x e:secret ?v . ${first_} { ?s ?p ?v } }`, as(s, alice));
      await rows(s, `${P}SELECT * { ?x e:secret ?v . ${first_} { ?s ?p ?v } }`);
      expect(first.asked.map(({ query }) => query.includes('s3cret'))).to.deep.equal([true]);
    });

    it('on a resource it is joined with that resource (rule 14.8)', async () => {
      const query = `${P}SELECT ?s { ?b e:shelf ?s . ${first_} { ?b e:pages 1 } }`;
      expect(await rows(s, query, undefined, `${s.scratch}own`)).to.deep.equal(['a']);
      expect(await rows(s, query, undefined, `${s.scratch}hidden`)).to.deep.equal([]);
    });

    it('a client that disconnects ends its remote requests (rule 14.7)', async () => {
      const query = `SELECT * { SERVICE <${first.answer('/never', () => {})}> { ?s ?p ?o } }`;
      const fields = { Authorization: `Bearer ${s.token}`, 'Content-Type': sparqlQuery };
      const request = head(endpointOf(s), 'QUERY', { ...fields, 'Content-Length': String(query.length) });
      await exchange(endpointOf(s), [request + query, 500, 'abort'], 1000);
      expect(first.asked).to.have.length(1);
      await until(() => first.aborted > 0);
      expect(first.aborted).to.equal(1);
    });

    it('SPARQL 1.1 Service Description: BasicFederatedQuery is listed', async () => {
      expect((await askByGet(s, [], { Accept: 'text/turtle' })).text).to.include('BasicFederatedQuery');
    });
  },
  inWac({ 'sparql.endpoint.allowed-services': allowed }),
);
