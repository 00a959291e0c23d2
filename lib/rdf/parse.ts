/** RDF documents in: bytes of any of the six serialisations become triples and a prefix map. It never fetches anything. */
import type { Quad, Quad_Graph, Quad_Object, Quad_Subject, Term } from '@rdfjs/types';
import type { JsonLdDocument, Options as JsonLdOptions } from 'jsonld';
import type { DataFactory } from 'rdf-data-factory';
import { LwsError } from '../errors.js';
import { decodeUtf8, parseJson } from '../json/json.js';
import { relabel } from './blank-nodes.js';
import { assertExpandable, type Bounds, CountingFactory, Expansion, usualBounds } from './bounds.js';
import { isBounded } from './context-work.js';
import { contextLoader } from './contexts.js';
import type { RdfFormat } from './formats.js';
import { isInDefaultGraph, malformed, namedGraph, parseLines, parseN3 } from './n3-documents.js';
import { boundedPrefixes } from './prefixes.js';
import { xsd } from './vocabulary.js';
import { assertHarmlessEntities } from './xml-entities.js';

export interface RdfDocument {
  readonly quads: readonly Quad[];
  readonly prefixes: Readonly<Record<string, string>>;
}

/**
 * Parses a document into one graph; its blank nodes are relabelled.
 * @param base the IRI that relative references resolve against
 * @throws UnknownContext; LwsError `malformed-body` with the line (and column) where it can be said; `named-graph` for triples outside
 *   the default graph (rule 1.8)
 */
export async function parseRdf(
  bytes: Uint8Array,
  format: RdfFormat,
  { base, bounds = usualBounds, contexts = {} }: ParseOptions,
): Promise<RdfDocument> {
  const text = format === 'application/rdf+xml' ? decodeXml(bytes) : decodeUtf8(bytes);
  const factory = new CountingFactory(new Expansion(bytes.length, bounds));
  const { quads, prefixes } = await parsers[format](text, { base, factory, contexts });
  if (!quads.every(isInDefaultGraph)) throw namedGraph();
  return { quads: relabel(quads), prefixes: boundedPrefixes(prefixes) };
}

export interface ParseOptions {
  readonly base: string;
  readonly bounds?: Bounds | undefined;
  /** JSON-LD contexts that were fetched for the document, as strings by IRI, beside those that ship. */
  readonly contexts?: Readonly<Record<string, string>> | undefined;
}

interface Parsing {
  readonly base: string;
  readonly contexts: Readonly<Record<string, string>>;
  readonly factory: DataFactory<Quad>;
}

const parsers: Readonly<Record<RdfFormat, (text: string, parsing: Parsing) => RdfDocument | Promise<RdfDocument>>> = {
  'text/turtle': (text, parsing) => parseN3(text, 'text/turtle', parsing),
  'application/trig': (text, parsing) => parseN3(text, 'application/trig', parsing),
  'application/n-triples': (text, parsing) => parseLines(text, 'application/n-triples', parsing),
  'application/n-quads': (text, parsing) => parseLines(text, 'application/n-quads', parsing),
  'application/ld+json': parseJsonLd,
  'application/rdf+xml': parseRdfXml,
};

async function parseJsonLd(text: string, { base, factory, contexts }: Parsing): Promise<RdfDocument> {
  const document = text.trim() === '' ? [] : parseJson(text);
  if (typeof document !== 'object' || document === null) throw malformed('a JSON-LD document is an object or an array');
  assertExpandable([document, { '@context': Object.values(contexts) }], base, text.length);
  if (!isBounded(document, text.length))
    throw malformed('its contexts define and repeat too many terms for its length: write them as one, at the top');
  const { default: jsonld } = await import('jsonld');
  // `jsonld` loses what its loader throws, where a context is scoped.
  let refusal: unknown;
  const documentLoader = contextLoader(contexts, (error) => {
    refusal = error;
  });
  const options = { base, documentLoader } as JsonLdOptions.Expand;
  try {
    const expanded = await jsonld.expand(document as JsonLdDocument, options);
    guardValues(expanded);
    // biome-ignore lint/suspicious/noExplicitAny: the types of jsonld lack skipExpansion.
    const quads = (await jsonld.toRDF(expanded, { ...options, skipExpansion: true } as any)) as unknown as Quad[];
    return { quads: quads.map((quad) => properQuad(quad, factory)), prefixes: contextPrefixes(document) };
  } catch (error) {
    throw refusal ?? (error instanceof LwsError ? error : malformed((error as Error).message, error));
  }
}

