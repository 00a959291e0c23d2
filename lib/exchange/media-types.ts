/** Media types by file extension. */
import { lookup } from 'mime-types';

/** Media types of RDF syntaxes that can be imported as resources, by extension. */
const rdfByExtension: Readonly<Record<string, string>> = {
  ttl: 'text/turtle',
  nt: 'application/n-triples',
  n3: 'text/n3',
  jsonld: 'application/ld+json',
  rdf: 'application/rdf+xml',
  owl: 'application/rdf+xml',
  trig: 'application/trig',
  nq: 'application/n-quads',
  nquads: 'application/n-quads',
};
const rdfTypes: ReadonlySet<string> = new Set(Object.values(rdfByExtension));

/** Media types of the SHACL compact syntax, plain and extended, by extension. Neither is registered. */
const shapesByExtension: Readonly<Record<string, string>> = {
  shaclc: 'text/shaclc',
  shc: 'text/shaclc',
  shaclce: 'text/shaclc-ext',
  shce: 'text/shaclc-ext',
};
const typeByExtension: Readonly<Record<string, string>> = { ...rdfByExtension, ...shapesByExtension };

/** Returns the media type for the last extension of a file name, or `application/octet-stream` if it is unknown. */
export function mediaTypeOf(name: string): string {
  const extension = /\.([^./]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  return (Object.hasOwn(typeByExtension, extension) && typeByExtension[extension]) || lookupType(extension);
}

const lookupType = (extension: string): string => (extension && lookup(extension)) || 'application/octet-stream';

/** Returns the RDF media type without parameters, or `undefined` for other media types. */
export function rdfTypeOf(mediaType: string): string | undefined {
  const type = typeWithout(mediaType);
  return rdfTypes.has(type) ? type : undefined;
}

/** Returns a media type without its parameters. */
export const typeWithout = (mediaType: string): string => mediaType.replace(/;.*/s, '').trim().toLowerCase();

/** True for the media types of HTML pages, which may embed RDF. */
export const isPage = (type: string): boolean => type === 'text/html' || type === 'application/xhtml+xml';
