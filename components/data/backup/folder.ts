/**
 * Directory of a backup: a manifest, the state file that it names, files with the quads of all graphs (later files contain
 * changed graphs), blobs by name, and the keys of the server.
 */
import { randomUUID } from 'node:crypto';
import { constants, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { chmod, copyFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Entry } from '../../../lib/storage/graphs/state-blocks.js';
import { syncPath, writeWhole } from '../../../lib/storage/level/synced-files.js';
import { BackupError, type BackupFormat, backupFormats, graphKeys } from './entries.js';
import { GraphSet } from './graph-set.js';
import { digestOfFile, readState, type StateReader } from './state-file.js';

/** File with the quads of some graphs, and its SHA-256 in base64. */
export interface QuadsFile {
  readonly name: string;
  readonly sha256: string;
  /** Time of the state with which the file was written, in ISO 8601. */
  readonly made: string;
  readonly bytes: number;
  readonly graphs: number;
  readonly triples: number;
  /** Count of entries that are not quads. Absent in files of earlier formats. */
  readonly others?: number;
}

export interface Manifest {
  readonly 'quadpod-backup': BackupFormat;
  readonly storage: string;
  /** Format version of the store. */
  readonly version?: string;
  /** Time of the backup, in ISO 8601. */
  readonly made: string;
  /** Name of the state file, and its SHA-256 in base64. */
  readonly state: string;
  readonly sha256: string;
  /** Quads files, oldest first. A graph may be in several files: the state determines which one is current. */
  readonly quads: readonly QuadsFile[];
  /** Count of entries in the state file. */
  readonly entries: number;
  readonly blobs: number;
  /** In format 2, true if the triples of earlier states are in quads files, not in the state file. */
  readonly hasVersions?: boolean;
  /** Names of key files, which are secret. */
  readonly keys: readonly string[];
}

const manifestName = 'quadpod-backup.json';

export const backupBlobFile = (folder: string, blob: string): string => join(folder, 'blobs', blob.slice(0, 2), blob);

export const hasManifest = (folder: string): boolean => existsSync(join(folder, manifestName));

/** Returns the path of the first file that is missing or has another digest; `undefined` if there is none. */
export async function damagedFile(folder: string, { state, sha256, quads }: Manifest): Promise<string | undefined> {
  for (const file of [{ name: state, sha256 }, ...quads]) {
    const path = join(folder, file.name);
    if (!existsSync(path) || (await digestOfFile(path)) !== file.sha256) return path;
  }
  return undefined;
}

/** Returns the graphs and parts that a state refers to. @param told called with the count of entries so far */
export const graphsOf = (
  folder: string,
  { state, 'quadpod-backup': format, hasVersions = false }: Manifest,
  told?: (entries: number) => void,
): Promise<GraphSet> => GraphSet.of(readState(join(folder, state), { keys: graphKeys(format, hasVersions) }), told);

/** Yields the entries of the given graphs and parts, marked as seen, then of the state. @throws BackupError see `readState` */
export async function* backupEntries(
  folder: string,
  { state, quads }: Manifest,
  graphs: GraphSet | undefined,
  ended?: StateReader['ended'],
): AsyncGenerator<Entry[]> {
  const reader: StateReader = { wants: (graph) => graphs?.see(graph) === true, ...(ended ? { ended } : {}) };
  for (const { name } of quads) yield* readState(join(folder, name), reader);
  yield* readState(join(folder, state));
}

/** Reads the manifest. @throws BackupError if the directory is not a backup, or has a backup of a later version */
export function readManifest(folder: string): Manifest {
  const file = join(folder, manifestName);
  if (!existsSync(file)) throw new BackupError(`${folder} is not a backup: ${manifestName} is missing.`);
  try {
    const found = JSON.parse(readFileSync(file, 'utf8')) as Manifest;
    const format = found['quadpod-backup'];
    if (format === 3 && !found.quads?.length) throw new Error('it names no file of quads');
    if (backupFormats.includes(format)) return { ...found, quads: found.quads ?? [] };
  } catch (error) {
    throw new BackupError(`${file} is damaged: ${(error as Error).message}.`);
  }
  throw new BackupError(`${file} is of a later version.`);
}

/** Returns the count of lines in all files, as far as the manifest records it. */
export const linesInFiles = ({ quads, entries }: Manifest): number =>
  quads.reduce((sum, { triples, others = 0 }) => sum + triples + others, entries);

/** Replaces the manifest atomically. Before the replacement, the earlier backup remains complete. */
export const writeManifest = (folder: string, manifest: Manifest): void =>
  writeWhole(join(folder, manifestName), `${JSON.stringify(manifest, undefined, 2)}\n`);

/** Syncs the directories, so that the names of files written by `copyOnce` and `makeOnce` are durable. */
export async function syncNames(folder: string): Promise<void> {
  const blobs = join(folder, 'blobs');
  const parts = existsSync(blobs) ? [...readdirSync(blobs).map((part) => join(blobs, part)), blobs] : [];
  for (const made of [...parts, folder]) await syncPath(made);
}

/** Deletes files that the manifest does not name: earlier states and their blobs, and files of interrupted backups. */
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

/** Copies a file atomically and durably, unless it exists. @returns true if it was copied @throws file system errors */
export async function copyOnce(from: string, to: string, size?: number): Promise<boolean> {
  return makeOnce(to, (part) => copyFile(from, part, constants.COPYFILE_FICLONE), size);
}

/** Like `copyOnce`, for content that `write` produces. @param write writes to a path, which may be an empty file */
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

/** Returns the names of the key files: all files in a data directory. Without them, the server would have another identity. */
export const keyFiles = (dataDir: string): string[] =>
  readdirSync(dataDir, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

/** Reads a quads file to its end, and returns its size, digest and counts. @throws BackupError if it is truncated */
export async function quadsFile(file: string): Promise<Omit<QuadsFile, 'name' | 'made'>> {
  let [graphs, triples, others] = [0, 0, 0];
  const reader: StateReader = {
    // No key prefix is selected: lines are counted, but not parsed.
    keys: [],
    ended: ({ name }, count) => {
      if (name === '') others += count;
      else graphs++;
      triples += name === '' ? 0 : count;
    },
  };
  for await (const _entries of readState(file, reader));
  const [{ size }, sha256] = [await stat(file), await digestOfFile(file)];
  return { sha256, bytes: size, graphs, triples, others };
}
