/** Writes a graph in any of the six RDF syntaxes. */

import type { Quad } from '@rdfjs/types';
import type { RdfFormat } from './formats.js';
import { writeJsonLd } from './jsonld-writer.js';
import { writeRdfXml } from './rdfxml-writer.js';
import { writeNTriples, writeTurtle } from './turtle-writer.js';
import type { WriterOptions } from './writer-options.js';

const writers: Readonly<Record<RdfFormat, (quads: readonly Quad[], options: WriterOptions) => string>> = {
  'text/turtle': writeTurtle,
  'application/ld+json': writeJsonLd,
  'application/n-triples': writeNTriples,
  'application/rdf+xml': writeRdfXml,
  // Without named graphs, TriG equals Turtle (RDF 1.1 TriG 2.1).
  'application/trig': writeTurtle,
  // Without named graphs, N-Quads equals N-Triples.
  'application/n-quads': writeNTriples,
};

/** Writes a graph. @throws UnwritableError if the syntax cannot express the graph, for example RDF/XML */
export const serializeRdf = (quads: readonly Quad[], format: RdfFormat, options: WriterOptions): string =>
  writers[format](quads, options);
