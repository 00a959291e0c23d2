/** RDF documents out, their prefixes and bounds. */
export { assertIriLength, Expansion, usualBounds } from '../rdf/bounds.js';
export { boundedPrefixes } from '../rdf/prefixes.js';
export { resolveIri } from '../rdf/resolve-iri.js';
export { serializeRdf } from '../rdf/serialize.js';
export { bracketed, quotedLiteral, shortString } from '../rdf/turtle-terms.js';
export { nTriplesWriter, writeTurtle } from '../rdf/turtle-writer.js';
export { UnwritableError } from '../rdf/unwritable.js';
export type { WriterOptions } from '../rdf/writer-options.js';
