/** Whose a store is: the format and the storage IRI that it was made for. It must not know what it holds. */
import type { Blobs } from './blobs.js';
import { type Level, writeBatch } from './durable-level.js';
import { metaKey } from './records.js';

const storeVersion = '1';

/**
 * Marks a new store with its format and storage IRI, and checks those of an old one.
 * @throws Error when it is of another storage or a later version, or when there are blobs and nothing that refers to them
 */
export async function adopt(level: Level, storage: string, blobs: Blobs): Promise<void> {
  const version = await level.get(metaKey('version'));
  if ((await level.get(metaKey('restoring'))) !== undefined)
    throw new Error(
      'A back-up is being restored into this folder, or that was broken off. Run the same restore again.',
    );
  if (version === undefined) {
    // To begin anew would orphan them all, and hide the loss.
    for await (const _blob of blobs.isNew ? [] : blobs.all())
      throw new Error(
        'The data directory has a blobs/ folder with content, and its database (level/) is missing or empty. Restore level/ from ' +
          'a backup, or choose another lws.data-dir.',
      );
    const fill = (batch: { put(key: string, value: string): unknown }) => batch.put(metaKey('version'), storeVersion);
    await writeBatch(level, fill, () => [metaKey('storage'), storage]);
    return;
  }
  if (version !== storeVersion)
    throw new Error(`The storage was written by a later version (format ${version}); this one reads ${storeVersion}.`);
  const owner = await level.get(metaKey('storage'));
  if (owner !== storage)
    throw new Error(
      `The storage was made for ${owner}, and lws.base-uri says ${storage}. The IRIs of all resources begin with it, ` +
        'so it does not change by itself: set lws.base-uri back, choose another lws.data-dir, or move the storage: with the old address ' +
        `"quadpod backup DIR", then into an empty lws.data-dir "quadpod restore DIR --rewrite ${owner}=${storage}".`,
    );
}
