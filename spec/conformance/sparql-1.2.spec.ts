/** Rules 14.19, 14.1, 14.3, 14.9, 14.12: triple terms and base directions in queries, updates and results. */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { expectGraph } from '../support/rdf.js';
import { ask, endpointOf, rowsOf, sparqlQuery } from '../support/sparql.js';
import { startSparqlEndpoint } from '../support/sparql-endpoint.js';
import { agent, alice, as, inWac, rule, setAcl } from '../support/wac.js';

const e = 'https://e.example/terms/';
const P = `PREFIX : <${e}> PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>\n`;
const own = `${P} :a :p :b ~ :r1 {| :since 2020 |} . :a :p :c ~ :r2 {| :since "x"@ar--rtl |} .
  :r3 rdf:reifies <<( :a :p <<( :c :q "wonderful" )>> )>> .`;
const hidden = `${P} :r9 rdf:reifies <<( :a :p :secret )>> .`;
const endpoint = await startSparqlEndpoint();
after(() => endpoint.close());
endpoint.load(`@prefix : <${e}> . :far :says <<( :a :p :b )>>, "y"@he--rtl .`);

const update = 'application/sparql-update';

describeStorage(
  'SPARQL 1.2',
  (s) => {
    before(async () => {
      await s.stored('text/turtle', own, `${s.scratch}own`);
      await s.stored('text/turtle', hidden, `${s.scratch}hidden`);
      await setAcl(s, `${s.scratch}own`, rule('Read', agent(alice)));
    });

    const one = `${P} SELECT * { :r3 rdf:reifies ?t . :r2 :since ?d } `;
    for (const [type, text] of [
      [
        'application/sparql-results+json',
        /"t":\{"type":"triple","value":\{"subject":\{"type":"uri",.*"object":\{"type":"triple".*"wonderful".*"its:dir":"rtl"/s,
      ],
      [
        'application/sparql-results+xml',
        /<triple><subject><uri>.*<object><triple>.*<literal xml:lang="ar" xmlns:its="http:\/\/www.w3.org\/2005\/11\/its" its:version="2.0" its:dir="rtl">x</s,
      ],
      ['text/csv', /"<<\( <[^>]*a> <[^>]*p> <<\( <[^>]*c> <[^>]*q> ""wonderful"" \)>> \)>>",x\r\n/],
      [
        'text/tab-separated-values',
        /<<\( <[^>]*a> <[^>]*p> <<\( <[^>]*c> <[^>]*q> "wonderful" \)>> \)>>\t"x"@ar--rtl\n/,
      ],
    ] as const)
      it(`${type} has triple terms and base directions (rule 14.3)`, async () => {
        const answer = await ask(s, one, { Accept: type });
        expect(answer.text).to.match(text);
      });

    it('a triple term of a hidden graph matches nothing (rule 14.2)', async () => {
      const query = `${P} SELECT ?r ?o { ?r rdf:reifies <<( :a :p ?o )>> FILTER(isIRI(?o)) }`;
      expect(rowsOf(await ask(s, query))).to.deep.equal([`${e}r1 ${e}b`, `${e}r2 ${e}c`, `${e}r9 ${e}secret`]);
      expect(rowsOf(await ask(s, query, {}, as(s, alice)))).to.deep.equal([`${e}r1 ${e}b`, `${e}r2 ${e}c`]);
    });

    it('explains a pattern with its triple term (rule 14.1)', async () => {
      const query = `${P} SELECT * { :a :p ?o ~ ?r . ?r :since ?z }`;
      const answer = await s.send('POST', `${endpointOf(s)}?explain=run`, { 'Content-Type': sparqlQuery }, query);
      expect(answer.text).to.include(`<<( <${e}a> <${e}p> ?o )>>`);
    });

    it('arguments of a stored query are bound within triple terms (rule 14.12)', async () => {
      const { iri } = await s.stored(sparqlQuery, `${P} SELECT ?r { ?r rdf:reifies <<( ?who :p ?o )>> }`);
      const run = (value: string) => s.get(`${iri}?run&${new URLSearchParams({ who: value, o: `<${e}b>` })}`);
      expect(rowsOf(await run(`<${e}a>`))).to.deep.equal([`${e}r1`]);
      expect(rowsOf(await run(`<${e}b>`))).to.deep.equal([]);
      expectProblem(await run('"a literal"'), 400, s);
    });

    it('SERVICE sends and reads triple terms (rule 14.9)', async () => {
      const query = `${P} SELECT ?r ?t (LANGDIR(?y) AS ?d) {
        SERVICE <${endpoint.url}> { :far :says ?t, ?y FILTER(isTRIPLE(?t) && hasLANGDIR(?y)) } ?r rdf:reifies ?t }`;
      const answer = await ask(s, query, { Accept: 'text/csv' });
      expect(answer.text, answer.text).to.include(`${e}r1,<<( <${e}a> <${e}p> <${e}b> )>>,rtl`);
    });

    it('a PATCH inserts and removes annotations (rule 6.1)', async () => {
      const { iri } = await s.stored('text/turtle', `${P} :a :p :b, :c .`);
      const patch = (text: string) => s.send('PATCH', iri, { 'Content-Type': update, 'If-Match': '*' }, P + text);
      expect((await patch('INSERT { ?s :p ?o ~ :new {| :since 1 |} } WHERE { ?s :p ?o }')).status).to.equal(204);
      await expectGraph(await s.get(iri), iri, `${P} :a :p :b ~ :new {| :since 1 |}, :c ~ :new .`);
      expect((await patch('DELETE { ?r ?q ?z } WHERE { :a :p :b ~ ?r . ?r ?q ?z }')).status).to.equal(204);
      await expectGraph(await s.get(iri), iri, `${P} :a :p :b, :c .`);
      expect((await patch('INSERT DATA { :x :y <<( :a :p "z"@ar--rtl )>> }')).status).to.equal(204);
      await expectGraph(await s.get(iri), iri, `${P} :a :p :b, :c . :x :y <<( :a :p "z"@ar--rtl )>> .`);
      expect((await patch('DELETE DATA { :x :y <<( :a :p "z"@ar--rtl )>> }')).status).to.equal(204);
      await expectGraph(await s.get(iri), iri, `${P} :a :p :b, :c .`);
    });

    it('terms that are too deep are 422 (rule 14.19)', async () => {
      const deep = `${'<<( :a :p '.repeat(17)}:b${' )>>'.repeat(17)}`;
      for (const query of [
        `ASK { ?s ?p ${deep} }`,
        `SELECT * { VALUES ?t { ${deep} } }`,
        `SELECT (TRIPLE(:a, :p, ${deep.slice(10, -4)}) AS ?t) {}`,
      ])
        expectProblem(await ask(s, P + query), 422, s);
    });

    it('DESCRIBE follows blank nodes within triple terms', async () => {
      const text = `${P} :described rdf:reifies <<( _:x :p 1 )>> . _:x :q 2 .`;
      await s.stored('text/turtle', text);
      await expectGraph(await ask(s, `DESCRIBE <${e}described>`, { Accept: 'text/turtle' }), e, text);
    });
  },
  inWac({ 'sparql.endpoint.allowed-services': endpoint.authority }),
);
