/** Media types by the ends of names: browsers know none of RDF, and it would become an opaque binary. Pure. */
const known: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  gif: 'image/gif',
  htm: 'text/html',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  jsonld: 'application/ld+json',
  md: 'text/markdown',
  nt: 'application/n-triples',
  owl: 'application/rdf+xml',
  pdf: 'application/pdf',
  png: 'image/png',
  rdf: 'application/rdf+xml',
  svg: 'image/svg+xml',
  trig: 'application/trig',
  tsv: 'text/tab-separated-values',
  ttl: 'text/turtle',
  txt: 'text/plain',
  webp: 'image/webp',
  xml: 'application/xml',
};

/** @param given what the browser says; an empty text for nothing */
export function mediaTypeOf(name: string, given: string): string {
  const extension = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  return (Object.hasOwn(known, extension) ? known[extension] : undefined) ?? (given || 'application/octet-stream');
}
