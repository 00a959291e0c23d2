/** Determines how the last use of a store ended: closed, process ended, or machine failed, which may lose unsynced data. */
import { existsSync, readFileSync } from 'node:fs';
import { metaKey } from '../keys/records.js';
import { type Level, putSynced, syncLevel } from './durable-level.js';

const closed = 'closed';
const unknown = 'unknown';
/** File with the boot id on Linux. */
const bootFile = '/proc/sys/kernel/random/boot_id';
const bootId = (): string => (existsSync(bootFile) ? readFileSync(bootFile, 'utf8').trim() : unknown);

/**
 * Returns how the last use ended: `killed` if the process ended while the store was open, `cut` if the machine failed (without
 * a boot id, also if only the process ended), `unsaid` for a new store or one of an earlier version.
 */
export async function lastEnd(level: Level): Promise<'closed' | 'killed' | 'cut' | 'unsaid'> {
  const opened = await level.get(metaKey('opened'));
  if (opened === undefined) return 'unsaid';
  if (opened === closed) return 'closed';
  return opened !== unknown && opened === bootId() ? 'killed' : 'cut';
}

/** Records that the store is open. */
export const noteOpened = (level: Level): Promise<void> => putSynced(level, metaKey('opened'), bootId());

/** Syncs LevelDB, then records that the store is closed. */
export async function noteClosed(level: Level): Promise<void> {
  await syncLevel(level);
  await putSynced(level, metaKey('opened'), closed);
}
