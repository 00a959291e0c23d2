import { type IriRange, isInRanges } from '../../storage/keys/iri-ranges.js';

/** Rounds to a power of two. Counts include unreadable quads, whose small changes must not change join orders. */
export const roughly = (count: number): number => 2 ** Math.round(Math.log2(Math.max(1, count)));

/** Statistics of a pattern with given constants. A value is `undefined` until it is computed. */
export interface PatternCounts {
  estimate: number | undefined;
  /** Approximate count of matches per term of each position with a variable. */
  fanOut: ReadonlyMap<number, number> | undefined;
}

/** Statistics that later queries over the same quads reuse. */
export interface ViewStatistics {
  /** Identity of the quads. Cached plans refer only to this object, so that `counts` are freed with the view. */
  readonly id: object;
  /** Statistics by the name of the pattern, for at most `maxCounts` patterns. */
  readonly counts: Map<string, PatternCounts>;
}

/** Maximum count of patterns with statistics: about 0.5 MB. */
const maxCounts = 2048;

/** Returns the statistics of a pattern. If there are none, adds an empty entry. */
export function countsNamed(counts: Map<string, PatternCounts>, name: string): PatternCounts {
  let own = counts.get(name);
  if (!own) {
    if (counts.size >= maxCounts) counts.clear();
    own = { estimate: undefined, fanOut: undefined };
    counts.set(name, own);
  }
  return own;
}

/** Maximum count of scopes with statistics. */
const maxScopes = 8;

/**
 * Statistics of readable quads, shared by callers with the same readable graphs, by the ranges of these graphs. They stay valid
 * while other graphs change, so that neither statistics nor their renewal times depend on unreadable data.
 */
export class ScopeStatistics {
  private readonly scopes = new Map<readonly IriRange[], ViewStatistics>();

  /** Returns the statistics of readable graphs. @param ranges the same array for equal ranges (`rememberedGraphRanges`) */
  of(ranges: readonly IriRange[]): ViewStatistics {
    const own = this.scopes.get(ranges) ?? { id: {}, counts: new Map() };
    // The used scope moves to the end, so that the least recently used scope is dropped first.
    this.scopes.delete(ranges);
    this.scopes.set(ranges, own);
    if (this.scopes.size > maxScopes) this.scopes.delete(this.scopes.keys().next().value!);
    return own;
  }

  /** Drops the statistics that include a graph, because the graph has changed. */
  drop(graph: string): void {
    for (const ranges of this.scopes.keys()) if (isInRanges(ranges, graph)) this.scopes.delete(ranges);
  }
}
