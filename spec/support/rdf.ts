/** Parses responses with independent parsers and compares graphs. */
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import jsonld from 'jsonld';
import { Parser } from 'n3';
import { RdfXmlParser } from 'rdfxml-streaming-parser';
import { isomorphic } from '../lib/rdf/isomorphism.js';
import type { Answer } from './http.js';

export const rdfTypes = [
  'text/turtle',
  'application/ld+json',
  'application/n-triples',
  'application/rdf+xml',
  'application/trig',
  'application/n-quads',
] as const;

export const mediaType = (answer: Answer): string =>
  (answer.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();

/** Parses text into quads. @throws the error of the parser */
export async function readRdf(text: string, format: string, baseIRI: string): Promise<Quad[]> {
  if (format === 'application/ld+json') {
    const documentLoader = (url: string): never => {
      throw new Error(`the document refers to ${url}`);
    };
    const nquads = await jsonld.toRDF(JSON.parse(text), {
      base: baseIRI,
      documentLoader,
      format: 'application/n-quads',
    });
    return new Parser({ format: 'application/n-quads' }).parse(nquads as unknown as string);
  }
  if (format !== 'application/rdf+xml') return new Parser({ baseIRI, format }).parse(text);
  return new Promise((resolve, reject) => {
    const quads: Quad[] = [];
    const parser = new RdfXmlParser({ baseIRI });
    parser.on('data', (quad: Quad) => quads.push(quad));
    parser.on('error', reject);
    parser.on('end', () => resolve(quads));
    parser.end(text);
  });
}

/** Parses a response according to its media type. */
export const graphOf = (answer: Answer, base: string): Promise<Quad[]> => readRdf(answer.text, mediaType(answer), base);

/** Asserts that a response contains the graph of a Turtle text. */
export async function expectGraph(answer: Answer, base: string, turtle: string): Promise<void> {
  expect(answer.status, answer.text).to.equal(200);
  const actual = await graphOf(answer, base);
  const expected = await readRdf(turtle, 'text/turtle', base);
  expect(isomorphic(actual, expected), `${answer.text}\nis not isomorphic to\n${turtle}`).to.equal(true);
}
