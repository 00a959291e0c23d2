/** JSON-LD parser: `jsonld`, with checks before and after the expansion that reject input which `jsonld` wrongly accepts. */
import type { Quad, Quad_Graph, Quad_Object, Quad_Subject, Term } from '@rdfjs/types';
import type { JsonLdDocument, Options as JsonLdOptions } from 'jsonld';
import { LwsError } from '../tools/errors.js';
import { parseJson } from '../tools/json/json.js';
import { assertExpandable } from './bounds.js';
import { isBounded } from './context-work.js';
import { contextLoader } from './contexts.js';
import { assertNoContextWithin, contextResolver, mergeNested } from './jsonld-contexts.js';
import { literalOf, replaceNumbers, type StandIns, withOwnNumbers } from './jsonld-numbers.js';
import { malformed, type N3Parsing, type RdfDocument } from './n3-documents.js';
import { xsd } from './vocabulary.js';

export interface JsonLdParsing extends N3Parsing {
  readonly base: string;
  /** Context texts by IRI, in addition to shipped ones. */
  readonly contexts: Readonly<Record<string, string>>;
  /** Maximum JSON values in the document. */
  readonly values: number | undefined;
}

/** Parses a JSON-LD document. @throws UnknownContext; LwsError as `parseRdf` */
export async function parseJsonLd(
  text: string,
  { base, factory, contexts, values }: JsonLdParsing,
): Promise<RdfDocument> {
  let document = text.trim() === '' ? [] : parseJson(text, values);
  const replaced = replaceNumbers(text);
  if (replaced) document = JSON.parse(replaced.text);
  if (typeof document !== 'object' || document === null)
    throw malformed('a JSON-LD document must be an object or an array');
  assertExpandable([document, { '@context': Object.values(contexts) }], base, text.length);
  if (!isBounded(document, text.length))
    throw malformed('its contexts define and repeat too many terms for its length. Use a single context at the top');
  // `jsonld` flattens lists of contexts before it calls the resolver, so check them here.
  for (const node of [document].flat() as { readonly '@context'?: unknown }[])
    for (const context of [node?.['@context']].flat()) assertNoContextWithin(context);
  const { default: jsonld } = await import('jsonld');
  // `jsonld` replaces the loader's error for scoped contexts. Keep the original error here.
  let refusal: unknown;
  const documentLoader = contextLoader(contexts, (error) => {
    refusal = error;
  });
  const options = { base, documentLoader, contextResolver: contextResolver(documentLoader) } as JsonLdOptions.Expand;
  try {
    const expanded = await jsonld.expand(document as JsonLdDocument, options);
    guardValues(expanded, replaced?.standIns ?? new Map());
    // biome-ignore lint/suspicious/noExplicitAny: the types of jsonld lack skipExpansion.
    const quads = (await jsonld.toRDF(expanded, { ...options, skipExpansion: true } as any)) as unknown as Quad[];
    return { quads: quads.map((quad) => properQuad(quad, factory)), prefixes: contextPrefixes(document) };
  } catch (error) {
    if (refusal !== undefined || error instanceof LwsError) throw refusal ?? error;
    // Errors with another name are unchecked faults in `jsonld`, such as a TypeError. Their messages do not help a client.
    const isOwn = (error as Error).name.startsWith('jsonld.');
    throw malformed(isOwn ? (error as Error).message : 'its structure is not valid JSON-LD', error);
  }
}

/** Temporary datatype that replaces xsd:double, so that `jsonld` does not change the value. */
const doubleInDisguise = 'urn:quadpod:double';
const double = `${xsd.namespace}double`;

/**
 * Checks an expanded document. Rejects input that `jsonld` accepts, but converts to terms with lists instead of strings.
 * Replaces base directions, which `jsonld` would drop, and doubles given as strings, which it would rewrite ("1" to "1.0E0",
 * other text to "NaN"). JSON numbers stay, except those with stand-ins.
 */
