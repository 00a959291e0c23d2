/** Numbers of terms within a layer of an index. Must not depend on quads. */
import { partitionPoint } from '../../tools/collections.js';
import type { TermIds } from './term-ids.js';

/** Number of lookups in a layer after which a bit for each term of the base is worth its memory. */
const manyLookups = 1000;

/** The layer's own numbers, in the order of the texts. `MemoryView.terms` numbers terms outside of the base in order of arrival. */
export class LayerNumbers {
  private lookups = 0;
  /** Bit for each term of the base: set if the layer has it. */
  private bits: Uint32Array | undefined;

  /** @param ids numbers in `terms`, in the order of the texts */
  constructor(
    readonly ids: Uint32Array,
    private readonly terms: TermIds,
  ) {}

  /** Returns the layer's number of a term, or -1 if the layer lacks it. */
  of(id: number): number {
    if (id < this.terms.baseSize && ++this.lookups > manyLookups) {
      this.bits ??= this.bitsOfBase();
      if ((this.bits[id >>> 5]! & (1 << (id & 31))) === 0) return -1;
    }
    const at = partitionPoint(0, this.ids.length, (index) => this.terms.compare(this.ids[index]!, id) < 0);
    return this.ids[at] === id ? at : -1;
  }

  private bitsOfBase(): Uint32Array {
    const { baseSize } = this.terms;
    const bits = new Uint32Array((baseSize >>> 5) + 1);
    for (const id of this.ids) if (id < baseSize) bits[id >>> 5]! |= 1 << (id & 31);
    return bits;
  }
}
