/** Parses RDF documents in any of the six syntaxes into triples and prefixes. Fetches nothing. */
import { LwsError } from '../tools/errors.js';
import { decodeUtf8 } from '../tools/json/json.js';
import { relabel } from './blank-nodes.js';
import { type Bounds, CountingFactory, Expansion, usualBounds } from './bounds.js';
import type { RdfFormat } from './formats.js';
import { type JsonLdParsing as Parsing, parseJsonLd } from './jsonld-parser.js';
import { isInDefaultGraph, malformed, namedGraph, parseLines, parseN3, type RdfDocument } from './n3-documents.js';
import { boundedPrefixes } from './prefixes.js';
import { assertHarmlessEntities } from './xml-entities.js';

/**
 * Parses a document into one graph and relabels its blank nodes.
 * @param base IRI that relative references resolve against
 * @throws UnknownContext; LwsError `malformed-body` with line and column if known; `named-graph` for triples outside the default
 * graph (rule 1.8)
 */
export async function parseRdf(
  bytes: Uint8Array,
  format: RdfFormat,
  { base, bounds = usualBounds, contexts = {} }: ParseOptions,
): Promise<RdfDocument> {
  const text = format === 'application/rdf+xml' ? decodeXml(bytes) : decodeUtf8(bytes);
  const factory = new CountingFactory(new Expansion(bytes.length, bounds));
  const { quads, prefixes } = await parsers[format](text, { base, factory, contexts, values: bounds.values });
  if (!quads.every(isInDefaultGraph)) throw namedGraph();
  return { quads: relabel(quads), prefixes: boundedPrefixes(prefixes) };
}

export interface ParseOptions {
  readonly base: string;
  readonly bounds?: Bounds | undefined;
  /** JSON-LD contexts that were fetched for the document, by IRI, in addition to shipped ones. */
  readonly contexts?: Readonly<Record<string, string>> | undefined;
}

const parsers: Readonly<Record<RdfFormat, (text: string, parsing: Parsing) => RdfDocument | Promise<RdfDocument>>> = {
  'text/turtle': (text, parsing) => parseN3(text, 'text/turtle', parsing),
  'application/trig': (text, parsing) => parseN3(text, 'application/trig', parsing),
  'application/n-triples': (text, parsing) => parseLines(text, 'application/n-triples', parsing),
  'application/n-quads': (text, parsing) => parseLines(text, 'application/n-quads', parsing),
  'application/ld+json': parseJsonLd,
  'application/rdf+xml': parseRdfXml,
};

async function parseRdfXml(text: string, { base, factory }: Parsing): Promise<RdfDocument> {
  if (text.trim() === '') return { quads: [], prefixes: {} };
  assertHarmlessEntities(text);
  const { rdfXmlQuads } = await import('./rdfxml-parser.js');
  const quads = await rdfXmlQuads(text, base, factory).catch((error: Error) => {
    throw error instanceof LwsError ? error : malformed(xmlFault(error.message), error);
  });
  return { quads, prefixes: xmlNamespaces(text) };
}

/** Returns a uniform message for errors of the XML parser and of the RDF/XML parser. */
function xmlFault(message: string): string {
  const [, line, column, fault = message] = /^(?:Line )?(\d+)(?::| column )(\d+): (.*)$/s.exec(message) ?? [];
  const what = fault
    .slice(0, 300)
    .replace(/\.$/, '')
    .replace(/^unbound namespace prefix: "(.*)"$/, 'the prefix $1 is not declared: add xmlns:$1="..."');
  return line === undefined ? what : `${what} (line ${line}, column ${column})`;
}

/** Decodes XML, which is UTF-8 or UTF-16 (XML 1.0, 4.3.3 and appendix F). @throws LwsError `malformed-body` */
function decodeXml(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const isLittle = (first === 0xff && second === 0xfe) || (first === 0x3c && second === 0);
  const isBig = (first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c);
  if (!isLittle && !isBig) return decodeUtf8(bytes);
  try {
    return new TextDecoder(isLittle ? 'utf-16le' : 'utf-16be', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw malformed('it is not valid UTF-16', cause);
  }
}

/** Returns the namespaces declared on the document element, by prefix. */
function xmlNamespaces(text: string): Record<string, string> {
  const prefixes: Record<string, string> = {};
  const element = /<[A-Za-z_][^<>]*>/.exec(text.slice(0, 16_384))?.[0] ?? '';
  for (const [, prefix, , iri] of element.matchAll(/\sxmlns:([A-Za-z][\w.-]*)\s*=\s*(["'])([^"'<&]*)\2/g))
    prefixes[prefix!] = iri!;
  return prefixes;
}
