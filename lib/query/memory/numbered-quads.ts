/** Collects quads in memory as term IDs, and sorts them. */
import { KeyReader } from '../access/key-reader.js';
import type { TermKey } from '../access/terms.js';
import { type SortedQuads, sortQuads } from './sorted-quads.js';
import { longer, TermTable, type TermTableData } from './term-table.js';

export class NumberedQuads {
  count = 0;
  private readonly terms = new TermTable();
  /** Columns S, P, O and G, which grow when quads are added. */
  private columns = [0, 1, 2, 3].map(() => new Uint32Array(1024));
  private readonly reader = new KeyReader();
  private readonly ids = [0, 0, 0, 0];
  private readonly tokens: TermKey[] = ['', '', '', ''];

  /** Size of the texts of all terms, in bytes. */
  get textBytes(): number {
    return this.terms.textBytes;
  }

  /** Adds a quad. @param key GSPO key of the quad @throws TableFullError */
  add(key: string): void {
    const { reader, tokens, ids, terms } = this;
    reader.read(key);
    for (let place = 0; place < 4; place++) {
      // Successive keys mostly have the same graph and subject, whose IDs are reused.
      const token = reader.token(place);
      if (this.count > 0 && token === tokens[place]) continue;
      tokens[place] = token;
      ids[place] = terms.add(token);
    }
    if (this.count === this.columns[0]!.length) this.columns = this.columns.map((each) => longer(each, 2 * this.count));
    for (let place = 0; place < 4; place++) this.columns[place]![this.count] = ids[place]!;
    this.count++;
  }

  /** Sorts terms and quads. No quads can be added afterwards. @param isShared true to allocate the columns in shared memory */
  sort({ isShared = false } = {}): { readonly terms: TermTableData; readonly sorted: SortedQuads } {
    const { data, numbers } = this.terms.share();
    for (const column of this.columns) for (let i = 0; i < this.count; i++) column[i] = numbers[column[i]!]!;
    const sorted = sortQuads(this.columns, this.count, { most: Math.max(0, data.count - 1), isShared });
    return { terms: data, sorted };
  }
}
