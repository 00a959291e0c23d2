/** All keys of a subject, read once for the several patterns of a query that ask for it. */
import type { TermKey } from './terms.js';

/** The keys of a subject that has more are not kept: each pattern reads its own. */
const maxOfSubject = 256;
/** With more keys than these in all, everything is forgotten before the next load. */
const maxKept = 200_000;

export interface SubjectKeys {
  /** Reads the keys of the subjects that are not kept yet. */
  load(subjects: Iterable<TermKey>): Promise<void>;
  /** The subject's keys of the order SPOG; `undefined`: it has too many. */
  of(subject: TermKey): readonly string[] | undefined;
}

/** Collects the keys of a subject. */
export interface SubjectList {
  readonly subject: TermKey;
  /** `false`: the subject has too many keys, and no more are wanted. */
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