function guardValues(node: unknown, standIns: StandIns): void {
  if (typeof node !== 'object' || node === null) return;
  mergeNested(node as Record<string, unknown>);
  const { '@id': id, '@type': type, '@language': language } = node as Readonly<Record<string, unknown>>;
  if ('@value' in node) {
    if (!isStringOrNone(type)) throw malformed('invalid typed value: the "@type" of a value must be one IRI');
    if (!isStringOrNone(language)) throw malformed('invalid language-tagged value: "@language" must be one string');
    ownNumbers(node as ValueObject, standIns);
    if (node['@type' as never] === double && typeof node['@value'] === 'string')
      Object.assign(node, { '@type': doubleInDisguise });
    if ('@direction' in node) disguiseDirection(node);
    return;
  }
  if (type !== undefined && ('@list' in node || '@set' in node))
    throw malformed('invalid set or list object: "@list" and "@set" cannot have a "@type"');
  if (!isStringOrNone(id) || ![type ?? []].flat().every(isStringOrNone))
    throw malformed('invalid @id or @type value: "@id" must be an IRI, "@type" one or several IRIs');
  for (const value of Object.values(node)) guardValues(value, standIns);
}

/** Prefix of the temporary datatype of literals with a base direction. Direction and language follow the prefix. */
const directionInDisguise = 'urn:quadpod:direction:';

/** Replaces a base direction. @throws LwsError `unsupported-rdf` without a language, which RDF 1.2 requires */
function disguiseDirection(node: { '@language'?: unknown; '@direction'?: unknown }): void {
  const { '@language': language, '@direction': direction } = node;
  delete node['@direction'];
  if (typeof language !== 'string')
    throw new LwsError('unsupported-rdf', 'A value with "@direction" requires "@language" (RDF 1.2 Concepts 3.4).');
  delete node['@language'];
  Object.assign(node, { '@type': `${directionInDisguise}${direction}:${language}` });
}

interface ValueObject {
  '@value': unknown;
  '@type'?: string;
}

/** Restores numbers from their stand-ins, as literals with all digits. @throws LwsError `malformed-body` */
function ownNumbers(node: ValueObject, standIns: StandIns): void {
  const { '@value': value, '@type': type } = node;
  if (standIns.size === 0) return;
  if (type === '@json') node['@value'] = withOwnNumbers(value, standIns);
  const text = typeof value === 'number' && type !== '@json' ? standIns.get(value) : undefined;
  if (text === undefined) return;
  const literal = literalOf(text, type);
  Object.assign(node, { '@value': literal.value, '@type': literal.type });
}

const isStringOrNone = (value: unknown): boolean => typeof value === 'string' || value === undefined || value === null;

/** Converts a quad of `jsonld`, which has plain objects, blank labels with `_:`, and temporary datatypes. */
function properQuad(quad: Quad, factory: N3Parsing['factory']): Quad {
  // `jsonld` drops a triple with an invalid object, but a list would lose an item unnoticed.
  if (!quad.object)
    throw malformed('a list contains a value that is not an absolute IRI: the base is missing or is not an IRI');
  if ((quad.predicate.termType as string) === 'BlankNode')
    throw new LwsError('unsupported-rdf', 'A blank node cannot be a predicate.');
  return factory.quad(
    properTerm(quad.subject, factory) as Quad_Subject,
    factory.namedNode(quad.predicate.value),
    properTerm(quad.object, factory) as Quad_Object,
    properTerm(quad.graph, factory) as Quad_Graph,
  );
}

function properTerm(term: Term, factory: N3Parsing['factory']): Term {
  if (term.termType === 'Literal') {
    const { value, language, datatype } = term;
    if (datatype.value.startsWith(directionInDisguise)) {
      const [direction, own] = datatype.value.slice(directionInDisguise.length).split(':') as ['ltr' | 'rtl', string];
      return factory.literal(value, { language: own, direction });
    }
    const type = datatype.value === doubleInDisguise ? double : datatype.value;
    return factory.literal(value, language || factory.namedNode(type));
  }
  if (term.termType === 'BlankNode') return factory.blankNode(term.value.replace(/^_:/, ''));
  return term.termType === 'DefaultGraph' ? factory.defaultGraph() : factory.namedNode(term.value);
}

/** Returns the entries of an inline context that are simple prefixes. */
function contextPrefixes(document: object): Record<string, string> {
  const prefixes: Record<string, string> = {};
  const contexts = [(document as { '@context'?: unknown })['@context']].flat();
  for (const context of contexts)
    for (const [term, iri] of Object.entries((context as object | null) ?? {}))
      if (typeof iri === 'string' && /^[A-Za-z][\w.-]*$/.test(term) && /^[a-z][\w+.-]*:.*[/#:]$/i.test(iri))
        prefixes[term] = iri;
  return prefixes;
}
