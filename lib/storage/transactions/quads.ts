/**
 * RDF/JS Source of all quads, for components: quadstore's class, which is loaded on first use; or, if the storage has terms of
 * RDF 1.2, which the class cannot decode, our own decoder.
 */
import { Readable } from 'node:stream';
import type { Quad, Source, Stream, Term } from '@rdfjs/types';
import { stagedGraphs } from '../graphs/staged-keys.js';
import { featuresKey, newTerms, readFeatures } from '../keys/features.js';
import { separator } from '../keys/key-layout.js';
import { decodeKeys } from '../keys/quad-decoding.js';
import { allQuads, graphPrefix } from '../keys/quad-keys.js';
import { type KeyRange, rangeOf } from '../keys/records.js';
import { keyBlocks, type Level, type LevelSnapshot } from '../level/durable-level.js';

type Wanted = readonly (Term | null | undefined)[];
const [subjectAt, predicateAt, graphAt] = [0, 1, 3];
const names = ['subject', 'predicate', 'object', 'graph'] as const;

/** Returns the source. Each `match` reads one snapshot, by default a new one. Does not authorize. */
export function quadsOf(level: Level, given?: LevelSnapshot): Source {
  async function* matches(pattern: Wanted): AsyncGenerator<Quad> {
    if (!readFeatures(level.getSync(featuresKey, given ? { snapshot: given } : {})).has(newTerms)) {
      const { QuadReader } = await import('./quad-reader.js');
      yield* new QuadReader(level, given).match(...(pattern as never as [])) as AsyncIterable<Quad>;
      return;
    }
    const wanted = pattern.map((term) => (term?.termType === 'Variable' ? undefined : term));
    const snapshot = given ?? level.snapshot();
    try {
      const hidden = await stagedGraphs(level, snapshot);
      for await (const keys of keyBlocks(level, rangeFor(wanted), { snapshot }))
        for (const quad of decodeKeys(keys))
          if (names.every((name, at) => !wanted[at] || quad[name].equals(wanted[at])) && !hidden.has(quad.graph.value))
            yield quad;
    } finally {
      if (!given) await snapshot.close();
    }
  }
  return { match: (...pattern) => Readable.from(matches(pattern)) as unknown as Stream };
}

/** Returns a range that includes all matching keys, by graph, subject and predicate as far as given in this order. */
function rangeFor(wanted: Wanted): KeyRange {
  const [graph, ...others] = [graphAt, subjectAt, predicateAt].map((at) => wanted[at]?.value);
  if (graph === undefined) return allQuads;
  let prefix = graphPrefix(graph);
  for (const value of others) {
    if (value === undefined) break;
    prefix += value + separator;
  }
  return rangeOf(prefix);
}
