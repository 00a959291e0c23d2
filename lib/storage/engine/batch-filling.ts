/** Turns the changes of a transaction into the operations of a batch. */

import { indexNames, otherKeys } from '../graphs/quad-keys.js';
import { blobKey, garbageKey, recordKey, writeRecord } from '../state/records.js';
import type { BatchWriter } from './durable-level.js';
import type { Transaction } from './transaction.js';

const quadsAtATime = 250;
/** Gives the event loop to other work once. */
export const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Puts a quad in all of its orders. @param key its GSPO key */
export function putQuad(batch: Pick<BatchWriter, 'put'>, key: string): void {
  batch.put(key, '');
  for (const other of otherKeys(key)) batch.put(other, '');
}

/** Writes a transaction's changes into a batch, in slices that leave the event loop to others. */
export async function fillBatch(batch: BatchWriter, transaction: Transaction): Promise<void> {
  for (const [iri, record] of transaction.records) {
    if (record) batch.put(recordKey(iri), writeRecord(record));
    else batch.del(recordKey(iri));
  }
  for (const [blob, iri] of transaction.addedBlobs) batch.put(blobKey(blob), iri);
  for (const blob of transaction.removedBlobs) {
    batch.del(blobKey(blob));
    batch.put(garbageKey(blob), '');
  }
  let entries = 0;
  for (const [key, value] of transaction.entries) {
    if (++entries % quadsAtATime === 0) await breathe();
    if (value === null) batch.del(key);
    else batch.put(key, value);
  }
  let quads = 0;
  for (const { added, removed, ...change } of [...transaction.graphs.values(), ...transaction.hidden.values()]) {
    if ('isPartners' in change) continue;
    for (const [keys, write] of [
      [removed, deleteQuad],
      [added, putQuad],
    ] as const)
      for (const key of keys) {
        write(batch, key);
        if (++quads % quadsAtATime === 0) await breathe();
      }
  }
}

function deleteQuad(batch: BatchWriter, key: string): void {
  batch.del(key);
  for (const other of otherKeys(key)) batch.del(other);
}

/** Bytes of a record, about. */
const recordBytes = 500;

/** About how many bytes a transaction's batch has. */
export function sizeOfBatch({ records, entries, graphs, hidden, partner }: Transaction): number {
  let size = records.size * recordBytes + (partner?.bytes ?? 0);
  for (const [key, value] of entries) size += key.length + (value?.length ?? 0);
  for (const { added, removed } of [...graphs.values(), ...hidden.values()])
    for (const keys of [added, removed]) for (const key of keys) size += key.length * indexNames.length;
  return size;
}
