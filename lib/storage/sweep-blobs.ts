/** What a crash may have left in the blob directory. It must not know resources. */
import type { Blobs } from './blobs.js';
import { keyBlocks, type Level } from './durable-level.js';
import { allGarbage, blobKey, garbageKey } from './records.js';

/** Removes files of uploads that never committed, and of blobs that nothing refers to any more. */
export async function sweepBlobs(level: Level, blobs: Blobs): Promise<void> {
  for (const blob of await blobs.inDoubt()) {
    if ((await level.get(blobKey(blob))) === undefined) await blobs.remove(blob);
    else await blobs.confirm(blob);
  }
  for await (const keys of keyBlocks(level, allGarbage()))
    for (const key of keys) {
      await blobs.remove(key.slice(garbageKey('').length));
      await level.del(key);
    }
}
