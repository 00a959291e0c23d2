/** Checks that a store and its blobs belong to this storage: the format, and the storage IRI that they were made for. */
import type { BlobLocation, Blobs } from '../blobs/blobs.js';
import { blobsAt } from '../blobs/blobs-at.js';
import { IndexSet } from '../keys/index-set.js';
import { allBlobs, metaKey } from '../keys/records.js';
import { type BatchWriter, type Level, StoreUnavailableError, writeBatch } from '../level/durable-level.js';
import { assertKnown, newFacts } from './format.js';

/**
 * Opens the blobs of a store, and checks that the blobs and the store belong to this storage.
 * @throws Error as `adopt`; when the store refers to blobs and their place is missing, because making an empty one would hide the loss
 */
export async function adoptBlobs(level: Level, location: BlobLocation, storage: string): Promise<Blobs> {
  const blobs = await blobsAt(location);
  try {
    if (!(await blobs.exists())) await assertNoneNeeded(level, blobs);
    await blobs.open(storage);
    await adopt(level, storage, blobs);
    return blobs;
  } catch (error) {
    await blobs.close();
    throw error;
  }
}

async function assertNoneNeeded(level: Level, blobs: Blobs): Promise<void> {
  if ((await level.get(metaKey('restoring'))) !== undefined) return;
  for await (const _key of level.keys({ ...allBlobs(), limit: 1 }))
    throw new Error(
      blobs.isShared
        ? `The database (level/) refers to contents of JSON and binary resources, and ${blobs.name}, which lws.blobs names, has none. ` +
            'Set lws.blobs back to where they are; "quadpod backup" and "quadpod restore" move them.'
        : 'The database (level/) refers to contents of JSON and binary resources, and the folder blobs/ beside it is missing. Restore ' +
            'blobs/ from a backup, or set lws.blobs to where they are. To go on without these contents make an empty folder blobs/: ' +
            '"quadpod check" then names what has lost its.',
    );
}

/**
 * Marks a new store with its format and storage IRI, and checks those of an old one.
 * @throws Error when the store is of another storage or a later version, or when there are blobs and no store that refers to them
 */
async function adopt(level: Level, storage: string, blobs: Blobs): Promise<void> {
  const version = await level.get(metaKey('version'));
  await assertRestored(level);
  if (version === undefined) {
    // A new store would make orphans of all blobs, and hide the loss.
    for await (const _blob of blobs.isNew ? [] : blobs.all())
      throw new Error(
        blobs.isShared
          ? `There are blobs in ${blobs.name}, and the database (level/) is missing or empty. Restore level/ from a backup, or choose another lws.blobs.`
          : 'The data directory has a blobs/ folder with content, and its database (level/) is missing or empty. Restore level/ from ' +
              'a backup, or choose another lws.data-dir.',
      );
    const fill = (batch: BatchWriter): void => {
      for (const fact of newFacts(IndexSet.one)) batch.put(...fact);
    };
    await writeBatch(level, fill, () => [metaKey('storage'), storage]);
    return;
  }
  await assertKnown(level, version);
  const owner = await level.get(metaKey('storage'));
  if (owner !== storage)
    throw new Error(
      `The storage was made for ${owner}, and lws.base-uri says ${storage}. The IRIs of all resources begin with it, ` +
        'so it does not change by itself: set lws.base-uri back, choose another lws.data-dir, or move the storage: with the old address ' +
        `"quadpod backup DIR", then into an empty lws.data-dir "quadpod restore DIR --rewrite ${owner}=${storage}".`,
    );
}

/** @throws StoreUnavailableError amid the restore of a back-up */
export async function assertRestored(level: Level): Promise<void> {
  if ((await level.get(metaKey('restoring'))) !== undefined)
    throw new StoreUnavailableError(
      'A back-up is being restored into this folder, or that was broken off. Run the same restore again.',
    );
}
