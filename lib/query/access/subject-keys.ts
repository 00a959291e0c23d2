/** All keys of a subject, read once for the several patterns of a query that ask for it. */
import type { TermKey } from './terms.js';

/** A subject with more keys is asked pattern by pattern. */
const maxOfSubject = 256;
/** Keys that are kept. */
const maxKept = 200_000;

export interface SubjectKeys {
  /** Reads the keys of those that are not there yet. */
  load(subjects: Iterable<TermKey>): Promise<void>;
  /** In the order SPOG; `undefined`: too many. */
  of(subject: TermKey): readonly string[] | undefined;
}

/** The keys of a subject are added to a list, until it takes no more. */
export interface SubjectList {
  readonly subject: TermKey;
  /** `false`: these are too many. */
  add(keys: readonly string[]): boolean;
}

/** @param read reads the keys of many subjects, each into its list */
export function subjectKeys(read: (lists: readonly SubjectList[]) => Promise<void>): SubjectKeys {
  const known = new Map<TermKey, readonly string[] | undefined>();
  let kept = 0;
  return {
    async load(subjects) {
      const missing = [...new Set(subjects)].filter((subject) => !known.has(subject));
      if (missing.length === 0) return;
      if (kept > maxKept) {
        known.clear();
        kept = 0;
      }
      const found = new Map<TermKey, string[]>(missing.map((subject) => [subject, []]));
      const lists = [...found].map(([subject, own]) => ({
        subject,
        add(keys: readonly string[]) {
          for (const key of keys) own.push(key);
          return own.length <= maxOfSubject;
        },
      }));
      await read(lists);
      for (const [subject, keys] of found) {
        kept += keys.length;
        known.set(subject, keys.length > maxOfSubject ? undefined : keys);
      }
    },
    of: (subject) => known.get(subject),
  };
}
