/**
 * Leaves out duplicates: a triple that stands in several graphs is one triple of the union default graph. Its keys are near each other in an
 * order, so that only the triples whose keys share the part before the graph have to be remembered.
 */
import { addNew } from './collections.js';
import type { KeyReader } from './key-reader.js';

export interface DistinctTriples {
  /** Whether the key that was read last stands for a triple that has not been seen. */
  isNew(reader: KeyReader, key: string): boolean;
}

export function distinctTriples(): DistinctTriples {
  let head = '';
  let first = '';
  const others = new Set<string>();
  // Triples whose copies may lie apart (`KeyReader.isTorn`): remembered for the whole scan.
  const apart = new Set<string>();
  return {
    isNew(reader, key) {
      const { headEnd, rest } = reader;
      if (reader.isTorn) return addNew(apart, `${key.slice(0, headEnd)}\u0000${rest}`);
      if (headEnd !== head.length || !key.startsWith(head)) {
        head = key.slice(0, headEnd);
        first = rest;
        if (others.size > 0) others.clear();
        return true;
      }
      return rest !== first && addNew(others, rest);
    },
  };
}

/** For keys of several scans, each of one graph. */
export function distinctEverywhere(): DistinctTriples {
  const seen = new Set<string>();
  return { isNew: (reader) => addNew(seen, `${reader.token(0)}\u0000${reader.token(1)}\u0000${reader.token(2)}`) };
}
