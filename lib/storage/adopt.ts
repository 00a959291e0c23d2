/** Whose a store is: the format and the storage IRI that it was made for. It must not know what it holds. */
import { existsSync } from 'node:fs';
import type { Blobs } from './blobs.js';
import { type Level, writeBatch } from './durable-level.js';
import { assertKnown, storeFormat } from './format.js';
import { allBlobs, metaKey } from './records.js';

/**
 * Before the folder of blobs is made: a store that refers to blobs has one.
 * @throws Error when it is missing, because to make it would hide the loss
 */
export async function assertBlobs(level: Level, blobs: Blobs): Promise<void> {
  if (existsSync(blobs.folder) || (await level.get(metaKey('restoring'))) !== undefined) return;
  for await (const _key of level.keys({ ...allBlobs(), limit: 1 }))
    throw new Error(
      'The database (level/) refers to contents of JSON and binary resources, and the folder blobs/ beside it is missing. Restore ' +
        'blobs/ from a backup. To go on without these contents make an empty folder blobs/: "quadpod check" then names what has lost its.',
    );
}

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
    const fill = (batch: { put(key: string, value: string): unknown }) => batch.put(metaKey('version'), storeFormat);
    await writeBatch(level, fill, () => [metaKey('storage'), storage]);
    return;
  }
  assertKnown(version);
  const owner = await level.get(metaKey('storage'));
  if (owner !== storage)
    throw new Error(
      `The storage was made for ${owner}, and lws.base-uri says ${storage}. The IRIs of all resources begin with it, ` +
        'so it does not change by itself: set lws.base-uri back, choose another lws.data-dir, or move the storage: with the old address ' +
        `"quadpod backup DIR", then into an empty lws.data-dir "quadpod restore DIR --rewrite ${owner}=${storage}".`,
    );
}
