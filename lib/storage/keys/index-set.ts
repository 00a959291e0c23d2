/** Indexes of a store's quads: GSPO only while it is small, all four when it has grown, and in between all four up to a key. */
import { compareKeys } from './key-order.js';
import { indexNames, otherKeys } from './quad-keys.js';

const growing = 'growing ';

export class IndexSet {
  /** GSPO only. */
  static readonly one = new IndexSet('one');
  /** All four indexes. */
  static readonly all = new IndexSet('all');

  /** @param last the last GSPO key with entries in all indexes, during a build */
  private constructor(
    /** Stored form (`M orders`). */
    readonly text: string,
    readonly last?: string,
  ) {}

  /** Quads up to and including this GSPO key are in all indexes. */
  static upTo(last: string): IndexSet {
    return new IndexSet(growing + last, last);
  }

  /** @param text absent for a store of an earlier format, which has all indexes */
  static read(text: string | undefined): IndexSet {
    if (text?.startsWith(growing)) return IndexSet.upTo(text.slice(growing.length));
    return text === IndexSet.one.text ? IndexSet.one : IndexSet.all;
  }

  /** True if patterns can be looked up in every index. */
  get isComplete(): boolean {
    return this === IndexSet.all;
  }

  /** Maximum number of keys per quad. */
  get width(): number {
    return this === IndexSet.one ? 1 : 4;
  }

  /** Returns the keys of a quad in the stored indexes other than GSPO. @param key its GSPO key */
  others(key: string): readonly string[] {
    const isInAll = this.last === undefined ? this.isComplete : compareKeys(key, this.last) <= 0;
    return isInAll ? otherKeys(key) : none;
  }

  /** Adds a quad. @param key its GSPO key */
  put(batch: { put(key: string, value: string): unknown }, key: string): void {
    batch.put(key, '');
    for (const other of this.others(key)) batch.put(other, '');
  }

  /** Removes a quad. @param key its GSPO key */
  delete(batch: { del(key: string): unknown }, key: string): void {
    batch.del(key);
    for (const other of this.others(key)) batch.del(other);
  }
}

const none: readonly string[] = [];

const places = { S: 'subject', P: 'predicate', O: 'object', G: 'graph' } as const;
type Place = (typeof places)[keyof typeof places];

/** Indexes with all quads, as named by quadstore's option `indexes`. */
export const quadstoreIndexes = ({ isComplete }: IndexSet): Place[][] =>
  (isComplete ? indexNames : indexNames.slice(0, 1)).map((name) =>
    [...name].map((letter) => places[letter as keyof typeof places]),
  );
