/** Converts between the term key of a triple term (RDF 1.2) and the term keys of its subject, predicate and object. */

import { keyOfTriple } from '../../storage/keys/key-layout.js';
import { encodeTriple } from '../../storage/keys/quad-keys.js';
import { LwsError } from '../../tools/errors.js';
import { KeyReader } from './key-reader.js';
import { isBlank, isIri, isTriple, mark, rawOf, suffixOf, type TermKey } from './terms.js';

export type TripleKeys = readonly [subject: TermKey, predicate: TermKey, object: TermKey];

const reader = new KeyReader();

/** Returns subject, predicate and object of a triple term. */
export function partsOfTriple(token: TermKey): TripleKeys {
  reader.read(keyOfTriple(rawOf(token)));
  return [reader.token(0), reader.token(1), reader.token(2)];
}

/** Returns true if RDF allows the terms as a triple: a literal or a triple term can only be the object. */
export const isAllowed = ([subject, predicate]: TripleKeys): boolean =>
  (isIri(subject) || isBlank(subject)) && isIri(predicate);

/** Returns the triple term of three allowed terms. @throws LwsError `query-limit` if it is nested too deeply or too long */
export function tripleKey(parts: TripleKeys): TermKey {
  const [subject, predicate, object] = parts.map((token) => ({ value: rawOf(token), suffix: suffixOf(token) }));
  try {
    const { value, suffix } = encodeTriple(subject!, predicate!, object!);
    return mark + suffix + value;
  } catch (error) {
    if (!(error instanceof LwsError)) throw error;
    throw new LwsError('query-limit', error.message, { cause: error });
  }
}

/** Returns the blank nodes in a triple term. */
export const blankNodesIn = (token: TermKey): TermKey[] =>
  partsOfTriple(token).flatMap((part) => (isTriple(part) ? blankNodesIn(part) : isBlank(part) ? [part] : []));
