/** RDF syntaxes that the storage reads and writes, in order of preference (rule 7.1). */
export const rdfFormats = [
  'text/turtle',
  'application/ld+json',
  'application/n-triples',
  'application/rdf+xml',
  'application/trig',
  'application/n-quads',
] as const;

export type RdfFormat = (typeof rdfFormats)[number];

export const turtle: RdfFormat = 'text/turtle';
export const jsonLd: RdfFormat = 'application/ld+json';
export const rdfXml: RdfFormat = 'application/rdf+xml';

export const isRdfFormat = (mediaType: string): mediaType is RdfFormat =>
  (rdfFormats as readonly string[]).includes(mediaType);
