/**
 * Encodes quads as the sorted keys of quadstore; `quad-decoding` decodes them. The server passes a graph around as the array of
 * its GSPO keys, which can be compared and written without decoding.
 *
 * The layout is quadstore's own (`<index>\0\0<a>\0\0<b>\0\0<c>\0\0<d>\0\0<types and lengths><length of that>`), so quadstore
 * itself can open a store. `quad-keys.spec.ts` compares the two (see the README of this layer).
 */
import type { BaseQuad, Literal, Quad, Term } from '@rdfjs/types';
import { assertIriLength, assertTripleDepth, maxTripleDepth, nestedTooDeep } from '../../rdf/bounds.js';
import { hasAbsoluteForm, isAbsoluteIri, isWellFormed } from '../../rdf/iri.js';
import { rdf, xsd } from '../../rdf/vocabulary.js';
import { LwsError } from '../../tools/errors.js';
import { type IriRange, ofPostings } from './iri-ranges.js';
import {
  lengthAt,
  separator,
  firstTermAt as start,
  suffixStart,
  textOfTriple,
  tripleDepth,
  tripleLetter,
} from './key-layout.js';
import { compareKeys, orderOf } from './key-order.js';
import { type KeyRange, rangeOf } from './records.js';

/** First digit of an encoded number: negative infinity, below -1, below 0, 0, below 1, above, infinity, not a number. */
const cases = {
  negativeInfinity: 0,
  large: 1,
  small: 2,
  zero: 3,
  positiveSmall: 4,
  positiveLarge: 5,
  infinity: 6,
  nan: 7,
};

const write = (kind: number, exponent: number, mantissa: number): string =>
  `${kind}${exponent < 100 ? String(exponent).padStart(3, '0') : exponent}${mantissa.toFixed(17)}`;

/** Returns a string that sorts like the number. @param value a lexical form, parsed by `Number.parseFloat` */
function encodeNumber(value: string | number): string {
  const number = typeof value === 'number' ? value : Number.parseFloat(value);
  if (Number.isNaN(number)) return write(cases.nan, 0, 0);
  if (number === Number.NEGATIVE_INFINITY) return write(cases.negativeInfinity, 0, 0);
  if (number === Number.POSITIVE_INFINITY) return write(cases.infinity, 0, 0);
  if (number === 0) return write(cases.zero, 0, 0);
  let mantissa = Math.abs(number);
  let exponent = 0;
  // As in quadstore, a power of ten keeps the mantissa 10, and is sorted incorrectly for this reason.
  for (; mantissa > 10; exponent++) mantissa /= 10;
  for (; mantissa < 1; exponent--) mantissa *= 10;
  if (number < 0)
    return exponent >= 0
      ? write(cases.large, 999 - exponent, 10 - mantissa)
      : write(cases.small, -exponent, 10 - mantissa);
  return exponent < 0
    ? write(cases.positiveSmall, 999 + exponent, mantissa)
    : write(cases.positiveLarge, exponent, mantissa);
}

export { separator };

const numericTypes: ReadonlySet<string> = new Set(
  [
    ...'integer float double decimal nonPositiveInteger negativeInteger long int short'.split(' '),
    ...'byte nonNegativeInteger unsignedLong unsignedInt unsignedShort unsignedByte positiveInteger'.split(' '),
  ].map((name) => xsd.namespace + name),
);
const dateTime = `${xsd.namespace}dateTime`;

/** A term in a key. */
export interface EncodedTerm {
  /** Characters of the term, stored at its position in the key. */
  readonly value: string;
  /** Type letter and lengths, stored at the end of the key. */
  readonly suffix: string;
}

const maximumLength = 1_679_616; // 36^4: what four base-36 digits can say.
const digitsOf = (length: number): string => length.toString(36).padStart(4, '0');
/** Digits of common lengths. */
const usualDigits = Array.from({ length: 500 }, (_, length) => digitsOf(length));
const digits = (length: number): string => {
  const usual = usualDigits[length];
  if (usual !== undefined) return usual;
  if (length >= maximumLength)
    throw new LwsError('unsupported-rdf', `A term has ${length} characters. The limit is ${maximumLength - 1}.`);
  return digitsOf(length);
};

/**
 * Encodes one term.
 * @throws LwsError `unsupported-rdf` for text that is not Unicode (a lone surrogate would be read back as U+FFFD), a triple term
 * that RDF does not allow, and a term that is too long; `malformed-body` for parts that are not valid; `too-large` see `encodeTriple`
 */
export function encodeTerm(term: Term): EncodedTerm {
  const { value } = term;
  assertText(value);
  if (!isWellFormed(value))
    throw new LwsError('unsupported-rdf', 'A term contains a lone surrogate, which is not valid Unicode.');
  switch (term.termType) {
    case 'NamedNode':
      return encodeIri(value);
    case 'BlankNode':
      return { value, suffix: `1${digits(value.length)}` };
    case 'Literal':
      return encodeLiteral(term);
    case 'Quad':
      return encodeTripleTerm(term);
    default:
      throw new LwsError('unsupported-rdf', `A ${term.termType} cannot be stored.`);
  }
}

