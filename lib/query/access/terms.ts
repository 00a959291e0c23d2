/** Terms in the query engine, as strings that are slices of keys. Two strings are equal if and only if the terms are. */
import type { BlankNode, Literal, NamedNode, Quad, Term } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import { isAbsoluteIri } from '../../rdf/iri.js';
import { keyOfTriple, separator, suffixLengths } from '../../storage/keys/key-layout.js';
import { directionalLanguage, spansOfKey, termOfKey } from '../../storage/keys/quad-decoding.js';
import { encodeTerm } from '../../storage/keys/quad-keys.js';
import { LwsError } from '../../tools/errors.js';

/**
 * Term as a string. An IRI is the string itself. Any other term is U+0001, its type and lengths (as at the end of a key), and
 * its text (as in the front part of a key).
 */
export type TermKey = string;

export const mark = '\u0001';

export const isIri = (token: TermKey): boolean => !token.startsWith(mark);
export const isBlank = (token: TermKey): boolean => token.charCodeAt(1) === 49 && token.startsWith(mark);
export const isTriple = (token: TermKey): boolean => token.charCodeAt(1) === 56 && token.startsWith(mark);

export type TermKind = 'iri' | 'blank' | 'literal' | 'triple';
export const kindOf = (token: TermKey): TermKind =>
  isIri(token) ? 'iri' : isBlank(token) ? 'blank' : isTriple(token) ? 'triple' : 'literal';
/** First text of the range of term keys of each kind, in the order of term keys. */
export const kindStarts: readonly (readonly [text: string, kind: TermKind])[] = [
  [`${mark}1`, 'blank'],
  [`${mark}2`, 'literal'],
  [`${mark}8`, 'triple'],
  [`${mark}9`, 'literal'],
  ['\u0002', 'iri'],
];

/** First characters of the term keys of strings without a language. */
export const stringMark = `${mark}3`;

/** Returns the start of a string's term key, before the text. Strings of the same length have the same start. */
export const headOfString = (token: TermKey): string => token.slice(0, 1 + suffixLengths['3']!);

/** Returns the text of a term, as in the front part of a key. */
export const rawOf = (token: TermKey): string => (isIri(token) ? token : token.slice(1 + suffixLengths[token[1]!]!));

/** Returns the type letter and the lengths of a term, as at the end of a key. */
export const suffixOf = (token: TermKey): string =>
  isIri(token) ? `0${token.length.toString(36).padStart(4, '0')}` : token.slice(1, 1 + suffixLengths[token[1]!]!);

/** Returns the term key of a term. @throws LwsError for a term that cannot be stored; IRIs are not checked */
export function termKey(term: Term): TermKey {
  if (term.termType === 'NamedNode') return term.value;
  const { value, suffix } = encodeTerm(term);
  return mark + suffix + value;
}

/**
 * Returns the term key of a constant that may be stored.
 * @throws LwsError as `termKey`, and `malformed-body` for a relative IRI
 */
export function storedToken(term: Term): TermKey {
  if (term.termType === 'NamedNode' && !isAbsoluteIri(term.value))
    throw new LwsError('malformed-body', `<${term.value.slice(0, 200)}> is not an absolute IRI.`);
  return termKey(term);
}

const factory = new DataFactory<Quad>();

export interface LiteralParts {
  readonly text: string;
  /** IRI of the datatype. `undefined` for strings, with or without a language. */
  readonly datatype: string | undefined;
  /** Language tag, with `--` and the base direction if the literal has one. */
  readonly language: string | undefined;
}

/** Returns the parts of a literal's term key. */
export function literalParts(token: TermKey): LiteralParts {
  const type = token[1]!;
  const start = 1 + suffixLengths[type]!;
  if (type === '3') return { text: token.slice(start), datatype: undefined, language: undefined };
  const second = start + (type === '5' || type === '7' ? lengthAt(token, 10) + separator.length : 0);
  const third = second + lengthAt(token, 6) + separator.length;
  const qualifier = token.slice(second, third - separator.length);
  const text = token.slice(third);
  return type === '4' || type === '9'
    ? { text, datatype: undefined, language: qualifier }
    : { text, datatype: qualifier, language: undefined };
}

const lengthAt = (token: TermKey, at: number): number => Number.parseInt(token.slice(at, at + 4), 36);

export function termOf(token: TermKey): NamedNode | BlankNode | Literal | Quad {
  if (isIri(token)) return factory.namedNode(token);
  if (isBlank(token)) return factory.blankNode(token.slice(6));
  if (isTriple(token)) return tripleOf(token);
  const { text, datatype, language } = literalParts(token);
  if (language !== undefined)
    return factory.literal(text, language.includes('--') ? directionalLanguage(language) : language);
  return datatype === undefined ? factory.literal(text) : factory.literal(text, factory.namedNode(datatype));
}

function tripleOf(token: TermKey): Quad {
  const key = keyOfTriple(rawOf(token));
  const [subject, predicate, object] = spansOfKey(key)
    .slice(1)
    .map((span) => termOfKey(key, span));
  return factory.quad(subject as never, predicate as never, object as never);
}

/** Maximum count of cached IRIs in a `termCache`. */
const maxNodes = 10_000;

/** Returns a function like `termOf` that caches repeated IRIs. */
export function termCache(): (token: TermKey) => Term {
  const nodes = new Map<TermKey, Term>();
  return (token) => {
    if (!isIri(token)) return termOf(token);
    let node = nodes.get(token);
    if (!node) {
      if (nodes.size >= maxNodes) nodes.clear();
      node = termOf(token);
      nodes.set(token, node);
    }
    return node;
  };
}

/** Joins term keys to a unique string: IRIs have no control characters, and other term keys contain their lengths. */
export function joinTokens(row: readonly (TermKey | undefined)[], slots: readonly number[]): string {
  if (slots.length === 1) return row[slots[0]!] ?? '\u0002';
  let text = '';
  for (const slot of slots) text += `${row[slot] ?? '\u0002'}\u0000`;
  return text;
}
