/** Rules 1.8, 7.1: one graph per resource, content negotiation. */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { expectGraph, mediaType, rdfTypes } from '../support/rdf.js';

const turtle = `@prefix ex: <http://e.example/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
<#me> a ex:Person ; ex:name "Zoë"@en-GB, "plain\\n\\"quoted\\" \\\\ <&>" ; ex:age 42 ; ex:height 1.70 ; ex:ok true ;
  ex:when "2026-01-02T03:04:05Z"^^xsd:dateTime ; ex:knows [ ex:name "B" ; ex:knows <#me> ] ; ex:list ( 1 "two" <three> ) ;
  ex:none () ; ex:markup "<b>x</b>"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#XMLLiteral> .`;

/** The same small graph in every syntax. */
const bodies = {
  'text/turtle': '@prefix ex: <http://e.example/> . <> ex:p "v"@en ; ex:q [ ex:r <http://e.example/o> ] .',
  'application/trig': '@prefix ex: <http://e.example/> . { <> ex:p "v"@en ; ex:q [ ex:r <http://e.example/o> ] . }',
  'application/ld+json':
    '{"@context":{"ex":"http://e.example/"},"@id":"","ex:p":{"@value":"v","@language":"en"},"ex:q":{"ex:r":{"@id":"ex:o"}}}',
  'application/rdf+xml': `<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:ex="http://e.example/">
    <rdf:Description rdf:about=""><ex:p xml:lang="en">v</ex:p><ex:q rdf:parseType="Resource"><ex:r rdf:resource="http://e.example/o"/></ex:q>
    </rdf:Description></rdf:RDF>`,
} as const;

