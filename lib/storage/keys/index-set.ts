/**
 * Which orders the quads of a store have keys in: GSPO alone while it is small, all four when it has grown, and in between all four up to a
 * key. It must not know LevelDB.
 */
import { compareKeys } from './key-order.js';
import { indexNames, otherKeys } from './quad-keys.js';

const growing = 'growing ';

export class IndexSet {
  /** GSPO alone. */
  static readonly one = new IndexSet('one');
  /** All four. */
  static readonly all = new IndexSet('all');

  /** @param last the last GSPO key whose quad has keys in all orders, where the store is between one and all */
  private constructor(
    /** What the store keeps of it (`M orders`). */
    readonly text: string,
    readonly last?: string,
  ) {}

  /** Quads up to this GSPO key, itself included, have keys in all orders. */
  static upTo(last: string): IndexSet {
    return new IndexSet(growing + last, last);
  }

  /** @param text absent: the store is of an earlier format, which has all orders */
  static read(text: string | undefined): IndexSet {
    if (text?.startsWith(growing)) return IndexSet.upTo(text.slice(growing.length));
    return text === IndexSet.one.text ? IndexSet.one : IndexSet.all;
  }

  /** Patterns can be looked up in every order. */
  get isComplete(): boolean {
    return this === IndexSet.all;
  }

  /** Keys of a quad, at most. */
  get width(): number {
    return this === IndexSet.one ? 1 : 4;
  }

  /** The keys of a quad in the orders other than GSPO that it is kept in. @param key its GSPO key */
  others(key: string): readonly string[] {
    const isInAll = this.last === undefined ? this.isComplete : compareKeys(key, this.last) <= 0;
    return isInAll ? otherKeys(key) : none;
  }

  /** Puts a quad. @param key its GSPO key */
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

/** The orders in which all quads can be found, as quadstore's option `indexes` names them. */
export const quadstoreIndexes = ({ isComplete }: IndexSet): Place[][] =>
  (isComplete ? indexNames : indexNames.slice(0, 1)).map((name) =>
    [...name].map((letter) => places[letter as keyof typeof places]),
  );
