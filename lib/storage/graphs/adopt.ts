/** Checks that a store and its blobs belong to this storage: format and storage IRI. */
import type { BlobLocation, Blobs } from '../blobs/blobs.js';
import { blobsAt } from '../blobs/blobs-at.js';
import { allBlobs, metaKey } from '../keys/records.js';
import { type Level, StoreUnavailableError, writeEntries } from '../level/durable-level.js';
import { assertKnown, newFacts } from './format.js';

/**
 * Opens the blob store and checks that blobs and store belong to this storage.
 * @throws Error as `adopt`; also if the store refers to blobs and their location is missing, because creating an empty one would
 * hide the loss
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
        ? `The database (level/) refers to contents of JSON and binary resources, but ${blobs.name} (lws.blobs) has none. ` +
            'Set lws.blobs back to their location. "quadpod backup" and "quadpod restore" move them.'
        : 'The database (level/) refers to contents of JSON and binary resources, but the directory blobs/ beside it is missing. Restore ' +
            'blobs/ from a backup, or set lws.blobs to their location. To continue without these contents, create an empty directory blobs/: ' +
            '"quadpod check" then lists the affected resources.',
    );
}

/**
 * Writes format and storage IRI into a new store, and checks those of an existing one.
 * @throws Error if the store belongs to another storage or a later version, or if there are blobs without a store that refers
 * to them
 */
async function adopt(level: Level, storage: string, blobs: Blobs): Promise<void> {
  const version = await level.get(metaKey('version'));
  await assertRestored(level);
  if (version === undefined) {
    // Creating a new store would leave all blobs unreferenced, and hide the loss of the old one.
    for await (const _blob of blobs.isNew ? [] : blobs.all())
      throw new Error(
        blobs.isShared
          ? `${blobs.name} has blobs, but the database (level/) is missing or empty. Restore level/ from a backup, or choose another lws.blobs.`
          : 'The data directory has a blobs/ directory with content, but its database (level/) is missing or empty. Restore level/ from ' +
              'a backup, or choose another lws.data-dir.',
      );
    return writeEntries(level, newFacts, [metaKey('storage'), storage]);
  }
  await assertKnown(level, version);
  const owner = await level.get(metaKey('storage'));
  if (owner !== storage)
    throw new Error(
      `The storage was created for ${owner}, but lws.base-uri is ${storage}. The IRIs of all resources begin with it. ` +
        'Set lws.base-uri back, choose another lws.data-dir, or move the storage: with the old address ' +
        `"quadpod backup DIR", then into an empty lws.data-dir "quadpod restore DIR --rewrite ${owner}=${storage}".`,
    );
}

/** Asserts that the store is completely restored. @throws StoreUnavailableError during the restore of a backup */
export async function assertRestored(level: Level): Promise<void> {
  if ((await level.get(metaKey('restoring'))) !== undefined)
    throw new StoreUnavailableError(
      'A backup is being restored into this directory, or the restore was interrupted. Run the same restore again.',
    );
}
