/** Rule 14.12: stored queries: `GET <it>?run`, with values for variables and with the permissions of the caller. */
import { expect } from 'chai';
import { describeStorage, type Sender, type StorageUnderTest } from '../support/conformance.js';
import type { Answer } from '../support/http.js';
import { encoded, resultsOf, rowsOf, sparqlQuery } from '../support/sparql.js';
import { agent, alice, anybody, as, bob, inWac, rule, setAcl } from '../support/wac.js';

const people = (base: string): string => `
  @prefix ex: <https://example.org/> . @base <${base}> .
  <#ada> ex:name "Ada" ; ex:age 36 ; ex:knows <#bob> .
  <#bob> ex:name "Bob"@en ; ex:age 20 .
  <#odd> ex:name "} ; DROP ALL # \\" \\\\" .`;

type Parameters = readonly (readonly [string, string])[];
const run = (s: StorageUnderTest, iri: string, parameters: Parameters = [], by?: Sender): Promise<Answer> =>
  s.send('GET', `${iri}?run${parameters.length > 0 ? `&${encoded(parameters)}` : ''}`, {}, undefined, by);

describeStorage(
  'Stored queries',
  (s) => {
    let data: string;
    before(async () => {
      data = s.fresh();
      await s.stored('text/turtle', people(data), data);
    });
    const stored = async (text: string): Promise<string> =>
      (await s.stored(sparqlQuery, `PREFIX ex: <https://example.org/> ${text}`)).iri;
    const wants = async (text: string, parameters: Parameters, rows: readonly string[]): Promise<void> => {
      const answer = await run(s, await stored(text), parameters);
      expect(rowsOf(answer), `${text} with ${JSON.stringify(parameters)}`).to.deep.equal([...rows].sort());
    };
    const refusals = async (text: string, parameters: Parameters, said: string): Promise<void> => {
      const answer = await run(s, await stored(text), parameters);
      expect([answer.status, answer.text.includes(said)], answer.text).to.deep.equal([400, true]);
    };

    it('runs in the formats of the endpoint, and is still readable as stored', async () => {
      const iri = await stored('SELECT ?name { ?s ex:name ?name . FILTER(?name = "Ada") }');
      const answer = await run(s, iri);
      expect(rowsOf(answer)).to.deep.equal(['Ada']);
      expect(answer.headers['cache-control']).to.contain('no-store');
      const csv = await s.get(`${iri}?run`, { Accept: 'text/csv' });
      expect(csv.text).to.equal('name\r\nAda\r\n');
      expect((await s.get(iri)).text).to.contain('SELECT ?name');
      const head = await s.head(`${iri}?run`);
      expect([head.status, head.text]).to.deep.equal([200, '']);
      const graph = await s.get(`${await stored('CONSTRUCT { ?s ex:is ?name } { ?s ex:name ?name }')}?run`);
      expect(graph.headers['content-type']).to.contain('text/turtle');
      expect((await s.send('POST', `${iri}?run`, {}, '')).status).to.equal(400);
      expect((await s.delete(`${iri}?run`)).status).to.equal(400);
    });

    it('runs with text and prefixes of one state while it is replaced', async () => {
      const iri = s.fresh();
      const version = (name: string): string => `@prefix sh: <http://www.w3.org/ns/shacl#> .
        <> sh:select "SELECT (ex:${name} AS ?x) {}" ; sh:prefixes <#p> .
        <#p> sh:declare [ sh:prefix "ex" ; sh:namespace "https://${name}.example/" ] .`;
      await s.stored('text/turtle', version('a'), iri);
      let isDone = false;
      const replacing = (async () => {
        for (let count = 0; !isDone; count++)
          await s.put(iri, 'text/turtle', version(count % 2 === 0 ? 'b' : 'a'), { 'If-Match': '*' });
      })();
      try {
        for (let count = 0; count < 150; count++)
          expect(rowsOf(await run(s, iri))[0]).to.be.oneOf(['https://a.example/a', 'https://b.example/b']);
      } finally {
        isDone = true;
        await replacing;
      }
    });

    it('accepts values of variables by name: IRIs, literals and plain texts', async () => {
      const byName = 'SELECT ?age ?name { ?s ex:name ?name ; ex:age ?age }';
      await wants(byName, [['name', 'Ada']], ['36 Ada']);
      await wants(byName, [['name', '"Bob"@en']], ['20 Bob']);
      await wants(byName, [['name', 'Bob']], []);
      await wants('SELECT ?name { ?s ex:name ?name }', [['s', `<${data}#ada>`]], ['Ada']);
      const integer = '"30"^^<http://www.w3.org/2001/XMLSchema#integer>';
      await wants(
        'SELECT ?name { ?s ex:name ?name ; ex:age ?age . FILTER(?age > ?least) }',
        [['least', integer]],
        ['Ada'],
      );
      await wants(
        'SELECT ?name { ?s ?p ?name }',
        [
          ['s', `<${data}#ada>`],
          ['p', '<https://example.org/name>'],
        ],
        ['Ada'],
      );
      await wants(
        'SELECT ?n { GRAPH ?g { ?s ex:name ?n } FILTER(?n = ?m) }',
        [
          ['g', `<${data}>`],
          ['m', 'Ada'],
        ],
        ['Ada'],
      );
    });

    it('applies them in every part of a query: subqueries, OPTIONAL, EXISTS, BOUND, groups and orders', async () => {
      const ada: Parameters = [['x', `<${data}#ada>`]];
      await wants('SELECT ?n { { SELECT ?n ?x { ?x ex:name ?n } } }', ada, ['Ada']);
      await wants('SELECT ?n { ?s ex:name ?n FILTER EXISTS { ?x ex:knows ?s } }', ada, ['Bob']);
      await wants('SELECT ?n ?k { ?x ex:name ?n OPTIONAL { ?x ex:knows ?k . ?k ex:name ?m } }', ada, [
        `Ada ${data}#bob`,
      ]);
      await wants('SELECT ?ok { BIND(BOUND(?x) AS ?ok) }', ada, ['true']);
      await wants('SELECT ?x (COUNT(*) AS ?c) { ?x ?p ?o } GROUP BY ?x ORDER BY ?x', ada, [`${data}#ada 3`]);
      await wants('SELECT ?n { ?x ex:knows+ ?y . ?y ex:name ?n }', ada, ['Bob']);
      expect(resultsOf(await run(s, await stored('ASK { ?x ex:name "Ada" }'), ada)).boolean).to.equal(true);
      const described = await run(s, await stored('DESCRIBE ?x'), ada);
      expect(described.text).to.contain('Ada').and.not.to.contain('Bob');
    });

    it('does not parse values as query text', async () => {
      const text = 'SELECT ?s ?name { ?s ex:name ?name }';
      const odd = '} ; DROP ALL # " \\';
      await wants(text, [['name', odd]], [`${data}#odd ${odd}`]);
      for (const value of ['Ada" . ?a ?b ?c . #', "Ada' UNION { ?s ?p ?o }", '?s', '_:b', 'x> . <y', ''])
        await wants(text, [['name', value]], []);
      for (const value of ['"Ada" . #', '"Ada', '"A"B"', '"a"^^<no iri>', '"a"@', '<> . ?a <b>', '<rel>', '"a\nb"'])
        await refusals(text, [['name', value]], 'name');
    });

    it('accepts every name of a variable (SPARQL 1.1 19.8)', async () => {
      for (const name of ['größe', '1', '_n', 'n\u0301', '\u{1d4b3}', 'ชื่อ'])
        await wants(`SELECT ?age { ?s ex:name $${name} ; ex:age ?age }`, [[encodeURIComponent(name), 'Ada']], ['36']);
      for (const name of ['a-b', 'a b', '?a', '', '\u00b7a', '\u00d7'])
        await refusals('SELECT ?s { ?s ex:name ?a }', [[encodeURIComponent(name), 'Ada']], 'name of a variable');
    });

    it('names the wrong parameter and the reason', async () => {
      await refusals('SELECT ?s { ?s ex:name ?name }', [['nane', 'Ada']], '?nane');
      await refusals('SELECT ?s { ?s ex:name ?name }', [['s', 'Ada']], 'requires an IRI');
      await refusals('SELECT ?s { GRAPH ?s { ?a ex:name ?name } }', [['s', 'Ada']], 'requires an IRI');
      await refusals('SELECT ?s { ?a ex:name ?n BIND(?n AS ?s) }', [['s', 'Ada']], 'assigns ?s');
      await refusals('SELECT (1 AS ?s) {}', [['s', 'Ada']], 'assigns ?s');
      await refusals('SELECT * { VALUES ?s { 1 } }', [['s', 'Ada']], 'assigns ?s');
      await refusals(
        'SELECT ?s { ?s ex:name ?n }',
        [
          ['n', 'a'],
          ['n', 'b'],
        ],
        'repeated',
      );
      await refusals('SELECT ?s { ?s ex:name ?n }', [['default-graph-uri', 'a']], 'name of a variable');
      await refusals('SELECT ?s { ?s ex:name', [], 'line 1');
      await refusals('INSERT DATA { <urn:a> <urn:b> 1 }', [], 'update');
    });

    it('runs an RDF resource that describes one query', async () => {
      const prefix = '@prefix sh: <http://www.w3.org/ns/shacl#> .';
      const declared = `${prefix} <> a sh:SPARQLExecutable ; sh:prefixes <#p> ; sh:select "SELECT ?age { ?s ex:name ?name ; ex:age ?age }" .
        <#p> sh:declare [ sh:prefix "ex" ; sh:namespace "https://example.org/"^^<http://www.w3.org/2001/XMLSchema#anyURI> ] .`;
      const { iri } = await s.stored('text/turtle', declared);
      expect(rowsOf(await run(s, iri, [['name', 'Ada']]))).to.deep.equal(['36']);
      const ask = await s.stored('text/turtle', `${prefix} <#q> sh:ask "ASK {}" .`);
      expect(resultsOf(await run(s, ask.iri)).boolean).to.equal(true);
      const bad = [
        `${prefix} <#a> sh:ask "ASK {}" . <#b> sh:ask "ASK {}" .`,
        `${prefix} <> sh:select <#x> .`,
        `${prefix} <> sh:prefixes <#p> ; sh:ask "ASK {}" . <#p> sh:declare [ sh:prefix "a: <b> x" ; sh:namespace "c:d" ] .`,
        '<> <urn:p> 1 .',
      ];
      for (const text of bad) {
        const answer = await run(s, (await s.stored('text/turtle', text)).iri);
        expect(answer.status, text).to.equal(400);
      }
      const other = await s.stored('text/plain', 'ASK {}');
      expect((await run(s, other.iri)).status).to.equal(400);
      expect((await run(s, s.scratch)).status, 'a container').to.equal(400);
    });

    it('needs read access to the query, and returns readable data of the caller', async () => {
      const iri = await stored('SELECT ?name { ?s ex:name ?name }');
      for (const [by, status] of [
        ['anonymous', 401],
        [as(s, bob), 404],
      ] as const) {
        expect((await run(s, iri, [], by)).status).to.equal(status);
        expect((await run(s, s.fresh(), [], by)).status, 'absent').to.equal(status);
      }
      await setAcl(s, iri, rule('Read', anybody));
      expect(rowsOf(await run(s, iri, [], 'anonymous'))).to.deep.equal([]);
      await setAcl(s, data, rule('Read', agent(alice)));
      expect(rowsOf(await run(s, iri, [['name', 'Ada']], as(s, alice)))).to.deep.equal(['Ada']);
      expect(rowsOf(await run(s, iri, [], as(s, bob)))).to.deep.equal([]);
    });
  },
  inWac(),
);
