/** Triples in every syntax that the service parses, written without its own writers. Independent of requests. */
import { rdfType, type Triple } from './search-model.js';

export type Format = 'turtle' | 'jsonld' | 'ntriples' | 'rdfxml' | 'trig' | 'json' | 'binary';

const iriOf = (reference: string, iri: string): string =>
  /^[a-z]+:/.test(reference) ? reference : iri + reference.replace('+', '');
const termOf = (term: string, iri: string): string => (/^["_]/.test(term) ? term : `<${iriOf(term, iri)}>`);
/** Resolves references in triples against the IRI of a resource. */
export const absolute = (triples: readonly Triple[], iri: string): Triple[] =>
  triples.map(([s, p, o]): Triple => [termOf(s, iri), `<${p}>`, termOf(o, iri)]);
export const ntriples = (triples: readonly Triple[]): string => triples.map((each) => `${each.join(' ')} .\n`).join('');

function jsonld(triples: readonly Triple[]): string {
  const node = (term: string): object => ({ '@id': term.replace(/^<|>$/g, '') });
  const value = (term: string): object => {
    const [, text, language, datatype] = /^"(.*)"(?:@(.+)|\^\^<(.+)>)?$/.exec(term)!;
    return { '@value': text, ...(language && { '@language': language }), ...(datatype && { '@type': datatype }) };
  };
  return JSON.stringify(
    triples.map(([s, p, o]) => ({ ...node(s), [p.slice(1, -1)]: o.startsWith('"') ? value(o) : node(o) })),
  );
}

function rdfxml(triples: readonly Triple[]): string {
  const reference = (term: string, attribute: string): string =>
    term.startsWith('_:') ? `rdf:nodeID="${term.slice(2)}"` : `rdf:${attribute}="${term.slice(1, -1)}"`;
  const property = (p: string, o: string): string => {
    const [, space, name] = /^<(.*[#/])([^#/]+)>$/.exec(p)!;
    const [, text, language, datatype] = /^"(.*)"(?:@(.+)|\^\^<(.+)>)?$/.exec(o) ?? [];
    const type = (language ? ` xml:lang="${language}"` : '') + (datatype ? ` rdf:datatype="${datatype}"` : '');
    const tag = `<x:${name} xmlns:x="${space}"`;
    return text === undefined ? `${tag} ${reference(o, 'resource')}/>` : `${tag}${type}>${text}</x:${name}>`;
  };
  const nodes = triples.map(
    ([s, p, o]) => `<rdf:Description ${reference(s, 'about')}>${property(p, o)}</rdf:Description>`,
  );
  return `<rdf:RDF xmlns:rdf="${rdfType.slice(0, -4)}">${nodes.join('')}</rdf:RDF>`;
}

/** Returns the triples in a syntax. JSON and binary content asserts no triples. */
export const contentOf = (format: Format, triples: readonly Triple[]): [content: string, mediaType: string] => {
  if (format === 'jsonld') return [jsonld(triples), 'application/ld+json'];
  if (format === 'rdfxml') return [rdfxml(triples), 'application/rdf+xml'];
  if (format === 'ntriples') return [ntriples(triples), 'application/n-triples'];
  if (format === 'json') return [JSON.stringify({ '@id': '', '@type': 'https://v.example/T' }), 'application/json'];
  if (format === 'binary') return [ntriples(triples), 'text/plain'];
  return [ntriples(triples), format === 'trig' ? 'application/trig' : 'text/turtle'];
};

/** Returns Turtle with references, for a resource without a known name. */
export const relativeTurtle = (triples: readonly Triple[]): string =>
  triples.map((each) => `${each.map((term) => (/^["_]/.test(term) ? term : `<${term}>`)).join(' ')} .`).join('\n');
