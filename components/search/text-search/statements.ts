/** Statements with texts, read from their keys. */
import { hash } from 'node:crypto';
import { directionalLanguage, spansOfKey } from '../../../lib/storage/keys/quad-decoding.js';

/** Receives index entries. */
export type Put = (key: string, value: string) => void;

/** A statement with a string or a text with a language tag as object. */
export interface TextStatement {
  readonly subject: string;
  /** True if the subject is an IRI. */
  readonly isIri: boolean;
  readonly predicate: string;
  readonly text: string;
  /** In lower case; empty for none. */
  readonly language: string;
}

/** Reads a GSPO key. Returns `undefined` if its object is not a text. */
export function textStatement(key: string, spans = spansOfKey(key)): TextStatement | undefined {
  const [, subject, predicate, object] = spans;
  const { type } = object!;
  if (type !== '3' && type !== '4' && type !== '9') return undefined;
  const qualifier = key.slice(object!.qualifierAt, object!.qualifierEnd);
  return {
    subject: key.slice(subject!.from, subject!.end),
    isIri: subject!.type === '0',
    predicate: key.slice(predicate!.from, predicate!.end),
    text: key.slice(object!.textAt, object!.end),
    language: (type === '9' ? directionalLanguage(qualifier).language : qualifier).toLowerCase(),
  };
}

const longestFragment = 12;

/**
 * Returns the place of a statement in its graph: a hash, and how to find the subject. `#…`: that fragment of the resource,
 * `!`: in an entry (`subjectSpace`), otherwise the resource itself.
 */
export function statementPlace(iri: string, key: string, [graph, subject] = spansOfKey(key)): string {
  const digest = hash('sha1', key.slice(graph!.end), 'base64url').slice(0, 10);
  const length = subject!.end - subject!.from;
  if (subject!.type !== '0' || !key.startsWith(iri, subject!.from)) return `${digest}!`;
  if (length === iri.length) return digest;
  const isShort = key[subject!.from + iri.length] === '#' && length <= iri.length + longestFragment;
  return digest + (isShort ? key.slice(subject!.from + iri.length, subject!.end) : '!');
}

/** True if a place is that of a statement. */
export const isStatement = (place: string): boolean => place.length > 1;
