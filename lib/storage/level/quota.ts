/** Data counted against the quota (rule 10.3): the content of resources, and entries with data sent by clients (`countedSpaces`). */
import { LwsError } from '../../tools/errors.js';
import { entryKey, entryRange, metaKey } from '../keys/records.js';
import { type BatchWriter, entryBlocks, type Level, type LevelSnapshot, writeBatch } from './durable-level.js';

const countedSpaces = ['links', 'acl', 'access-requests', 'access-grants', 'subscriptions'];
const prefixes = countedSpaces.map((space) => entryKey(space, ''));

/** True if the value of an entry counts against the quota. */
export const isCounted = (key: string): boolean => prefixes.some((prefix) => key.startsWith(prefix));

export const sizeOfEntry = (value: string | undefined): number => (value === undefined ? 0 : Buffer.byteLength(value));

/** Total size of all counted entries in bytes. */
export async function countEntries(level: Level, snapshot?: LevelSnapshot): Promise<number> {
  let bytes = 0;
  for (const space of countedSpaces)
    for await (const entries of entryBlocks(level, entryRange(space), snapshot ? { snapshot } : {}))
      for (const [, value] of entries) bytes += sizeOfEntry(value);
  return bytes;
}

/** Counter of a store: bytes of content and of counted entries. */
export const readCounter = async (level: Level): Promise<number> => Number((await level.get(metaKey('bytes'))) ?? 0);

/** The counter of a format 1 store may lack the entries. Adds them once. */
export async function countEarlierEntries(level: Level): Promise<void> {
  if ((await level.get(metaKey('counted'))) !== undefined) return;
  const all = (await readCounter(level)) + (await countEntries(level));
  const fill = (batch: BatchWriter): unknown => batch.put(metaKey('counted'), 'entries');
  await writeBatch(level, fill, () => [metaKey('bytes'), String(all)]);
}

export const quotaExceeded = (): LwsError =>
  new LwsError(
    'quota-exceeded',
    'The quota of the storage is exhausted (lws.quota.max-bytes). Delete something first. Nothing was stored.',
  );
