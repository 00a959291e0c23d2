/** The blobs of a state, copied into the folder of its back-up, each once. */
import { createWriteStream, existsSync, statSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { type CommandContext, LwsError } from '../../lib/component/basics.js';
import { type BlobFacts, type Blobs, blobsAt, DamagedBlobError } from '../../lib/component/blobs.js';
import { allBlobs, allRecords, blobFacts } from '../../lib/component/entries.js';
import { atOnce } from '../../lib/component/level.js';
import { BackupError, isOf, recordOf } from './entries.js';
import { backupBlobFile, copyOnce, makeOnce } from './folder.js';
import { readState } from './state-file.js';

export interface CopiedBlobs {
  readonly names: ReadonlySet<string>;
  readonly copied: number;
  /** Of the state. */
  readonly entries: number;
}

/** @param file the state @throws BackupError when a blob is missing or damaged */
export async function copyBlobs(context: CommandContext, file: string, folder: string): Promise<CopiedBlobs> {
  const { blobs: location, progress } = context;
  const names = new Set<string>();
  const facts = new Map<string, BlobFacts>();
  const keys = [allBlobs().gte, ...(location.place ? [allRecords().gte] : [])];
  let entries = 0;
  const counted = (all: number): void => {
    entries = all;
  };
  for await (const block of readState(file, { keys, counted }))
    for (const entry of block)
      if (isOf('B', entry[0])) names.add(entry[0].slice(2));
      else if (location.place && isOf('R', entry[0])) {
        const record = recordOf(entry);
        if (record.blob) facts.set(record.blob, blobFacts(record));
      }
  const told = progress('Copying blobs');
  let [copied, done] = [0, 0];
  const blobs = await blobsAt(location);
  const copy = async (name: string): Promise<void> => {
    const to = backupBlobFile(folder, name);
    const isCopied = location.place
      ? await fetchOnce(blobs, facts.get(name), to)
      : await copyFileOnce(backupBlobFile(location.dataDir, name), to);
    if (isCopied === undefined)
      throw new BackupError(
        `The blob ${name} of the storage is missing. Run "quadpod check" when the server is stopped.`,
      );
    if (isCopied) copied++;
    told(++done, names.size);
  };
  try {
    await atOnce(names, blobs.atOnce, copy);
  } finally {
    await blobs.close();
  }
  return { names, copied, entries };
}

const copyFileOnce = async (from: string, to: string): Promise<boolean | undefined> =>
  existsSync(from) ? copyOnce(from, to, statSync(from).size) : undefined;

/** @returns `undefined` when the blob is missing @throws BackupError when it is not what was stored, or cannot be had */
async function fetchOnce(blobs: Blobs, facts: BlobFacts | undefined, to: string): Promise<boolean | undefined> {
  if (!facts) return undefined;
  const write = async (part: string): Promise<void> =>
    pipeline(await blobs.read(facts), createWriteStream(part, { flags: 'wx', mode: 0o600 }));
  try {
    return await makeOnce(to, write, facts.size);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    if (error instanceof LwsError) throw new BackupError(`${blobs.name}: ${error.reason ?? error.message}`);
    throw error instanceof DamagedBlobError ? new BackupError(error.message) : error;
  }
}
