/** Short names of RDF formats in entity tags, which distinguish the representations of one state. */
import type { RdfFormat } from '../rdf/formats.js';

const variants: Readonly<Record<RdfFormat, string>> = {
  'text/turtle': 'ttl',
  'application/ld+json': 'jsonld',
  'application/n-triples': 'nt',
  'application/rdf+xml': 'rdf',
  'application/trig': 'trig',
  'application/n-quads': 'nq',
};

export const variantOf = (format: RdfFormat): string => variants[format];
