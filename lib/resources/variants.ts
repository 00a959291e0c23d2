/** Short names that distinguish the representations of a state in entity tags. */
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
