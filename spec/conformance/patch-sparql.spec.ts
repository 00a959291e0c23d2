/** Rules 6.13, 6.15, 6.16 and the matrix: SPARQL Update on RDF resources. */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectProblem, listOf } from '../support/expectations.js';
import { slowness } from '../support/patience.js';
import { expectGraph } from '../support/rdf.js';

const update = 'application/sparql-update';
const ex = 'http://e.example/';
const prolog = `PREFIX : <${ex}>\n`;
const before = `@prefix : <${ex}> . :a :p 1 ; :q "x" . :b :p 2 .`;

describeStorage('PATCH with SPARQL Update', (s) => {
  const patched = async (text: string): Promise<string> => {
    const { iri, etag } = await s.stored('text/turtle', before);
    const answer = await s.patch(iri, update, prolog + text);
    expect(answer.status, answer.text).to.equal(204);
    expect(answer.bytes.length).to.equal(0);
    expect(answer.headers['etag'])
      .to.equal(await s.tag(iri))
      .and.not.to.equal(etag);
    return iri;
  };

  for (const [what, text, after] of [
    ['INSERT DATA', 'INSERT DATA { :c :p 3 }', ':a :p 1 ; :q "x" . :b :p 2 . :c :p 3 .'],
    ['DELETE DATA', 'DELETE DATA { :b :p 2 }', ':a :p 1 ; :q "x" .'],
    [
      'DELETE INSERT WHERE',
      'DELETE { ?s :p ?o } INSERT { ?s :r ?o } WHERE { ?s :p ?o }',
      ':a :r 1 ; :q "x" . :b :r 2 .',
    ],
    ['INSERT WHERE', 'INSERT { ?s a :T } WHERE { ?s :q ?o }', ':a :p 1 ; :q "x" ; a :T . :b :p 2 .'],
    ['DELETE WHERE', 'DELETE WHERE { ?s :p ?o }', ':a :q "x" .'],
    ['a FILTER', 'DELETE { ?s :p ?o } WHERE { ?s :p ?o FILTER(?o > 1) }', ':a :p 1 ; :q "x" .'],
    ['several operations', 'DELETE DATA { :b :p 2 } ; INSERT DATA { :b :p 3 }', ':a :p 1 ; :q "x" . :b :p 3 .'],
    [
      'a later operation that sees the earlier',
      'INSERT DATA { :c :p 3 } ; DELETE WHERE { :c :p ?o } ; INSERT DATA { :d :p 4 }',
      ':a :p 1 ; :q "x" . :b :p 2 . :d :p 4 .',
    ],
    [
      'a BIND',
      'INSERT { ?s :n ?n } WHERE { ?s :p ?o BIND(?o + 1 AS ?n) }',
      ':a :p 1 ; :q "x" ; :n 2 . :b :p 2 ; :n 3 .',
    ],
  ] as const)
    it(`PATCH matrix: an RDF resource accepts ${what}: 204 with a new ETag`, async () => {
      const iri = await patched(text);
      await expectGraph(await s.get(iri), iri, `@prefix : <${ex}> . ${after}`);
    });

  it('PATCH, rule 1.6: relative IRIs resolve against the resource', async () => {
    const { iri } = await s.stored('text/turtle', '<> <#p> 1 .');
    expect(
      (await s.patch(iri, update, 'DELETE { <> <#p> ?o } INSERT { <#me> <#p> <x> } WHERE { <> <#p> ?o }')).status,
    ).to.equal(204);
    await expectGraph(await s.get(iri), iri, '<#me> <#p> <x> .');
  });

  it('a blank node created by an update is distinct from those of the resource (rule 1.7)', async () => {
    const { iri } = await s.stored('text/turtle', '_:b <#p> 1 .');
    expect((await s.patch(iri, update, 'INSERT DATA { _:b <#q> 2 . _:c <#r> _:b }')).status).to.equal(204);
    await expectGraph(await s.get(iri), iri, '_:x <#p> 1 . _:y <#q> 2 . _:z <#r> _:y .');
  });

  for (const [what, text] of [
    ['GRAPH in INSERT DATA', 'INSERT DATA { GRAPH :g { :c :p 3 } }'],
    ['GRAPH in DELETE DATA', 'DELETE DATA { GRAPH :g { :c :p 3 } }'],
    ['GRAPH in a template', 'INSERT { GRAPH :g { ?s :p 1 } } WHERE { ?s :p ?o }'],
    ['GRAPH in WHERE', 'INSERT { ?s :z 1 } WHERE { GRAPH ?g { ?s :p ?o } }'],
    ['GRAPH in DELETE WHERE', 'DELETE WHERE { GRAPH ?g { ?s :p ?o } }'],
    ['GRAPH in a FILTER', 'DELETE { ?s :p ?o } WHERE { ?s :p ?o FILTER NOT EXISTS { GRAPH ?g { ?s :p ?o } } }'],
    ['GRAPH in a subquery', 'DELETE { ?s :p ?o } WHERE { ?s :p ?o { SELECT ?s WHERE { GRAPH ?g { ?s ?p ?o } } } }'],
    ['WITH', 'WITH :g DELETE { ?s :p ?o } WHERE { ?s :p ?o }'],
    ['USING', 'DELETE { ?s :p ?o } USING :g WHERE { ?s :p ?o }'],
    ['USING NAMED', 'DELETE { ?s :p ?o } USING NAMED :g WHERE { ?s :p ?o }'],
    ['CLEAR ALL', 'CLEAR ALL'],
    ['CLEAR DEFAULT', 'CLEAR DEFAULT'],
    ['CLEAR GRAPH', 'CLEAR SILENT GRAPH :g'],
    ['DROP', 'DROP NAMED'],
    ['CREATE', 'CREATE GRAPH :g'],
    ['ADD', 'ADD DEFAULT TO :g'],
    ['MOVE', 'MOVE :g TO DEFAULT'],
    ['COPY', 'COPY SILENT :g TO DEFAULT'],
    ['LOAD', 'LOAD <http://127.0.0.1:9/x>'],
    ['LOAD INTO GRAPH', 'LOAD SILENT <http://127.0.0.1:9/x> INTO GRAPH :g'],
    ['SERVICE', 'INSERT { ?s :z 1 } WHERE { SERVICE <http://127.0.0.1:9/x> { ?s :p ?o } }'],
    ['SERVICE SILENT in OPTIONAL', 'INSERT { ?s :z 1 } WHERE { ?s :p ?o OPTIONAL { SERVICE SILENT ?x { ?s :p ?o } } }'],
    ['a graph in the second operation', 'INSERT DATA { :c :p 3 } ; INSERT DATA { GRAPH :g { :c :p 3 } }'],
    ['CLEAR after INSERT', 'INSERT DATA { :c :p 3 } ; CLEAR ALL'],
    ['a syntax error', 'INSERT DATA { :c :p'],
    ['a query', 'SELECT * WHERE { ?s ?p ?o }'],
    ['a variable in DATA', 'INSERT DATA { ?s :p 1 }'],
    ['an undeclared prefix', 'INSERT DATA { nope:a :p 1 }'],
  ] as const)
    it(`${what} is 400 and changes nothing (rule 6.15)`, async () => {
      const { iri, etag } = await s.stored('text/turtle', before);
      expectProblem(await s.patch(iri, update, prolog + text), 400, s);
      expect(await s.tag(iri)).to.equal(etag);
      await expectGraph(await s.get(iri), iri, before);
    });

  it('PATCH, rule 6.13: an update that changes nothing is 204 with the same ETag', async () => {
    const { iri, etag } = await s.stored('text/turtle', before);
    for (const text of ['INSERT DATA { :a :p 1 }', 'DELETE DATA { :z :p 1 }', 'DELETE WHERE { ?s :none ?o }']) {
      const answer = await s.patch(iri, update, prolog + text);
      expect([answer.status, answer.headers['etag']], text).to.deep.equal([204, etag]);
    }
  });

  it('PATCH: If-Match is evaluated but optional', async () => {
    const { iri, etag } = await s.stored('text/turtle', before);
    expect((await s.patch(iri, update, `INSERT DATA { <${ex}c> <#p> 1 }`, { 'If-Match': etag })).status).to.equal(204);
    const now = await s.tag(iri);
    expectProblem(await s.patch(iri, update, `INSERT DATA { <${ex}d> <#p> 1 }`, { 'If-Match': etag }), 412, s);
    expect(await s.tag(iri)).to.equal(now);
  });

  for (const type of [
    'application/merge-patch+json',
    'application/json-patch+json',
    'text/n3',
    'text/turtle',
    'application/json',
    'application/sparql-query',
  ])
    it(`PATCH matrix: an RDF resource rejects ${type}: 415 with Accept-Patch`, async () => {
      const { iri, etag } = await s.stored('text/turtle', before);
      const answer = await s.patch(iri, type, '{}');
      expectProblem(answer, 415, s);
      expect(listOf(answer, 'accept-patch')).to.deep.equal([update]);
      expect(await s.tag(iri)).to.equal(etag);
    });

  it('PATCH: without a Content-Type it is 415', async () => {
    const { iri } = await s.stored('text/turtle', before);
    expectProblem(await s.send('PATCH', iri, {}, 'INSERT DATA { <a> <b> <c> }'), 415, s);
  });

  for (const type of [update, 'application/merge-patch+json', 'application/json-patch+json'])
    it(`PATCH, rule 6.14: a container rejects ${type}: 415`, async () => {
      expectProblem(await s.patch(await s.container(), type, '{}'), 415, s);
    });

  it('PATCH: a nonexistent resource is 404 and is not created', async () => {
    const iri = s.fresh();
    expectProblem(await s.patch(iri, update, 'DELETE DATA { <a> <b> <c> }'), 404, s);
    await s.expectAbsent(iri);
  });

  it('PATCH: concurrent updates are all applied', async () => {
    const { iri } = await s.stored('text/turtle', '');
    const updates = Array.from({ length: 10 }, (_, i) => `INSERT DATA { <> <#n> ${i} }`);
    const answers = await Promise.all(updates.map((text) => s.patch(iri, update, text)));
    expect(answers.map(({ status }) => status)).to.deep.equal(updates.map(() => 204));
    await expectGraph(await s.get(iri), iri, '<> <#n> 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 .');
  });
});

