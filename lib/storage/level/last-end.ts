/**
 * How the last use of a store ended: it was closed, its process ended, or the machine ended (power cut, crash), which may lose any part of
 * what was not synced. It must not know what was.
 */
import { existsSync, readFileSync } from 'node:fs';
import { metaKey } from '../keys/records.js';
import { type Level, putSynced, syncLevel } from './durable-level.js';

const closed = 'closed';
const unknown = 'unknown';
/** Linux gives each start of the machine an id there. */
const bootFile = '/proc/sys/kernel/random/boot_id';
const bootId = (): string => (existsSync(bootFile) ? readFileSync(bootFile, 'utf8').trim() : unknown);

/**
 * @returns `cut` when the machine has ended while the store was open; without a boot id, already when the process has ended; `unsaid` for a
 *   new store and one of an earlier version
 */
export async function lastEnd(level: Level): Promise<'whole' | 'cut' | 'unsaid'> {
  const opened = await level.get(metaKey('opened'));
  if (opened === undefined) return 'unsaid';
  return opened !== closed && (opened === unknown || opened !== bootId()) ? 'cut' : 'whole';
}

/** Notes that the store is open from here on. */
export const noteOpened = (level: Level): Promise<void> => putSynced(level, metaKey('opened'), bootId());

/** Syncs everything, then notes that the store is closed. */
export async function noteClosed(level: Level): Promise<void> {
  await syncLevel(level);
  await putSynced(level, metaKey('opened'), closed);
}
