/** Counts data against the quota (rule 10.3): content of resources, and entries with data from clients (`countedSpaces`). */
import { LwsError } from '../../tools/errors.js';
import { isKeptBlob, keptBlobs, readKeptBlob } from '../keys/kept-blobs.js';
import { entryKey, entryRange, metaKey } from '../keys/records.js';
import { entryBlocks, type Level, type LevelSnapshot, writeEntries } from './durable-level.js';

const countedSpaces = [
  'links',
  'acl',
  'access-requests',
  'access-grants',
  'subscriptions',
  'versions',
  'versions-data',
];
const ranges = [...countedSpaces.map((space) => entryRange(space)), keptBlobs];
const counted = new Set([...countedSpaces.map((space) => entryKey(space, '')), keptBlobs.gte]);
const spaceAt = entryKey('').length;

/** Returns true if the value of an entry counts against the quota. */
export const isCounted = (key: string): boolean => counted.has(key.slice(0, key.indexOf('\u0000', spaceAt) + 1));

/** Returns the bytes of an entry that count. A kept blob's entry counts as the blob, unless a current resource has the blob. */
export function sizeOfEntry(key: string, value: string | undefined): number {
  if (value === undefined) return 0;
  if (!isKeptBlob(key)) return Buffer.byteLength(value);
  const { size, isShared } = readKeptBlob(value);
  return isShared ? 0 : size;
}

/** Returns the total size of all counted entries, in bytes. */
export async function countEntries(level: Level, snapshot?: LevelSnapshot): Promise<number> {
  let bytes = 0;
  for (const range of ranges)
    for await (const entries of entryBlocks(level, range, snapshot ? { snapshot } : {}))
      for (const [key, value] of entries) bytes += sizeOfEntry(key, value);
  return bytes;
}

/** Returns the counter of a store: bytes of content and of counted entries. */
export const readCounter = async (level: Level): Promise<number> => Number((await level.get(metaKey('bytes'))) ?? 0);

/** Adds the entries to the counter of a store in format 1, once, because the counter may lack them. */
export async function countEarlierEntries(level: Level): Promise<void> {
  if ((await level.get(metaKey('counted'))) !== undefined) return;
  const all = (await readCounter(level)) + (await countEntries(level));
  await writeEntries(level, [[metaKey('counted'), 'entries']], [metaKey('bytes'), String(all)]);
}

export const quotaExceeded = (): LwsError =>
  new LwsError(
    'quota-exceeded',
    'The quota of the storage is exhausted (lws.quota.max-bytes). Delete something first. Nothing was stored.',
  );
