/** SHA-512 digests of large blobs. A digest is not stored, but computed from the bytes at the first request. */
import { createHash } from 'node:crypto';
import type { ResourceRecord } from '../storage/keys/records.js';
import { lruCache } from '../tools/caches.js';
import { blobStream } from './read.js';
import type { Storage } from './storage.js';

/** Digests by blob name, including computations in progress, so that concurrent requests read a blob once. */
const known = lruCache<Promise<Buffer | undefined>>(10_000);

/** Returns the digest of a resource's blob, or `undefined` if the resource was replaced or deleted. Blobs are immutable. */
export function sha512OfBlob(storage: Storage, record: ResourceRecord): Promise<Buffer | undefined> {
  const name = record.blob!;
  const found = known.get(name) ?? compute(storage, record);
  known.set(name, found);
  // Errors and missing blobs are not cached.
  found.then(
    (digest) => digest ?? known.delete(name),
    () => known.delete(name),
  );
  return found;
}

async function compute(storage: Storage, record: ResourceRecord): Promise<Buffer | undefined> {
  const stream = await blobStream(storage, record);
  if (!stream) return undefined;
  const hash = createHash('sha512');
  for await (const chunk of stream) hash.update(chunk as Buffer);
  return hash.digest();
}
