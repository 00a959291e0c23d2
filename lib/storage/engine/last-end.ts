/**
 * How a store ended: closed, by the end of its process, or by that of the machine, which may take any part of what was not synced. It must
 * not know what was.
 */
import { existsSync, readFileSync } from 'node:fs';
import { metaKey } from '../state/records.js';
import { type Level, putSynced, syncLevel } from './durable-level.js';

const closed = 'closed';
const unknown = 'unknown';
/** Of Linux. */
const bootFile = '/proc/sys/kernel/random/boot_id';
const bootId = (): string => (existsSync(bootFile) ? readFileSync(bootFile, 'utf8').trim() : unknown);

/**
 * @returns `cut` when the machine has ended while the store was open, and where it does not say which start of it this is, when the process
 *   has; `unsaid` for a new store, and one of an earlier version
 */
export async function lastEnd(level: Level): Promise<'whole' | 'cut' | 'unsaid'> {
  const opened = await level.get(metaKey('opened'));
  if (opened === undefined) return 'unsaid';
  return opened !== closed && (opened === unknown || opened !== bootId()) ? 'cut' : 'whole';
}

/** Notes that it is open from here on. */
export const noteOpened = (level: Level): Promise<void> => putSynced(level, metaKey('opened'), bootId());

/** Notes that everything is on the disk, as soon as it is. */
export async function noteClosed(level: Level): Promise<void> {
  await syncLevel(level);
  await putSynced(level, metaKey('opened'), closed);
}
