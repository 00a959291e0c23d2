/**
 * The quads of one snapshot in memory, as a query sees them: layers, each without the graphs that a later layer replaces. It must
 * not know where they come from.
 */
import type { SortedQuads } from './sorted-quads.js';
import type { TermIds } from './term-ids.js';

export interface Layer {
  readonly quads: SortedQuads;
  /** By the number of a graph: 1 when this layer's quads of it are out of date. Absent: none are. */
  readonly masked: Uint8Array | undefined;
  /** Absent: the numbers in the quads are those of `MemoryView.terms`. */
  readonly numbers: LayerNumbers | undefined;
}

export interface MemoryView {
  readonly terms: TermIds;
  /** Each graph is unmasked in one of them at most. */
  readonly layers: readonly Layer[];
}

/** Numbers of a layer's own, in the order of the texts: `MemoryView.terms` numbers terms that are not in the base in no order. */
export class LayerNumbers {
  /** @param ids the numbers in `terms`, in the order of the texts */
  constructor(
    readonly ids: Uint32Array,
    private readonly terms: TermIds,
  ) {}

  /** The layer's number of a term; -1 when the layer lacks it. */
  of(id: number): number {
    const at = this.first((other) => this.terms.compare(other, id) < 0);
    return this.ids[at] === id ? at : -1;
  }

  private first(isBefore: (id: number) => boolean): number {
    let [low, high] = [0, this.ids.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isBefore(this.ids[middle]!)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