describeStorage(
  'PATCH with expensive updates',
  (s) => {
    const triples = Array.from({ length: 400 }, (_, i) => `<#s${i}> <#p> ${i} .`).join('\n');
    const cartesian =
      'INSERT { ?a <#x> ?b } WHERE { ?a ?p1 ?o1 . ?b ?p2 ?o2 . ?c ?p3 ?o3 . ?d ?p4 ?o4 FILTER(?o1 + ?o2 + ?o3 + ?o4 < 0) }';
    const regex = `INSERT { <> <#x> 1 } WHERE { <> <#v> ?v FILTER(REGEX(?v, "^(a+)+$")) }`;

    it('an expensive update is 422 at the deadline, changes nothing and blocks no other client (rule 6.16)', async () => {
      const { iri, etag } = await s.stored('text/turtle', `${triples}\n<> <#v> "${'a'.repeat(60)}!" .`);
      const hostile = [cartesian, regex].map((text) => s.patch(iri, update, text));
      await new Promise((resolve) => setTimeout(resolve, 300));
      const started = performance.now();
      const { iri: other } = await s.stored('text/plain', 'x');
      expect((await s.get(other)).status).to.equal(200);
      expect(performance.now() - started).to.be.below(1000 * slowness);
      for (const answer of await Promise.all(hostile)) expectProblem(answer, 422, s);
      expect(await s.tag(iri)).to.equal(etag);
    });

    it('a later update succeeds (rule 6.16)', async () => {
      const { iri } = await s.stored('text/turtle', '<> <#p> 1 .');
      const text = 'DELETE { ?s <#p> ?o } INSERT { ?s <#q> ?o } WHERE { ?s <#p> ?o }';
      expect((await s.patch(iri, update, text)).status).to.equal(204);
      await expectGraph(await s.get(iri), iri, '<> <#q> 1 .');
    });
  },
  { settings: { 'sparql-update.timeout-seconds': '1' } },
);
