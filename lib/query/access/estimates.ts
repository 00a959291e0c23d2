/** Rounds to a power of two: the size includes closed quads, and small changes of these must not change the order of joins. */
export const roughly = (count: number): number => 2 ** Math.round(Math.log2(Math.max(1, count)));

/** Numbers of matches of a pattern by its constants. Absent ones are not known yet. */
export interface PatternCounts {
  estimate: number | undefined;
  /** Approximate number of matches per term of each position with a variable. */
  fanOut: ReadonlyMap<number, number> | undefined;
}

/** What later queries over the same quads need not estimate again. */
export interface ViewStatistics {
  /** Identity of the quads. Cached plans keep only this, so that `counts` are freed with the view. */
  readonly id: object;
  /** PatternCounts of patterns, of at most `maxCounts` in all. */
  readonly counts: Map<string, PatternCounts>;
}

/** About 1 MB. */
const maxCounts = 4096;

/** Returns the counts of a pattern by its name, new ones if there are none. */
export function countsNamed(counts: Map<string, PatternCounts>, name: string): PatternCounts {
  let own = counts.get(name);
  if (!own) {
    if (counts.size >= maxCounts) counts.clear();
    own = { estimate: undefined, fanOut: undefined };
    counts.set(name, own);
  }
  return own;
}
