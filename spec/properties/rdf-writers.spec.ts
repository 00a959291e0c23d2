/** Writes random graphs with every odd feature of RDF, and parses them with independent parsers. Independent of the writers. */

import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import fc from 'fast-check';
import { writeJsonLd } from '../../lib/rdf/jsonld-writer.js';
import { UnwritableLiteralError, writeRdfXml } from '../../lib/rdf/rdfxml-writer.js';
import { writeNTriples, writeTurtle } from '../../lib/rdf/turtle-writer.js';
import { xsd } from '../../lib/rdf/vocabulary.js';
import { isomorphic } from '../lib/rdf/isomorphism.js';
import { readJsonLd, readNTriples, readRdfXml, readTurtle } from '../lib/rdf/readers.js';
import { runs } from '../support/speed.js';
import { documents, factory } from './rdf-documents.js';

const notInXml = /[\x00-\x08\x0B\x0C\x0E-\x1F\uFFFE\uFFFF]/;

function expectSame(written: string, actual: readonly Quad[], expected: readonly Quad[]): void {
  if (!isomorphic(actual, expected)) {
    expect.fail(
      `Graphs differ:\n${writeNTriples(expected)}\nwritten as\n${written}\nread as\n${writeNTriples(actual)}`,
    );
  }
}

describe('RDF writers with random graphs', () => {
  it('write Turtle and TriG that n3 parses to the same graph', () => {
    fc.assert(
      fc.property(documents({ nasty: true }), ({ quads, base, prefixes }) => {
        const text = writeTurtle(quads, { base, prefixes });
        expectSame(text, readTurtle(text, base), quads);
        expectSame(text, readTurtle(text, base, 'application/trig'), quads);
      }),
      { numRuns: runs(2000) },
    );
  });

  it('write N-Triples that n3 parses to the same graph', () => {
    fc.assert(
      fc.property(documents({ nasty: true }), ({ quads }) => {
        const text = writeNTriples(quads);
        expectSame(text, readNTriples(text), quads);
      }),
      { numRuns: runs(500) },
    );
  });

  it('write RDF/XML that rdfxml-streaming-parser parses to the same graph, or reject characters invalid in XML', async () => {
    await fc.assert(
      fc.asyncProperty(documents({ nasty: false }), async ({ quads, base, prefixes }) => {
        if (quads.some(({ object }) => object.termType === 'Literal' && notInXml.test(object.value))) {
          expect(() => writeRdfXml(quads, { base, prefixes })).to.throw(UnwritableLiteralError);
          return;
        }
        const text = writeRdfXml(quads, { base, prefixes });
        expectSame(text, await readRdfXml(text, base), quads);
      }),
      { numRuns: runs(1000) },
    );
  });

  it('write JSON-LD that jsonld parses to the same graph', async () => {
    await fc.assert(
      fc.asyncProperty(documents({ nasty: true }), async ({ quads, base, prefixes }) => {
        const text = writeJsonLd(quads, { base, prefixes });
        expectSame(text, await readJsonLd(text), quads.map(asJsonldReadsIt));
      }),
      { numRuns: runs(1000) },
    );
  });
});

/** The library jsonld also canonicalizes doubles given as strings, against JSON-LD 1.1 API 8.2.2. */
function asJsonldReadsIt(quad: Quad): Quad {
  const { object } = quad;
  if (object.termType !== 'Literal' || object.datatype.value !== xsd.double) return quad;
  const value = Number.parseFloat(object.value)
    .toExponential(15)
    .replace(/(\d)0*e\+?/, '$1E');
  return factory.quad(quad.subject, quad.predicate, factory.literal(value, object.datatype));
}
