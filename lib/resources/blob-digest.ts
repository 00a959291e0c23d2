/** The SHA-512 of large blobs, which nobody keeps: computed from the bytes, once for each blob. */
import { createHash } from 'node:crypto';
import { lruCache } from '../caches.js';
import type { ResourceRecord } from '../storage/keys/records.js';
import { blobStream } from './read.js';
import type { Storage } from './storage.js';

/** Also those under way, so that a blob is read once, however many ask. */
const known = lruCache<Promise<Buffer | undefined>>(10_000);

/** The digest of a blob, whose name is never used for other bytes; `undefined` when the resource was replaced or deleted since. */
export function sha512OfBlob(storage: Storage, record: ResourceRecord): Promise<Buffer | undefined> {
  const name = record.blob!;
  const found = known.get(name) ?? compute(storage, record);
  known.set(name, found);
  // Neither a fault nor an absence is remembered.
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
