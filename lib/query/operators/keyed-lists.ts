/** Lists by the terms of some slots: the hash tables of joins. Pure. */
import { addTo, getOrMake } from '../../tools/collections.js';
import { joinTokens, type TermKey } from '../access/terms.js';

type Terms = readonly (TermKey | undefined)[];

/**
 * Lists by the term keys at one or more positions of a row. Two positions use two levels of maps, because the text of two joined
 * term keys is copied and hashed for each row, while the hash of a term key is computed once.
 */
export class KeyedLists<T> {
  /** Count of different keys. */
  size = 0;
  /** Lists by the joined term keys, or by the term key of a single position. Empty if there are two positions. */
  readonly lists = new Map<string, T[]>();
  private readonly pairs = new Map<TermKey | undefined, Map<TermKey | undefined, T[]>>();

  /** @param positions count of positions that form a key */
  constructor(private readonly positions: number) {}

  /** Appends an item to the list of the terms of a row at some positions. */
  add(row: Terms, at: readonly number[], item: T): void {
    if (this.positions === 2) {
      const lists = getOrMake(this.pairs, row[at[0]!], () => new Map<TermKey | undefined, T[]>());
      const before = lists.size;
      addTo(lists, row[at[1]!], item);
      this.size += lists.size - before;
    } else {
      addTo(this.lists, joinTokens(row, at), item);
      this.size = this.lists.size;
    }
  }

  /** Returns the list of the terms of a row at some positions. */
  get(row: Terms, at: readonly number[]): readonly T[] | undefined {
    return this.positions === 2 ? this.pairs.get(row[at[0]!])?.get(row[at[1]!]) : this.lists.get(joinTokens(row, at));
  }

  *values(): Generator<T[]> {
    if (this.positions !== 2) yield* this.lists.values();
    else for (const lists of this.pairs.values()) yield* lists.values();
  }
}
