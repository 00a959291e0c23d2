/** What counts against the quota (rule 10.3): the content of resources, and entries with data that clients send (`countedSpaces`). */
import { LwsError } from '../../errors.js';
import { entryKey, entryRange, metaKey } from '../keys/records.js';
import { type BatchWriter, entryBlocks, type Level, type LevelSnapshot, writeBatch } from './durable-level.js';

const countedSpaces = ['links', 'acl', 'access-requests', 'access-grants', 'subscriptions'];
const prefixes = countedSpaces.map((space) => entryKey(space, ''));

/** Whether the value of an entry counts against the quota. */
export const isCounted = (key: string): boolean => prefixes.some((prefix) => key.startsWith(prefix));

export const sizeOfEntry = (value: string | undefined): number => (value === undefined ? 0 : Buffer.byteLength(value));

/** Bytes of all entries that count. */
export async function countEntries(level: Level, snapshot?: LevelSnapshot): Promise<number> {
  let bytes = 0;
  for (const space of countedSpaces)
    for await (const entries of entryBlocks(level, entryRange(space), snapshot ? { snapshot } : {}))
      for (const [, value] of entries) bytes += sizeOfEntry(value);
  return bytes;
}

/** The counter of a store: bytes of contents and of the entries that count. */
export const readCounter = async (level: Level): Promise<number> => Number((await level.get(metaKey('bytes'))) ?? 0);

/** The counter of a store of format 1 may lack the entries: adds them, once. */
export async function countEarlierEntries(level: Level): Promise<void> {
  if ((await level.get(metaKey('counted'))) !== undefined) return;
  const all = (await readCounter(level)) + (await countEntries(level));
  const fill = (batch: BatchWriter): unknown => batch.put(metaKey('counted'), 'entries');
  await writeBatch(level, fill, () => [metaKey('bytes'), String(all)]);
}

export const quotaExceeded = (): LwsError =>
  new LwsError(
    'quota-exceeded',
    'The storage has no room for this (lws.quota.max-bytes). Delete something first; nothing was stored.',
  );
