/** Writers of RDF 1.2: random graphs with triple terms and base directions, read by other parsers. Must not depend on the writers. */
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import fc from 'fast-check';
import { DataFactory } from 'rdf-data-factory';
import { relabel } from '../../../lib/rdf/blank-nodes.js';
import { writeJsonLd } from '../../../lib/rdf/jsonld-writer.js';
import { UnwritableError, writeRdfXml } from '../../../lib/rdf/rdfxml-writer.js';
import { turtleSizes, writeNTriples, writeTurtle } from '../../../lib/rdf/turtle-writer.js';
import { jsonWriter, lineWriter } from '../../../lib/storage/graphs/graph-lines.js';
import { encodeGraph } from '../../../lib/storage/keys/quad-keys.js';
import { isomorphic } from './isomorphism.js';
import { readNTriples, readRdfXml, readTurtle } from './readers.js';

const f = new DataFactory<Quad>();
const base = 'http://pod.example/doc';
const options = { base, prefixes: { ex: 'http://ex.org/', rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#' } };
const iri = (name: string) => f.namedNode(`http://ex.org/${name}`);
const nil = f.namedNode('http://www.w3.org/1999/02/22-rdf-syntax-ns#nil');
const directed = (text: string, direction: 'ltr' | 'rtl') => f.literal(text, { language: 'ar', direction });

const node = fc.constantFrom(iri('a'), iri('b'), f.blankNode('x'), f.blankNode('y'), f.namedNode(`${base}#it`));
const text = fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', ')', '>', 'é', '😀'), maxLength: 6 });
const leaf = fc.oneof(
  node,
  fc.constant(nil),
  text.map((value) => f.literal(value)),
  fc
    .tuple(text, fc.constantFrom('ltr' as const, 'rtl' as const))
    .map(([value, direction]) => directed(value, direction)),
  fc.constant(f.literal('5', f.namedNode('http://www.w3.org/2001/XMLSchema#integer'))),
);
const { object } = fc.letrec<{ object: Quad['object']; triple: Quad['object'] }>((tie) => ({
  object: fc.oneof({ maxDepth: 4 }, leaf, tie('triple')),
  triple: fc.tuple(node, tie('object')).map(([s, o]) => f.quad(s, iri('p'), o)),
}));
const graph = fc.array(
  fc.tuple(node, fc.constantFrom(iri('p'), iri('q')), object).map(([s, p, o]) => f.quad(s, p, o)),
  { minLength: 1, maxLength: 8 },
);

const blanksOf = (term: Quad['object']): string[] =>
  term.termType === 'Quad'
    ? [...blanksOf(term.subject as Quad['object']), ...blanksOf(term.object as Quad['object'])]
    : term.termType === 'BlankNode'
      ? [term.value]
      : [];

describe('RDF 1.2: writers', () => {
  it('write Turtle and N-Triples that other parsers read as the same graph', () => {
    fc.assert(
      fc.property(graph, (quads) => {
        const turtle = writeTurtle(quads, options);
        expect(isomorphic(readTurtle(turtle, base), quads), turtle).to.equal(true);
        const lines = writeNTriples(quads);
        expect(isomorphic(readNTriples(lines), quads), lines).to.equal(true);
      }),
      { numRuns: 500 },
    );
  });

  it('write RDF/XML that another parser reads as the same graph', async () => {
    await fc.assert(
      fc.asyncProperty(graph, async (quads) => {
        const xml = writeRdfXml(quads, options);
        expect(isomorphic(await readRdfXml(xml, base), quads), xml).to.equal(true);
      }),
      { numRuns: 300 },
    );
  });

  it('write the keys of a large graph as the same N-Triples', () => {
    fc.assert(
      fc.property(graph, (quads) => {
        const text = encodeGraph(base, quads).map(lineWriter()).join('');
        expect(isomorphic(readNTriples(text), quads), text).to.equal(true);
      }),
      { numRuns: 300 },
    );
  });

  it('write base directions as JSON-LD 1.1, and no triple terms', () => {
    const quads = [f.quad(iri('a'), iri('p'), directed('x', 'rtl'))];
    const expected = { '@value': 'x', '@language': 'ar', '@direction': 'rtl' };
    expect(JSON.parse(writeJsonLd(quads, { base, prefixes: {} }))['http://ex.org/p']).to.deep.equal(expected);
    expect(JSON.parse(jsonWriter()(encodeGraph(base, quads)[0]!))['http://ex.org/p']).to.deep.equal([expected]);
    const within = f.quad(iri('a'), iri('p'), f.quad(iri('a'), iri('p'), iri('b')));
    expect(() => writeJsonLd([within], options)).to.throw(UnwritableError);
    const asType = f.quad(iri('a'), f.namedNode(`${options.prefixes.rdf}type`), within.object);
    expect(() => writeJsonLd([asType], options)).to.throw(UnwritableError);
  });

  it('cannot write a predicate within a triple term as RDF/XML if it has no XML name', () => {
    const within = f.quad(iri('a'), f.namedNode('http://ex.org/1'), iri('b'));
    expect(() => writeRdfXml([f.quad(iri('a'), iri('p'), within)], options)).to.throw(UnwritableError);
  });

  it('count the bytes of a property with a triple term, unless it has a blank node', () => {
    const sizes = turtleSizes(options);
    const within = (o: Quad['object']) => f.quad(iri('a'), iri('p'), f.quad(iri('b'), iri('q'), o));
    expect(sizes.property('http://ex.org/p', [within(iri('c'))])).to.equal(
      Buffer.byteLength('ex:p <<( ex:a ex:p <<( ex:b ex:q ex:c )>> )>> ;\n    '),
    );
    expect(sizes.property('http://ex.org/p', [within(f.blankNode('x'))])).to.be.NaN;
  });
});

describe('RDF 1.2: blank nodes', () => {
  it('get new labels within triple terms, the same as outside (rule 1.7)', () => {
    fc.assert(
      fc.property(graph, (quads) => {
        const again = relabel(quads);
        expect(isomorphic(again, quads)).to.equal(true);
        for (const { subject, object: term } of again)
          for (const label of [...blanksOf(subject as Quad['object']), ...blanksOf(term)])
            expect(label).to.match(/^b[0-9a-f]{24}x/);
      }),
    );
  });
});