/** Stands in for xsd:double between `jsonld` and us. */
const doubleInDisguise = 'urn:quadpod:double';
const double = `${xsd.namespace}double`;

/**
 * Looks at every value of an expanded document: base directions are refused, and doubles are disguised, because `jsonld`
 * would rewrite their lexical form ("1" to "1.0E0", and what is no number to "NaN"). Native numbers stay.
 */
function guardValues(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  if ('@direction' in node)
    throw new LwsError('unsupported-rdf', 'Literals with a base direction (@direction) cannot be stored.');
  if ('@value' in node) {
    const value = node as { '@value': unknown; '@type'?: string };
    if (value['@type'] === double && typeof value['@value'] === 'string') value['@type'] = doubleInDisguise;
    return;
  }
  Object.values(node).forEach(guardValues);
}

/** jsonld's terms are bare objects, its labels begin with `_:`, and disguised doubles are among them. */
function properQuad(quad: Quad, factory: DataFactory<Quad>): Quad {
  if ((quad.predicate.termType as string) === 'BlankNode')
    throw new LwsError('unsupported-rdf', 'A blank node cannot be a predicate.');
  return factory.quad(
    properTerm(quad.subject, factory) as Quad_Subject,
    factory.namedNode(quad.predicate.value),
    properTerm(quad.object, factory) as Quad_Object,
    properTerm(quad.graph, factory) as Quad_Graph,
  );
}

function properTerm(term: Term, factory: DataFactory<Quad>): Term {
  if (term.termType === 'Literal') {
    const { value, language, datatype } = term;
    const type = datatype.value === doubleInDisguise ? double : datatype.value;
    return factory.literal(value, language || factory.namedNode(type));
  }
  if (term.termType === 'BlankNode') return factory.blankNode(term.value.replace(/^_:/, ''));
  return term.termType === 'DefaultGraph' ? factory.defaultGraph() : factory.namedNode(term.value);
}

/** The entries of an inline context that are plain prefixes. */
function contextPrefixes(document: object): Record<string, string> {
  const prefixes: Record<string, string> = {};
  const contexts = [(document as { '@context'?: unknown })['@context']].flat();
  for (const context of contexts)
    for (const [term, iri] of Object.entries((context as object | null) ?? {}))
      if (typeof iri === 'string' && /^[A-Za-z][\w.-]*$/.test(term) && /^[a-z][\w+.-]*:.*[/#:]$/i.test(iri))
        prefixes[term] = iri;
  return prefixes;
}

async function parseRdfXml(text: string, { base, factory }: Parsing): Promise<RdfDocument> {
  if (text.trim() === '') return { quads: [], prefixes: {} };
  assertHarmlessEntities(text);
  const { rdfXmlQuads } = await import('./rdfxml-parser.js');
  const quads = await rdfXmlQuads(text, base, factory).catch((error: Error) => {
    throw error instanceof LwsError ? error : malformed(xmlFault(error.message), error);
  });
  return { quads, prefixes: xmlNamespaces(text) };
}

/** What the XML parser and the one of RDF/XML say of a fault, in one form. */
function xmlFault(message: string): string {
  const [, line, column, fault = message] = /^(?:Line )?(\d+)(?::| column )(\d+): (.*)$/s.exec(message) ?? [];
  const what = fault
    .slice(0, 300)
    .replace(/\.$/, '')
    .replace(/^unbound namespace prefix: "(.*)"$/, 'the prefix $1 is not declared: add xmlns:$1="..."');
  return line === undefined ? what : `${what} (line ${line}, column ${column})`;
}

/** XML is in UTF-8 or UTF-16 (XML 1.0, 4.3.3 and appendix F). @throws LwsError `malformed-body` */
function decodeXml(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const isLittle = (first === 0xff && second === 0xfe) || (first === 0x3c && second === 0);
  const isBig = (first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c);
  if (!isLittle && !isBig) return decodeUtf8(bytes);
  try {
    return new TextDecoder(isLittle ? 'utf-16le' : 'utf-16be', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw malformed('it is no UTF-16', cause);
  }
}

/** The namespaces declared on the document element. */
function xmlNamespaces(text: string): Record<string, string> {
  const prefixes: Record<string, string> = {};
  const element = /<[A-Za-z_][^<>]*>/.exec(text.slice(0, 16_384))?.[0] ?? '';
  for (const [, prefix, , iri] of element.matchAll(/\sxmlns:([A-Za-z][\w.-]*)\s*=\s*(["'])([^"'<&]*)\2/g))
    prefixes[prefix!] = iri!;
  return prefixes;
}
