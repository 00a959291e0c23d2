/** Term IDs that are valid within one layer of an index. Must not depend on quads. */
import { partitionPoint } from '../../tools/collections.js';
import type { TermIds } from './term-ids.js';

/** Count of lookups in a layer after which a bitmap of the terms of the base is created. */
const manyLookups = 1000;

/** Maps terms to IDs within a layer. Unlike IDs in `MemoryView.terms`, these IDs have the order of the texts. */
export class LayerNumbers {
  private lookups = 0;
  /** Bitmap of the terms of the base: the bit of a term is set if the layer has the term. */
  private bits: Uint32Array | undefined;

  /** @param ids IDs in `terms` of the layer's terms, in the order of their texts. The array index is the ID in the layer */
  constructor(
    readonly ids: Uint32Array,
    private readonly terms: TermIds,
  ) {}

  /** Returns the layer's ID of a term, or -1 if the layer lacks the term. @param id ID in `terms` */
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
