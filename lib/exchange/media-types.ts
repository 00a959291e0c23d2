/** Media types by the extensions of files. Pure. */
import { lookup } from 'mime-types';

/** The syntaxes of RDF, by media type: those that a resource is read from. */
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

/** SHACL's compact syntax, plain and extended; neither has a registered media type. */
const shapesByExtension: Readonly<Record<string, string>> = {
  shaclc: 'text/shaclc',
  shc: 'text/shaclc',
  shaclce: 'text/shaclc-ext',
  shce: 'text/shaclc-ext',
};
const typeByExtension: Readonly<Record<string, string>> = { ...rdfByExtension, ...shapesByExtension };

/** The media type of a file by the last extension of its name; `application/octet-stream` for an unknown extension. */
export function mediaTypeOf(name: string): string {
  const extension = /\.([^./]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  return (Object.hasOwn(typeByExtension, extension) && typeByExtension[extension]) || lookupType(extension);
}

const lookupType = (extension: string): string => (extension && lookup(extension)) || 'application/octet-stream';

/** The syntax of RDF that a media type stands for, without parameters. */
export function rdfTypeOf(mediaType: string): string | undefined {
  const type = typeWithout(mediaType);
  return rdfTypes.has(type) ? type : undefined;
}

/** A media type without its parameters. */
export const typeWithout = (mediaType: string): string => mediaType.replace(/;.*/s, '').trim().toLowerCase();

/** Whether a media type, without parameters, is one of HTML pages, which may have RDF in them besides other content. */
export const isPage = (type: string): boolean => type === 'text/html' || type === 'application/xhtml+xml';
