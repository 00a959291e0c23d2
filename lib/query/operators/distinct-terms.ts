/** Returns the distinct terms of one position. Skips from one term to the next, instead of reading all keys of each term. */
import { addNew } from '../../tools/collections.js';
import type { DatasetPart } from '../access/graph-filter.js';
import type { Terms } from '../access/key-reader.js';
import type { TermKey } from '../access/terms.js';
import { type Blocks, type DistinctPlan, onlyPattern, type Row } from '../plan/plan.js';
import { type Execution, emptyRow } from './execution.js';
import { constants } from './pattern-access.js';

/** Yields the distinct terms in blocks. Requires an index for `QuadMatches.distinct` of the position. */
export async function* distinctTerms(
  { matches }: Execution,
  bound: Terms,
  place: number,
  part: DatasetPart,
): AsyncGenerator<TermKey[]> {
  const seen = new Set<TermKey>();
  for await (const tokens of matches.distinct(bound, place, part)) {
    const own = tokens.filter((token) => addNew(seen, token));
    if (own.length > 0) yield own;
  }
}

/** Returns the rows of a DISTINCT of one variable of a pattern, or `undefined` if no index can skip to the next term. */
export function distinctTermsOf(execution: Execution, { input, slots }: DistinctPlan): Blocks | undefined {
  const pattern = onlyPattern(input);
  if (!pattern) return undefined;
  const { places, part, wanted } = pattern;
  const [place] = wanted;
  if (wanted.length !== 1 || slots.length !== 1 || place === undefined) return undefined;
  const { slot } = places[place] as { slot: number };
  const bound = constants(pattern);
  if (slot !== slots[0] || !canLeap(bound, place)) return undefined;
  async function* rows(): AsyncGenerator<Row[]> {
    for await (const tokens of distinctTerms(execution, bound, place!, part))
      yield tokens.map((token) => {
        const row = emptyRow(execution);
        row[slot] = token;
        return row;
      });
  }
  return rows();
}

/** True for predicates and graphs of all quads, and predicates of a subject. `distinct` compares these IRIs as strings. */
const canLeap = (bound: Terms, place: number): boolean =>
  place === 0 || place === 2 ? false : bound.every((token, at) => token === undefined || (at === 0 && place === 1));
