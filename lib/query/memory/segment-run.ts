/** Quads that are collected in memory and written as a segment, for a run of an external sort or for changed graphs. */
import { orderPlaces } from '../segments/quad-pages.js';
import { type SegmentFacts, type SegmentName, SegmentWriter } from '../segments/segment.js';
import { NumberedQuads } from './numbered-quads.js';

export class SegmentRun extends NumberedQuads {
  /** Writes the segment. @throws errors of the file system, after removing the file */
  write(name: string, facts: SegmentFacts): SegmentName {
    const { terms, sorted } = this.sort();
    const [text, offsets] = [new Uint8Array(terms.text), new Uint32Array(terms.offsets)];
    const writer = new SegmentWriter(name);
    try {
      writer.writeTerms((to) => {
        for (let id = 0; id < terms.count; id++) to.add(text, offsets[id]!, offsets[id + 1]!);
      });
      for (let order = 0; order < orderPlaces.length; order++)
        writer.writeOrder(order, (to) => {
          const quads = sorted.columns(order);
          for (let i = 0; i < this.count; i++) to.add(quads, i);
        });
      return writer.end({ isUnique: sorted.isUnique, facts });
    } catch (error) {
      writer.abandon();
      throw error;
    }
  }
}
