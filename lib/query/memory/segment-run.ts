/**
 * Collects quads in memory, sorts them and writes them as a segment: a run of an external sort, or the changed graphs of a flush.
 */
import { KeyReader } from '../access/key-reader.js';
import type { TermKey } from '../access/terms.js';
import { newColumns } from '../segments/quad-pages.js';
import { type SegmentFacts, SegmentWriter } from '../segments/segment.js';
import { sortQuads } from './sorted-quads.js';
import { longer, TermTable } from './term-table.js';

export class SegmentRun {
  count = 0;
  private readonly terms = new TermTable();
  private columns = [0, 1, 2, 3].map(() => new Uint32Array(1024));
  /** Outdated quads of older segments: S, P, O and G. */
  private readonly outdated: number[][] = [];
  private readonly reader = new KeyReader('GSPO');
  private readonly ids = [0, 0, 0, 0];
  private readonly tokens: TermKey[] = ['', '', '', ''];

  /** Bytes of the terms. */
  get textBytes(): number {
    return this.terms.textBytes;
  }

  /** @param key GSPO key of a quad @throws TableFullError */
  add(key: string): void {
    const { reader, tokens, ids, terms } = this;
    reader.read(key, '');
    for (let place = 0; place < 4; place++) {
      // Successive keys mostly have the same graph and subject, so their numbers are reused.
      const token = reader.token(place);
      if (this.count > 0 && token === tokens[place]) continue;
      tokens[place] = token;
      ids[place] = terms.add(token);
    }
    if (this.count === this.columns[0]!.length) this.columns = this.columns.map((each) => longer(each, 2 * this.count));
    for (let place = 0; place < 4; place++) this.columns[place]![this.count] = ids[place]!;
    this.count++;
  }

  /** Adds a quad whose copies in older segments are outdated. If it exists now, it is added by `add` as well. @throws TableFullError */
  addTombstone(key: string): void {
    this.reader.read(key, '');
    this.outdated.push([0, 1, 2, 3].map((place) => this.terms.add(this.reader.token(place))));
  }

  /** @throws the file system's error; then nothing is left of the file */
  write(name: string, facts: SegmentFacts): void {
    const { data, numbers } = this.terms.share();
    const columns = this.columns.map((column) => column.subarray(0, this.count));
    for (const column of columns) for (let i = 0; i < this.count; i++) column[i] = numbers[column[i]!]!;
    const sorted = sortQuads(columns, this.count, { most: Math.max(0, data.count - 1) });
    const [text, offsets] = [new Uint8Array(data.text), new Uint32Array(data.offsets)];
    const writer = new SegmentWriter(name);
    try {
      writer.writeTerms((to) => {
        for (let id = 0; id < data.count; id++) to.add(text, offsets[id]!, offsets[id + 1]!);
      });
      for (let order = 0; order < 4; order++) {
        const quads = sorted.columns[order]!;
        writer.writeOrder(order, (to) => {
          for (let i = 0; i < this.count; i++) to.add(quads, i);
        });
        if (order === 0) for (let i = 0; i < this.count; i++) writer.note(quads, i);
      }
      const rows = this.outdated.map((quad) => quad.map((id) => numbers[id]!));
      rows.sort((a, b) => a[3]! - b[3]! || a[0]! - b[0]! || a[1]! - b[1]! || a[2]! - b[2]!);
      const outdated = newColumns(rows.length);
      for (const [i, row] of rows.entries())
        for (let place = 0; place < 4; place++) outdated[place as 0][i] = row[place]!;
      writer.writeTombstones((to) => {
        for (let i = 0; i < rows.length; i++) to.add(outdated, i);
      });
      writer.end(facts);
    } catch (error) {
      writer.abandon();
      throw error;
    }
  }
}
