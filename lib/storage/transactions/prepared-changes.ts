/** Changes of a transaction that are in its batch before it is staged. */
import type { PreparedBatch } from '../level/durable-level.js';

/** Changes of a transaction that are in a batch. */
export interface PreparedChanges {
  readonly batch: PreparedBatch;
  /** Approximate size in bytes. */
  readonly bytes: number;
  /** Change of the number of quads. */
  readonly quads: number;
  /** Numbers of records, entries, postings and graphs that are in the batch. Later ones are not. */
  readonly records: number;
  readonly entries: number;
  readonly postings: number;
  readonly graphs: number;
}

/** Yields the elements of a map after the first ones. */
export function* after<K, V>(map: ReadonlyMap<K, V>, first: number): Generator<[K, V]> {
  let at = 0;
  for (const each of map) if (at++ >= first) yield each;
}
