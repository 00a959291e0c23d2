/**
 * Patterns over all graphs, answered from whichever index has the longest bound prefix; the rest is checked on each
 * quad. It must not know who asks: a caller that serves clients filters graphs itself.
 */
import type { Quad, Term } from '@rdfjs/types';
import { keyBlocks, type Level, type LevelSnapshot } from './durable-level.js';
import { decodeKeys, encodeTerm, type IndexName, indexNames, separator } from './quad-keys.js';
import { type KeyRange, rangeOf } from './records.js';

export interface QuadPattern {
  readonly subject?: Term | undefined;
  readonly predicate?: Term | undefined;
  readonly object?: Term | undefined;
  readonly graph?: Term | undefined;
}

const positions = { S: 'subject', P: 'predicate', O: 'object', G: 'graph' } as const;
type Letter = keyof typeof positions;

/** The index with the most bound positions in front, and the range of its keys. */
function planOf(pattern: QuadPattern): { index: IndexName; range: KeyRange } {
  const isBound = (letter: string): boolean => pattern[positions[letter as Letter]] !== undefined;
  const boundPrefix = (index: IndexName): string => {
    let length = 0;
    while (length < 4 && isBound(index[length]!)) length++;
    return index.slice(0, length);
  };
  const index = [...indexNames].sort((a, b) => boundPrefix(b).length - boundPrefix(a).length)[0]!;
  const values = [...boundPrefix(index)].map((letter) => encodeTerm(pattern[positions[letter as Letter]]!).value);
  return { index, range: rangeOf(`${[index, ...values].join(separator)}${separator}`) };
}

/**
 * The quads that match. Terms are compared whole: in the keys an IRI and a literal of the same text differ only behind
 * all values, and a scan by values alone returns both.
 */
export async function* matchQuads(
  level: Level,
  pattern: QuadPattern,
  options: { snapshot?: LevelSnapshot } = {},
): AsyncGenerator<Quad> {
  for await (const quads of matchQuadBlocks(level, pattern, options)) yield* quads;
}

/** The same in blocks. */
export async function* matchQuadBlocks(
  level: Level,
  pattern: QuadPattern,
  options: { snapshot?: LevelSnapshot } = {},
): AsyncGenerator<Quad[]> {
  const { index, range } = planOf(pattern);
  const bound = Object.values(positions).filter((position) => pattern[position] !== undefined);
  for await (const keys of keyBlocks(level, range, options))
    yield [...decodeKeys(index, keys)].filter((quad) =>
      bound.every((position) => quad[position].equals(pattern[position])),
    );
}

/**
 * How many quads match, exactly up to `limit` (LevelDB's approximate size counts bytes, and nothing that is only in
 * memory yet, so it is never used as a count).
 */
export async function countQuads(
  level: Level,
  pattern: QuadPattern,
  limit = Number.POSITIVE_INFINITY,
): Promise<number> {
  let count = 0;
  for await (const _quad of matchQuads(level, pattern)) if (++count >= limit) break;
  return count;
}
