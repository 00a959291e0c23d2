/** The folder of a back-up: a manifest, the state that it names, blobs by name, and keys of the server. It must not know LevelDB. */
import { randomUUID } from 'node:crypto';
import { constants, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { copyFile, open, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { BackupError, syncFolder } from './state-file.js';

export interface Manifest {
  readonly 'quadpod-backup': 1;
  readonly storage: string;
  /** ISO 8601. */
  readonly made: string;
  /** The name of the file of the state, and its SHA-256 (base64). */
  readonly state: string;
  readonly sha256: string;
  readonly entries: number;
  readonly blobs: number;
  /** Files of keys, which are secret. */
  readonly keys: readonly string[];
}

const manifestName = 'quadpod-backup.json';

export const blobFile = (folder: string, blob: string): string => join(folder, 'blobs', blob.slice(0, 2), blob);

/** @throws BackupError when the folder is no back-up */
export function readManifest(folder: string): Manifest {
  const file = join(folder, manifestName);
  if (!existsSync(file)) throw new BackupError(`${folder} is no back-up: it has no ${manifestName}.`);
  try {
    const found = JSON.parse(readFileSync(file, 'utf8')) as Manifest;
    if (found['quadpod-backup'] === 1) return found;
  } catch (error) {
    throw new BackupError(`${file} is damaged: ${(error as Error).message}.`);
  }
  throw new BackupError(`${file} is of a later version.`);
}

/** The new manifest takes the place of the old one at once: until then the earlier back-up is whole. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const part = join(folder, `${manifestName}.part`);
  const handle = await open(part, 'w', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(manifest, undefined, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(part, join(folder, manifestName));
  await syncFolder(folder);
}

/** Removes what the manifest does not name: earlier states, their blobs, and rests of what was broken off. */
export function prune(folder: string, { state }: Manifest, blobs: ReadonlySet<string>): void {
  for (const name of readdirSync(folder))
    if (name !== state && (/^state-.*\.gz$/.test(name) || name.endsWith('.part'))) rmSync(join(folder, name));
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
    const handle = await open(part, 'r+');
    try {
      await handle.chmod(0o600);
      await handle.sync();
    } finally {
      await handle.close();
    }
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
