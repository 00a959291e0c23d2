/**
 * All keys of a subject, read once for the several patterns of a query that ask for it. It must not know patterns, graphs'
 * readers or queries.
 */
import type { KeyIterators } from './key-iterators.js';
import { keyPrefix } from './key-reader.js';
import { readPrefixes } from './lookups.js';
import type { Token } from './terms.js';

/** A subject with more keys is asked pattern by pattern. */
const mostOfSubject = 256;
/** Keys that are kept. */
const mostKept = 200_000;

export interface SubjectKeys {
  /** Reads the keys of those that are not there yet. */
  load(subjects: Iterable<Token>): Promise<void>;
  /** In the order SPOG; `undefined`: too many. */
  of(subject: Token): readonly string[] | undefined;
}

export function subjectKeys(iterators: KeyIterators): SubjectKeys {
  const known = new Map<Token, readonly string[] | undefined>();
  let kept = 0;
  return {
    async load(subjects) {
      const missing = [...new Set(subjects)].filter((subject) => !known.has(subject));
      if (missing.length === 0) return;
      if (kept > mostKept) {
        known.clear();
        kept = 0;
      }
      const found = new Map<Token, string[]>(missing.map((subject) => [subject, []]));
      const prefixes = missing.map((subject) => {
        const terms = [subject, undefined, undefined, undefined];
        return [keyPrefix(terms, false), found.get(subject)!] as const;
      });
      await readPrefixes(iterators, prefixes, (keys, own) => {
        for (const key of keys) own.push(key);
        return own.length <= mostOfSubject;
      });
      for (const [subject, keys] of found) {
        kept += keys.length;
        known.set(subject, keys.length > mostOfSubject ? undefined : keys);
      }
    },
    of: (subject) => known.get(subject),
  };
}
