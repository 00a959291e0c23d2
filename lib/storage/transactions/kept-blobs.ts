/** Keeps the blobs of earlier states in transactions, also in those of other servers, and removes blobs that nothing refers to. */
import { featuresKey, readFeatures, versionsFeature } from '../keys/features.js';
import { isKeptBlob, keptBlobKey, readKeptBlob } from '../keys/kept-blobs.js';
import { partsOfEntry } from '../keys/records.js';
import type { Transaction } from './transaction.js';

/** Returns true if the storage has earlier states of resources. */
export const hasVersions = (view: Pick<Transaction, 'derived'>): boolean =>
  view.derived(featuresKey, readFeatures)?.has(versionsFeature) === true;

/** Keeps the removed blobs that earlier states refer to. Called after all other changes of the transaction are staged. */
export function settleKeptBlobs(tx: Transaction): void {
  if (!hasVersions(tx)) return;
  for (const blob of [...tx.removedBlobs]) {
    const value = tx.entry(keptBlobKey(blob));
    if (value === undefined) continue;
    tx.removedBlobs.delete(blob);
    const { isShared: _, ...kept } = readKeptBlob(value);
    if (!kept.isFree) tx.putEntry(keptBlobKey(blob), JSON.stringify(Object.assign(kept, { isFree: true })));
  }
  for (const [key, value] of tx.entries) {
    if (value !== null || !isKeptBlob(key)) continue;
    const before = tx.before.entry(key);
    if (before !== undefined && readKeptBlob(before).isFree) tx.removedBlobs.add(partsOfEntry(key)[1]!);
  }
}
