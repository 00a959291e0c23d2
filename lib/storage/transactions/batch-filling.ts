/** Converts the changes of a transaction to batch operations. */

import { yieldToEventLoop } from '../../tools/event-loop.js';
import { blobKey, garbageKey, recordKey, writeRecord } from '../keys/records.js';
import type { BatchWriter } from '../level/durable-level.js';
import { after } from './prepared-changes.js';
import type { Transaction } from './transaction.js';

const quadsAtATime = 250;
const none = { bytes: 0, quads: 0, records: 0, entries: 0, postings: 0, graphs: 0 };

/** Returns a test for records that a later transaction of the batch also writes, mostly records of the same container. */
export function outdatedIn(
  group: readonly { readonly transaction: Transaction }[],
): (iri: string, transaction: Transaction) => boolean {
  if (group.length < 2) return () => false;
  const last = new Map<string, Transaction>();
  for (const { transaction } of group) for (const iri of transaction.records.keys()) last.set(iri, transaction);
  return (iri, transaction) => last.get(iri) !== transaction;
}

/** Writes the changes of a transaction that are not in the batch yet, in slices that yield to the event loop. */
export async function fillBatch(
  batch: BatchWriter,
  transaction: Transaction,
  isOutdated: ReturnType<typeof outdatedIn> = () => false,
): Promise<void> {
  const done = transaction.prepared ?? none;
  let records = 0;
  for (const [iri, record] of after(transaction.records, done.records)) {
    if (++records % quadsAtATime === 0) await yieldToEventLoop();
    if (isOutdated(iri, transaction)) continue;
    if (record) batch.put(recordKey(iri), writeRecord(record));
    else batch.del(recordKey(iri));
  }
  for (const blobs of [transaction.addedBlobs, transaction.movedBlobs])
    for (const [blob, iri] of blobs) batch.put(blobKey(blob), iri);
  for (const blob of transaction.removedBlobs) {
    batch.del(blobKey(blob));
    batch.put(garbageKey(blob), '');
  }
  let entries = 0;
  for (const part of ['entries', 'postings'] as const)
    for (const [key, value] of after(transaction[part], done[part])) {
      if (++entries % quadsAtATime === 0) await yieldToEventLoop();
      if (value === null) batch.del(key);
      else batch.put(key, value);
    }
  let quads = 0;
  const graphs = [...after(transaction.graphs, done.graphs), ...transaction.hidden];
  for (const [, change] of graphs) {
    if ('isPartners' in change) continue;
    const { added, removed } = change;
    for (const [keys, isAdded] of [
      [removed, false],
      [added, true],
    ] as const)
      for (const key of keys) {
        if (isAdded) batch.put(key, '');
        else batch.del(key);
        if (++quads % quadsAtATime === 0) await yieldToEventLoop();
      }
  }
}

/** Returns the change of the quad count by a transaction. */
export function quadsChange(transaction: Transaction): number {
  const { graphs, hidden, prepared = none } = transaction;
  let quads = prepared.quads + transaction.uncounted;
  for (const { added, removed } of hidden.values()) quads += added.length - removed.length;
  // Staged graphs are counted when their quads are written.
  for (const [, { added, removed, triples, isPartners, isPart }] of after(graphs, prepared.graphs))
    quads += isPartners || isPart ? triples.after - triples.before : added.length - removed.length;
  return quads;
}

/** Approximate size of a record in bytes. */
const recordBytes = 500;

/** Returns the approximate size of a transaction's batch, in bytes. */
export function sizeOfBatch(transaction: Transaction): number {
  const { records, entries, postings, graphs, hidden, batchWriter, prepared = none } = transaction;
  let size = prepared.bytes + (records.size - prepared.records) * recordBytes + (batchWriter?.bytes ?? 0);
  for (const [key, value] of after(entries, prepared.entries)) size += key.length + (value?.length ?? 0);
  for (const [key] of after(postings, prepared.postings)) size += key.length;
  for (const [, { added, removed }] of [...after(graphs, prepared.graphs), ...hidden])
    for (const keys of [added, removed]) for (const key of keys) size += key.length;
  return size;
}
