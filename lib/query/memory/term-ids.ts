/**
 * Maps terms to IDs. The first IDs belong to the terms of the base, which all threads share. Higher IDs belong to terms that
 * only this thread has read, in changed graphs. `compare` compares texts, so that the order is the same in all threads.
 */
import type { TermKey } from '../access/terms.js';
import { TermTable } from './term-table.js';

/** Terms of the base. The IDs have the order of the texts of the terms. */
export interface BaseTerms {
  readonly size: number;
  /** Returns the ID of a term, or -1 if the term is not in the base. */
  idOf(token: TermKey): number;
  /** Returns the count of terms that sort before a string. */
  placeOf(text: string): number;
  termKey(id: number): TermKey;
}

export const noTerms: BaseTerms = {
  size: 0,
  idOf: () => -1,
  placeOf: () => 0,
  termKey(id) {
    throw new Error(`The table has no term ${id}.`);
  },
};

export class TermIds {
  private readonly own = new TermTable();
  private readonly first: number;
  /** For each term outside of the base, count of base terms that sort before it. `undefined` until needed. */
  private readonly places: number[] = [];

  constructor(private readonly base: BaseTerms) {
    this.first = base.size;
  }

  get size(): number {
    return this.first + this.own.size;
  }

  get baseSize(): number {
    return this.first;
  }

  /** Count of terms outside of the base. */
  get ownSize(): number {
    return this.own.size;
  }

  /** Returns the ID of a term, or -1 if no quad has the term. */
  idOf(token: TermKey): number {
    const id = this.base.idOf(token);
    if (id >= 0 || this.own.size === 0) return id;
    const own = this.own.idOf(token);
    return own < 0 ? -1 : this.first + own;
  }

  add(token: TermKey): number {
    const id = this.base.idOf(token);
    return id >= 0 ? id : this.first + this.own.add(token);
  }

  /** Compares two terms by their texts. Within the base, texts have the order of IDs. */
  compare(a: number, b: number): number {
    if (a < this.first && b < this.first) return a - b;
    const between = this.placeOf(a) - this.placeOf(b);
    return between !== 0 ? between : a === b ? 0 : this.own.compare(a - this.first, b - this.first);
  }

  /** Returns the count of base terms that sort before a string, which is the ID of the first other term. */
  baseBelow(text: string): number {
    return this.base.placeOf(text);
  }

  /** Returns the IDs sorted by the texts of their terms. */
  sorted(ids: Iterable<number>): Uint32Array {
    const all = Uint32Array.from(ids).sort();
    const own = all.findIndex((id) => id >= this.first);
    if (own < 0) return all;
    const others = this.own.sorted(all.slice(own).map((id) => id - this.first)).map((id) => id + this.first);
    const merged = new Uint32Array(all.length);
    for (let [i, j, to] = [0, 0, 0]; to < all.length; to++)
      merged[to] = j === others.length || (i < own && this.compare(all[i]!, others[j]!) < 0) ? all[i++]! : others[j++]!;
    return merged;
  }

  /** Returns a sort key: an odd number for a term of the base, otherwise an even number between the keys of its neighbors. */
  private placeOf(id: number): number {
    if (id < this.first) return 2 * id + 1;
    const place = this.places[id - this.first] ?? this.base.placeOf(this.own.termKey(id - this.first));
    this.places[id - this.first] = place;
    return 2 * place;
  }

  termKey(id: number): TermKey {
    return id < this.first ? this.base.termKey(id) : this.own.termKey(id - this.first);
  }
}
