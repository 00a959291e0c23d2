/** The back-up that a folder has already, as far as a new one can go on from it. */
import { join } from 'node:path';
import type { CommandContext } from '../../lib/component/basics.js';
import { storeFormat } from '../../lib/component/store.js';
import { graphKeys } from './entries.js';
import { damagedFile, hasManifest, type Manifest, type QuadsFile, readManifest } from './folder.js';
import { GraphSet, maxSetBytes } from './graph-set.js';
import { readState } from './state-file.js';

/** More increments than these, or more bytes of them, are as slow to restore, and to keep, as a whole back-up is to make. */
const maxIncrements = 30;
const shareOfWhole = 0.5;
/** Less is not worth the reckoning. */
const freeBytes = 1 << 20;

export interface EarlierBackup {
  /** ISO 8601. */
  readonly made: string;
  /** States of graphs that its files have. */
  readonly known: GraphSet;
  readonly quads: readonly QuadsFile[];
}

/** Whether the next back-up is a whole one. */
export function isWholeDue({ version, quads }: Pick<Manifest, 'version' | 'quads'>): boolean {
  const [whole, ...increments] = quads;
  const bytes = increments.reduce((sum, file) => sum + file.bytes, 0);
  return (
    version !== storeFormat ||
    !whole ||
    increments.length >= maxIncrements ||
    bytes > Math.max(whole.bytes * shareOfWhole, freeBytes)
  );
}

/**
 * Reads what the last back-up has, after all files that it needs were found undamaged.
 * @returns `undefined` when the next one has to be whole, or is wanted so
 * @throws BackupError for a back-up of a later version, which is not overwritten
 */
export async function earlierBackup(
  { flags, print, progress }: CommandContext,
  folder: string,
): Promise<EarlierBackup | undefined> {
  if (!hasManifest(folder)) return undefined;
  const manifest = readManifest(folder);
  if ('full' in flags || isWholeDue(manifest)) return undefined;
  const told = progress('Reading the back-up before');
  const damaged = await damagedFile(folder, manifest);
  if (damaged) {
    print(`${damaged} is missing or damaged, so this back-up is a whole one.`);
    return undefined;
  }
  const { made, state, quads } = manifest;
  const known = await GraphSet.of(readState(join(folder, state), { keys: graphKeys }), (done) =>
    told(done, Number.POSITIVE_INFINITY),
  );
  return known.length <= maxSetBytes ? { made, known, quads } : undefined;
}
