/** Reads the writers' output with third-party parsers. Must not depend on the writers. */

import type { Quad } from '@rdfjs/types';
import jsonld from 'jsonld';
import { Parser } from 'n3';
import { RdfXmlParser } from 'rdfxml-streaming-parser';

/** Reads Turtle by the grammar of `format` only, without extensions of N3 or others. */
export function readTurtle(text: string, base: string, format = 'text/turtle'): Quad[] {
  return new Parser({ baseIRI: base, format }).parse(text);
}

/** Reads N-Triples. */
export function readNTriples(text: string): Quad[] {
  return new Parser({ format: 'application/n-triples' }).parse(text);
}

/** Reads RDF/XML without validating IRIs: RDF allows more of them than RFC 3987. */
export function readRdfXml(text: string, base: string): Promise<Quad[]> {
  return new Promise((resolve, reject) => {
    const quads: Quad[] = [];
    const parser = new RdfXmlParser({ baseIRI: base, validateUri: false });
    parser.on('data', (quad: Quad) => quads.push(quad));
    parser.on('error', reject);
    parser.on('end', () => resolve(quads));
    parser.end(text);
  });
}

/** Reads JSON-LD, which must not refer to any remote document. */
export async function readJsonLd(text: string): Promise<Quad[]> {
  const documentLoader = (url: string): never => {
    throw new Error(`The document refers to ${url}`);
  };
  const nquads = await jsonld.toRDF(JSON.parse(text), { documentLoader, format: 'application/n-quads' });
  return new Parser({ format: 'application/n-quads' }).parse(nquads as unknown as string);
}
