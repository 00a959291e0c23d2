/** Reads statements whose object is a text from their keys. */
import { hash } from 'node:crypto';
import { directionalLanguage, spansOfKey } from '../../../lib/storage/keys/quad-decoding.js';

/** Receives index entries. */
export type Put = (key: string, value: string) => void;

/** Statement whose object is a string or a language-tagged text. */
export interface TextStatement {
  readonly subject: string;
  /** True if the subject is an IRI. */
  readonly isIri: boolean;
  readonly predicate: string;
  readonly text: string;
  /** Language tag in lower case; empty if there is none. */
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
 * Returns the place of a statement in its graph: a hash, and a suffix for the subject. The suffix is `#…` for this fragment of
 * the resource, `!` for a subject in an entry (`subjectSpace`), empty for the resource itself.
 */
export function statementPlace(iri: string, key: string, [graph, subject] = spansOfKey(key)): string {
  const digest = hash('sha1', key.slice(graph!.end), 'base64url').slice(0, 10);
  const length = subject!.end - subject!.from;
  if (subject!.type !== '0' || !key.startsWith(iri, subject!.from)) return `${digest}!`;
  if (length === iri.length) return digest;
  const isShort = key[subject!.from + iri.length] === '#' && length <= iri.length + longestFragment;
  return digest + (isShort ? key.slice(subject!.from + iri.length, subject!.end) : '!');
}

/** True if a place is a statement, not a content, name or linkset. */
export const isStatement = (place: string): boolean => place.length > 1;