describeStorage('Content negotiation', (s) => {
  for (const Accept of rdfTypes)
    it(`Content negotiation: an RDF resource is served as ${Accept} with the same graph`, async () => {
      const { iri } = await s.stored('text/turtle', turtle);
      const answer = await s.get(iri, { Accept });
      expect(mediaType(answer)).to.equal(Accept);
      await expectGraph(answer, iri, turtle);
    });

  for (const [type, body] of Object.entries(bodies))
    it(`Content negotiation: a ${type} body is parsed and served in all six syntaxes`, async () => {
      const { iri } = await s.stored(type, body);
      for (const Accept of rdfTypes) await expectGraph(await s.get(iri, { Accept }), iri, bodies['text/turtle']);
    });

  for (const type of ['application/n-triples', 'application/n-quads'])
    it(`Content negotiation: an ${type} body is parsed and served in all six syntaxes`, async () => {
      const body = '<http://e.example/s> <http://e.example/p> _:b .\n_:b <http://e.example/q> "\\u00e9\\t"@fr .\n';
      const { iri } = await s.stored(type, body);
      for (const Accept of rdfTypes) await expectGraph(await s.get(iri, { Accept }), iri, body);
    });

  for (const [accept, type] of [
    [undefined, 'text/turtle'],
    ['*/*', 'text/turtle'],
    ['text/*', 'text/turtle'],
    ['application/*', 'application/ld+json'],
    ['text/turtle;q=0.5, application/ld+json', 'application/ld+json'],
    ['application/rdf+xml, application/n-triples', 'application/n-triples'],
    ['application/trig, application/rdf+xml;q=1.0', 'application/rdf+xml'],
    ['*/*;q=0.1, application/trig;q=0.2', 'application/trig'],
    ['text/turtle;q=0, */*', 'application/ld+json'],
    ['text/html, application/xhtml+xml, */*;q=0.8', 'text/turtle'],
    ['APPLICATION/LD+JSON', 'application/ld+json'],
    ['application/ld+json;q=0.9, text/html', 'application/ld+json'],
    ['text/html', 'text/turtle'],
    ['image/png, application/json', 'text/turtle'],
    ['application/n-triples;q=0.300, application/trig;q=0.31', 'application/trig'],
  ] as const)
    it(`Content negotiation, rule 7.1: Accept: ${accept ?? '(none)'} returns ${type}, never 406`, async () => {
      const { iri } = await s.stored('text/turtle', '<> a <#C> .');
      const answer = await s.get(iri, accept === undefined ? {} : { Accept: accept });
      expect([answer.status, mediaType(answer)]).to.deep.equal([200, type]);
    });

  it('a graph that RDF/XML cannot express is served in the next acceptable type (rule 7.1)', async () => {
    const { iri } = await s.stored('text/turtle', '<> <http://e.example/1> "no name of an element" .');
    const graph = Array.from({ length: 100_001 }, (_, i) => `<#s> <http://e.example/p> ${i} .`).join('\n');
    const { iri: large } = await s.stored('text/turtle', graph);
    for (const at of [iri, large])
      for (const [Accept, type] of [
        ['application/rdf+xml, application/ld+json;q=0.5', 'application/ld+json'],
        ['application/rdf+xml, application/n-quads;q=0.2, text/turtle;q=0.1', 'application/n-quads'],
        ['application/rdf+xml', 'text/turtle'],
      ] as const) {
        const answer = await s.head(at, { Accept });
        expect([answer.status, mediaType(answer)], `${Accept} of ${at}`).to.deep.equal([200, type]);
      }
  }).timeout(60_000);

  it('a more specific range wins over a wildcard of a higher quality (rule 7.1)', async () => {
    const { iri } = await s.stored('text/turtle', '<> a <#C> .');
    const Accept = 'application/*;q=0.9, application/ld+json;q=0.1, text/turtle;q=0.5';
    expect(mediaType(await s.get(iri, { Accept }))).to.equal('application/n-triples');
  });

  it('Content negotiation: JSON and binary resources are served as stored, for any Accept', async () => {
    for (const [type, body] of [
      ['application/json', '{}'],
      ['image/png', 'x'],
    ] as const) {
      const { iri } = await s.stored(type, body);
      const answer = await s.get(iri, { Accept: 'text/turtle' });
      expect([answer.status, mediaType(answer), answer.text]).to.deep.equal([200, type, body]);
    }
  });

  for (const [what, type, body] of [
    ['a TriG graph block', 'application/trig', '<#g> { <> a <#C> . }'],
    ['a TriG GRAPH block beside the default graph', 'application/trig', '<> a <#C> . GRAPH <#g> { <> a <#D> . }'],
    ['a TriG graph block named by the resource', 'application/trig', '<> { <> a <#C> . }'],
    [
      'an N-Quads statement with a graph',
      'application/n-quads',
      '<urn:s> <urn:p> <urn:o> .\n<urn:s> <urn:p> <urn:o> <urn:g> .',
    ],
    ['a JSON-LD named graph', 'application/ld+json', '{"@id":"#g","@graph":[{"@id":"","@type":"http://e.example/C"}]}'],
    [
      'a JSON-LD named graph in a list of nodes',
      'application/ld+json',
      '[{"@id":"","@type":"http://e.example/C"},{"@id":"#g","@graph":{"@id":"#a","@type":"http://e.example/D"}}]',
    ],
    [
      'a JSON-LD graph container',
      'application/ld+json',
      '{"@context":{"g":{"@id":"http://e.example/g","@container":"@graph"}},"@id":"","g":{"@type":"http://e.example/C"}}',
    ],
  ] as const)
    it(`${what} is RDF outside the default graph: 400 (rule 1.8)`, async () => {
      const iri = s.fresh();
      expectProblem(await s.put(iri, type, body), 400, s);
      await s.expectAbsent(iri);
      expectProblem(await s.post(s.scratch, type, body), 400, s);
    });

  it('a JSON-LD document whose @graph has no name is the default graph (rule 1.8)', async () => {
    const { iri } = await s.stored('application/ld+json', '{"@graph":[{"@id":"","@type":"http://e.example/C"}]}');
    await expectGraph(await s.get(iri), iri, '<> a <http://e.example/C> .');
  });

  it('bundled JSON-LD contexts are used without a fetch (rule 1.11)', async () => {
    const body =
      '{"@context":["https://www.w3.org/ns/cid/v1","https://www.w3.org/ns/lws/v1"],"@id":"","@type":"http://e.example/C"}';
    const { iri } = await s.stored('application/ld+json', body);
    await expectGraph(await s.get(iri), iri, '<> a <http://e.example/C> .');
  });

  it('Content negotiation: a graph read in another syntax can be written back', async () => {
    const { iri } = await s.stored('text/turtle', turtle);
    for (const type of rdfTypes) {
      const { text, headers } = await s.get(iri, { Accept: type });
      expect((await s.put(iri, type, text, { 'If-Match': headers['etag']! })).status, type).to.equal(204);
      await expectGraph(await s.get(iri), iri, turtle);
    }
  });

  it('Content negotiation: graphs that RDF/XML cannot express cause no server error in any syntax', async () => {
    const { iri } = await s.stored(
      'text/turtle',
      '<#s> <http://e.example/1> "\\u0001" ; <http://e.example/> "a\\uFFFFb" .',
    );
    for (const Accept of rdfTypes) expect((await s.get(iri, { Accept })).status, Accept).to.be.below(500);
  });
});
