/**
 * Removes duplicates: a triple in several graphs is one triple of the union default graph. Its keys are close together in an
 * index, so only triples whose keys have the same part before the graph must be remembered.
 */
import { addNew } from './collections.js';
import type { KeyReader } from './key-reader.js';

export interface DistinctTriples {
  /** Returns true if the triple of the last read key is new. */
  isNew(reader: KeyReader, key: string): boolean;
}

export function distinctTriples(): DistinctTriples {
  let head = '';
  let first = '';
  const others = new Set<string>();
  // Triples whose copies may not be close together (`KeyReader.isTorn`), remembered for the whole scan.
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

/** Removes duplicates across several scans, each of one graph. */
export function distinctEverywhere(): DistinctTriples {
  const seen = new Set<string>();
  return { isNew: (reader) => addNew(seen, `${reader.token(0)}\u0000${reader.token(1)}\u0000${reader.token(2)}`) };
}
