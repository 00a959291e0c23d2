import { type IriRange, isInRanges } from '../../storage/keys/iri-ranges.js';

/** Rounds to a power of two: the size includes unreadable quads, and small changes of these must not change the order of joins. */
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

/** About 0.5 MB. */
const maxCounts = 2048;

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

/** Maximum number of scopes with statistics. */
const maxScopes = 8;

/**
 * Statistics for callers that may read the same graphs, by the ranges of these. They count readable quads only, and stay valid while
 * other graphs change: neither they nor the time at which they are made again depend on what the callers may not read.
 */
export class ScopeStatistics {
  private readonly scopes = new Map<readonly IriRange[], ViewStatistics>();

  /** @param ranges of the names of all readable graphs; equal ranges are the same array (`rememberedGraphRanges`) */
  of(ranges: readonly IriRange[]): ViewStatistics {
    const own = this.scopes.get(ranges) ?? { id: {}, counts: new Map() };
    // The last scope that is used is the last one to be dropped.
    this.scopes.delete(ranges);
    this.scopes.set(ranges, own);
    if (this.scopes.size > maxScopes) this.scopes.delete(this.scopes.keys().next().value!);
    return own;
  }

  /** Drops statistics that count a graph. */
  drop(graph: string): void {
    for (const ranges of this.scopes.keys()) if (isInRanges(ranges, graph)) this.scopes.delete(ranges);
  }
}