/** Encodes a triple term from its encoded terms. @throws LwsError `too-large` if it is too deep or too long */
export function encodeTriple(subject: EncodedTerm, predicate: EncodedTerm, object: EncodedTerm): EncodedTerm {
  const value = textOfTriple(keyIn('')(subject, predicate, object));
  if (value.length >= maximumLength)
    throw new LwsError(
      'too-large',
      `A triple term has ${value.length} characters in its key. The limit is ${maximumLength - 1}.`,
    );
  if (object.suffix.startsWith('8') && tripleDepth(value) > maxTripleDepth) throw nestedTooDeep();
  return { value, suffix: `8${digits(value.length)}` };
}

function encodeTripleTerm(term: BaseQuad): EncodedTerm {
  const { subject, predicate, object } = term;
  assertTripleDepth(term);
  if ((subject.termType !== 'NamedNode' && subject.termType !== 'BlankNode') || predicate.termType !== 'NamedNode')
    throw new LwsError(
      'unsupported-rdf',
      'The subject of a triple term must be an IRI or a blank node, and its predicate an IRI.',
    );
  assertLanguage(object);
  return encodeTriple(encodeTerm(subject), encodeTerm(predicate), encodeTerm(object));
}

/**
 * Rejects parts of terms that are not strings. The length of a list, for example, would give a key that decodes to other terms,
 * even in another graph.
 */
function assertText(value: unknown): asserts value is string {
  if (typeof value !== 'string')
    throw new LwsError('malformed-body', 'invalid typed value: a part of a term is not a string.');
}

/** Encodes an IRI. @param value well-formed Unicode */
function encodeIri(value: string): EncodedTerm {
  assertIri(value, hasAbsoluteForm);
  return { value, suffix: `0${digits(value.length)}` };
}

/** Rejects an IRI that no syntax can express. An IRI with U+0000 would also break the key layout. */
function assertIri(value: string, isIri = isAbsoluteIri): void {
  assertIriLength(value);
  if (!isIri(value)) throw new LwsError('malformed-body', `<${value.slice(0, 200)}> is not an absolute IRI.`);
}

