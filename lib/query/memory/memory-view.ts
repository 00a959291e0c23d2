/**
 * The quads of one snapshot in memory, as a query sees them: layers, each without the graphs that a later one has anew. It must
 * not know where they come from.
 */
import type { SortedQuads } from './sorted-quads.js';
import type { TermIds } from './term-ids.js';

export interface Layer {
  readonly quads: SortedQuads;
  /** By the number of a graph: 1 when this layer's quads of it are out of date. Absent: none are. */
  readonly masked: Uint8Array | undefined;
}

export interface MemoryView {
  readonly terms: TermIds;
  /** No graph counts in two of them. */
  readonly layers: readonly Layer[];
}
