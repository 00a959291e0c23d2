/** RDF documents out: one graph in any of the six serialisations. */

import type { Quad } from '@rdfjs/types';
import type { RdfFormat } from './formats.js';
import { writeJsonLd } from './jsonld-writer.js';
import { writeRdfXml } from './rdfxml-writer.js';
import { writeNTriples, writeTriG, writeTurtle } from './turtle-writer.js';
import type { WriterOptions } from './writer-options.js';

const writers: Readonly<Record<RdfFormat, (quads: readonly Quad[], options: WriterOptions) => string>> = {
  'text/turtle': writeTurtle,
  'application/ld+json': writeJsonLd,
  'application/n-triples': writeNTriples,
  'application/rdf+xml': writeRdfXml,
  'application/trig': writeTriG,
  // One graph, in the default graph.
  'application/n-quads': writeNTriples,
};

/**
 * Writes a graph.
 * @throws UnwritableError when the syntax has no way to say something of the graph, as RDF/XML often has not
 */
export const serializeRdf = (quads: readonly Quad[], format: RdfFormat, options: WriterOptions): string =>
  writers[format](quads, options);