function encodeLiteral(literal: Literal): EncodedTerm {
  const { value, language } = literal;
  assertText(language ?? '');
  const { direction } = literal;
  if (direction && !(language && (direction === 'ltr' || direction === 'rtl')))
    throw new LwsError('malformed-body', 'A base direction must be "ltr" or "rtl", and requires a language tag.');
  if (language && !/^[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*$/.test(language))
    throw new LwsError('malformed-body', `"${language.slice(0, 50)}" is not a language tag.`);
  if (language) {
    const qualifier = direction ? `${language}--${direction}` : language;
    const lengths = digits(value.length) + digits(qualifier.length);
    return { value: `${qualifier}${separator}${value}`, suffix: `${direction ? '9' : '4'}${lengths}` };
  }
  const datatype = literal.datatype.value;
  assertText(datatype);
  if (datatype === xsd.string) return { value, suffix: `3${digits(value.length)}` };
  if (numericTypes.has(datatype)) return ordered('5', encodeNumber(value), datatype, value);
  if (datatype === dateTime) return ordered('7', encodeNumber(instantOf(value)), datatype, value);
  assertIri(datatype);
  return { value: `${datatype}${separator}${value}`, suffix: `2${digits(value.length)}${digits(datatype.length)}` };
}

/** Returns the time of a dateTime, in UTC without a zone: unlike in quadstore, keys do not depend on the server's zone. */
const instantOf = (value: string): number => Date.parse(/(?:Z|[+-]\d\d:\d\d)$/.test(value) ? value : `${value}Z`);

const ordered = (type: string, number: string, datatype: string, value: string): EncodedTerm => ({
  value: `${number}${separator}${datatype}${separator}${value}`,
  suffix: `${type}${digits(value.length)}${digits(datatype.length)}${digits(number.length)}`,
});
const quadLength = (length: number): string => `0${digits(length)}`;

/** Returns the prefix of all GSPO keys of a graph. No other key has this prefix, because graph names never contain U+0000. */
export const graphPrefix = (graph: string): string => `GSPO${separator}${graph}${separator}`;

/** Returns the range of the GSPO keys of a graph. */
export const graphRange = (graph: string): KeyRange => rangeOf(graphPrefix(graph));

/** Returns graphs in the order of their keys. */
export const sortGraphs = (graphs: readonly string[]): readonly string[] =>
  graphs
    .map((graph) => [graphPrefix(graph), graph] as const)
    .sort(([a], [b]) => compareKeys(a, b))
    .map(([, graph]) => graph);

/** Returns the range of the GSPO keys of the graphs with names in a range. */
export function keysOfGraphs(range: IriRange): KeyRange {
  // If a bound is directly after a name, it must also be after the keys of that graph.
  const { from, to } = ofPostings(range);
  return { gte: `GSPO${separator}${from}`, lt: `GSPO${separator}${to}` };
}

/** Range of the GSPO keys of all quads. */
export const allQuads = rangeOf(`GSPO${separator}`);

/**
 * Encodes triples as keys in a graph, in LevelDB's order and without duplicates. Ignores the graph of the quads.
 * @returns each triple with its GSPO key
 * @throws LwsError `unsupported-rdf`, `malformed-body`, see `encodeTerm`
 */
export function encodeQuads(graph: string, quads: Iterable<Quad>): { readonly key: string; readonly quad: Quad }[] {
  const keyOf = keyEncoder(graph);
  const found: { readonly key: string; readonly quad: Quad }[] = [];
  for (const quad of quads) found.push({ key: keyOf(quad), quad });
  const order = orderOf(found.map(({ key }) => key));
  // Fast path: the quads of dumps are already sorted.
  const isOrdered = found.every(({ key }, index) => index === 0 || order(found[index - 1]!.key, key) < 0);
  if (isOrdered) return found;
  found.sort((a, b) => order(a.key, b.key));
  return found.filter(({ key }, index) => index === 0 || key !== found[index - 1]!.key);
}

/** Datatypes of literals with a language tag. */
export const needLanguages: ReadonlySet<string> = new Set([rdf.langString, `${rdf.namespace}dirLangString`]);

/** Returns true if a literal lacks the language tag that its datatype requires, which RDF forbids and no syntax can express. */
const lacksLanguage = (term: Term): boolean =>
  term.termType === 'Literal' && term.language === '' && needLanguages.has(term.datatype.value);

function assertLanguage(term: Term): void {
  if (lacksLanguage(term))
    throw new LwsError(
      'unsupported-rdf',
      'A literal of type rdf:langString or rdf:dirLangString requires a language tag (RDF Concepts 3.3).',
    );
}

/** Maximum number of IRIs with cached encoding. */
const maxKnown = 50_000;

/** Returns a function that encodes triples as GSPO keys of a graph. @throws LwsError see `encodeTerm` */
export function keyEncoder(graph: string): (quad: Quad) => string {
  const keyOf = keyIn(graph);
  const iris = new Map<string, EncodedTerm>();
  const encode = (term: Term): EncodedTerm => {
    assertLanguage(term);
    if (term.termType !== 'NamedNode') return encodeTerm(term);
    let encoded = iris.get(term.value);
    if (!encoded) {
      encoded = encodeTerm(term);
      if (iris.size === maxKnown) iris.clear();
      iris.set(term.value, encoded);
    }
    return encoded;
  };
  return (quad) => {
    const s = encode(quad.subject);
    const p = encode(quad.predicate);
    if (s.suffix.charCodeAt(0) === tripleLetter || p.suffix.charCodeAt(0) === tripleLetter)
      throw new LwsError('unsupported-rdf', 'A triple term can only be the object of a triple.');
    return keyOf(s, p, encode(quad.object));
  };
}

/** Returns a function that joins encoded terms to the key of a triple in a graph. */
function keyIn(graph: string): (s: EncodedTerm, p: EncodedTerm, o: EncodedTerm) => string {
  const prefix = graphPrefix(graph);
  const graphSuffix = `0${digits(graph.length)}`;
  // Cache the part up to the subject: triples of one subject are usually adjacent, and each concatenation takes 20 ns.
  let subject: EncodedTerm | undefined;
  let [start, startSuffix] = ['', ''];
  return (s, p, o) => {
    if (s !== subject) [subject, start, startSuffix] = [s, prefix + s.value + separator, graphSuffix + s.suffix];
    const suffix = startSuffix + p.suffix + o.suffix;
    return `${start}${p.value}${separator}${o.value}${separator}${suffix}${quadLength(suffix.length)}`;
  };
}

/** Like `encodeQuads`, but returns only the keys. */
export const encodeGraph = (graph: string, quads: Iterable<Quad>): string[] =>
  encodeQuads(graph, quads).map(({ key }) => key);

/** Returns the ends of the first three terms of a key. The last term extends to the suffix. */
export function layoutOf(key: string): { readonly suffixAt: number; readonly ends: readonly [number, number, number] } {
  const suffixAt = suffixStart(key);
  const first = start + lengthAt(key, suffixAt + 1);
  const second = first + separator.length + lengthAt(key, suffixAt + 6);
  const third = second + separator.length + lengthAt(key, suffixAt + 11);
  return { suffixAt, ends: [first, second, third] };
}

/** Returns the GSPO key of the same triple in another graph. */
export function keyInGraph(gspo: string, graph: string): string {
  const { suffixAt, ends } = layoutOf(gspo);
  return `${graphPrefix(graph)}${gspo.slice(ends[0] + 2, suffixAt)}0${digits(graph.length)}${gspo.slice(suffixAt + 5)}`;
}
