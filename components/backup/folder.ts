/**
 * The folder of a back-up: a manifest, the state that it names with the quads of all graphs, in one file or several of which later ones
 * have what changed, blobs by name, and keys of the server.
 */
import { randomUUID } from 'node:crypto';
import { constants, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { chmod, copyFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { syncPath } from '../../lib/storage/level/synced-files.js';
import { BackupError } from './entries.js';
import { digestOfFile, readState, type StateReader } from './state-file.js';

/** Quads of some graphs: a file, and its SHA-256 (base64). */
export interface QuadsFile {
  readonly name: string;
  readonly sha256: string;
  /** ISO 8601, of the state that it was made with. */
  readonly made: string;
  readonly bytes: number;
  readonly graphs: number;
  readonly triples: number;
}

export interface Manifest {
  /** 1: the state has its quads with it. */
  readonly 'quadpod-backup': 1 | 2;
  readonly storage: string;
  /** The version of the store's format. */
  readonly version?: string;
  /** ISO 8601. */
  readonly made: string;
  /** The name of the file of the state, and its SHA-256 (base64). */
  readonly state: string;
  readonly sha256: string;
  /** The oldest first. A graph may be in several: the state says which one counts. */
  readonly quads: readonly QuadsFile[];
  /** Of the state. */
  readonly entries: number;
  readonly blobs: number;
  /** Files of keys, which are secret. */
  readonly keys: readonly string[];
}

const manifestName = 'quadpod-backup.json';

export const backupBlobFile = (folder: string, blob: string): string => join(folder, 'blobs', blob.slice(0, 2), blob);

export const hasManifest = (folder: string): boolean => existsSync(join(folder, manifestName));

/** The first file of a back-up that is missing or does not have its digest. */
export async function damagedFile(folder: string, { state, sha256, quads }: Manifest): Promise<string | undefined> {
  for (const file of [{ name: state, sha256 }, ...quads]) {
    const path = join(folder, file.name);
    if (!existsSync(path) || (await digestOfFile(path)) !== file.sha256) return path;
  }
  return undefined;
}

/** @throws BackupError when the folder is no back-up, or one of a later version */
export function readManifest(folder: string): Manifest {
  const file = join(folder, manifestName);
  if (!existsSync(file)) throw new BackupError(`${folder} is no back-up: it has no ${manifestName}.`);
  try {
    const found = JSON.parse(readFileSync(file, 'utf8')) as Manifest;
    if ([1, 2].includes(found['quadpod-backup'])) return { ...found, quads: found.quads ?? [] };
  } catch (error) {
    throw new BackupError(`${file} is damaged: ${(error as Error).message}.`);
  }
  throw new BackupError(`${file} is of a later version.`);
}

/** The new manifest takes the place of the old one at once: until then the earlier back-up is whole. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const part = join(folder, `${manifestName}.part`);
  await writeFile(part, `${JSON.stringify(manifest, undefined, 2)}\n`, { mode: 0o600, flush: true });
  await rename(part, join(folder, manifestName));
  await syncPath(folder);
}

/** Returns when the names of what `copyOnce` and `makeOnce` have made in a folder are on the disk. */
export async function syncNames(folder: string): Promise<void> {
  const blobs = join(folder, 'blobs');
  const parts = existsSync(blobs) ? [...readdirSync(blobs).map((part) => join(blobs, part)), blobs] : [];
  for (const made of [...parts, folder]) await syncPath(made);
}

/** Removes what the manifest does not name: earlier states, their blobs, and rests of what was broken off. */
export function prune(folder: string, { state, quads }: Manifest, blobs: ReadonlySet<string>): void {
  const named = new Set([state, ...quads.map(({ name }) => name)]);
  for (const name of readdirSync(folder))
    if (!named.has(name) && (/^(?:state|quads)-.*\.gz$/.test(name) || name.endsWith('.part')))
      rmSync(join(folder, name));
  const kept = join(folder, 'blobs');
  if (!existsSync(kept)) return;
  for (const part of readdirSync(kept))
    for (const name of readdirSync(join(kept, part))) if (!blobs.has(name)) rmSync(join(kept, part, name));
}

/**
 * Copies a file that is not there yet, whole or not at all, synced.
 * @returns whether it was copied
 * @throws the file system's error
 */
export async function copyOnce(from: string, to: string, size?: number): Promise<boolean> {
  return makeOnce(to, (part) => copyFile(from, part, constants.COPYFILE_FICLONE), size);
}

/**
 * The same for a file that something else writes.
 * @param write into an empty file, or one that is not there
 */
export async function makeOnce(to: string, write: (part: string) => Promise<void>, size?: number): Promise<boolean> {
  if (size !== undefined && (await stat(to).catch(() => undefined))?.size === size) return false;
  mkdirSync(join(to, '..'), { recursive: true, mode: 0o700 });
  const part = `${to}.${randomUUID()}.part`;
  try {
    await write(part);
    await chmod(part, 0o600);
    await syncPath(part);
    await rename(part, to);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
  return true;
}

/** The files beside the database and the blobs, which are the keys of the server: who lost them would be somebody else. */
export const keyFiles = (dataDir: string): string[] =>
  readdirSync(dataDir, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

/** What a file of quads has, after it was read to its end. @throws BackupError when it is cut off */
export async function quadsFile(file: string): Promise<Omit<QuadsFile, 'name' | 'made'>> {
  let [graphs, triples] = [0, 0];
  const reader: StateReader = {
    wants: () => ++graphs > 0,
    // They are counted alone.
    keys: [],
    counted: (entries) => {
      triples = entries;
    },
  };
  for await (const _entries of readState(file, reader));
  const [{ size }, sha256] = [await stat(file), await digestOfFile(file)];
  return { sha256, bytes: size, graphs, triples };
}
