/** Changes that are written into the batch of a transaction before the transaction is staged. */
import type { PreparedBatch } from '../level/durable-level.js';

/** Batch with the first changes of a transaction. */
export interface PreparedChanges {
  readonly batch: PreparedBatch;
  /** Approximate size of the batch, in bytes. */
  readonly bytes: number;
  /** Change of the count of quads. */
  readonly quads: number;
  /** Counts of the records, entries, postings and graphs that are in the batch: the first ones of the transaction. */
  readonly records: number;
  readonly entries: number;
  readonly postings: number;
  readonly graphs: number;
}

/** Yields the elements of a map, without the first `first` elements. */
export function* after<K, V>(map: ReadonlyMap<K, V>, first: number): Generator<[K, V]> {
  let at = 0;
  for (const each of map) if (at++ >= first) yield each;
}
