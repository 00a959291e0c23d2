/**
 * `quadpod backup DIR`: writes the state of the storage, its blobs and its keys to a directory. The state of a running server is
 * requested over HTTP, because only one process can open LevelDB. If the directory already has a backup, the quads of unchanged
 * graphs are not written again.
 */
import { createWriteStream, existsSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { askServer, RefusedCommand } from '../../../lib/component/commands.js';
import type { CommandContext } from '../../../lib/component/component.js';
import type { Blobs } from '../../../lib/storage/blobs/blobs.js';
import { blobsAt } from '../../../lib/storage/blobs/blobs-at.js';
import { storeFormat } from '../../../lib/storage/graphs/format.js';
import { copyIn } from '../../../lib/storage/graphs/replica.js';
import { type BlobFacts, DamagedBlobError } from '../../../lib/storage/keys/blob-integrity.js';
import { keptBlobFacts, keptBlobs } from '../../../lib/storage/keys/kept-blobs.js';
import { allBlobs, allRecords, blobFacts } from '../../../lib/storage/keys/records.js';
import { forEachConcurrently } from '../../../lib/storage/level/concurrently.js';
import { isInUse, type Level, openLevel, StoreUnavailableError } from '../../../lib/storage/level/durable-level.js';
import { makeFolder } from '../../../lib/storage/level/synced-files.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { BackupError, type BackupFormat, isOf, partReferences, recordOf, sectionOf } from './entries.js';
import {
  backupBlobFile,
  copyOnce,
  damagedFile,
  graphsOf,
  hasManifest,
  keyFiles,
  type Manifest,
  makeOnce,
  prune,
  type QuadsFile,
  quadsFile,
  readManifest,
  syncNames,
  writeManifest,
} from './folder.js';
import { type GraphSet, maxSetBytes } from './graph-set.js';
import { lastBackupName } from './last-backup.js';
import type { BackupReport } from './routes.js';
import { digestOfFile, readHeader, readState, type StateFiles, writeState } from './state-file.js';

export async function backUp(context: CommandContext): Promise<number> {
  const { dataDir, operands, print } = context;
  const source = resolve(dataDir);
  const folder = resolve(operands[0]!);
  context.assertStorage();
  if (`${folder}/`.startsWith(`${source}/`))
    throw new BackupError(`A backup cannot be written to the storage's own directory ${source}.`);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false)
    throw new BackupError(`${folder} is a file. A backup is a directory: name one that exists or can be created.`);
  await makeFolder(folder);
  let earlier = await earlierBackup(context, folder);
  const time = new Date().toISOString().replace(/[:.]/g, '-');
  const [name, quads] = ['state', 'quads'].map((part) => `${part}-${time}.gz`) as [string, string];
  const files = { state: join(folder, name), quads: join(folder, quads) };
  let server: RunningServer | undefined;
  try {
    server = await stateInto(context, files, earlier?.known);
    if (server?.isWhole) earlier = undefined;
    const blobs = await copyBlobs(context, files.state, folder);
    const keys = keyFiles(source);
    for (const key of keys) await copyOnce(join(source, key), join(folder, key));
    const { 'quadpod-backup': format, storage, version, made } = await readHeader(files.state);
    // A store of an earlier format has its quads in the state file.
    const written = existsSync(files.quads) ? { name: quads, made, ...(await quadsFile(files.quads)) } : undefined;
    const manifest: Manifest = {
      // The files of the earlier backup may have a later format.
      'quadpod-backup': Math.max(format, earlier?.['quadpod-backup'] ?? 1) as BackupFormat,
      ...{ storage, version, made, state: name, sha256: await digestOfFile(files.state) },
      quads: written ? withFile(earlier?.quads ?? [], written) : [],
      ...{ entries: blobs.entries, blobs: blobs.names.size, keys },
      // The server may be of an earlier version, and use format 2.
      ...(format === 2 ? { hasVersions: true } : {}),
    };
    await syncNames(folder);
    writeManifest(folder, manifest);
    prune(folder, manifest, blobs.names);
    await writeFile(join(source, lastBackupName), made).catch(({ message }: Error) =>
      print(`The backup is complete, but its time could not be recorded for the status of the storage: ${message}.`),
    );
    const secret = keys.length > 0 ? `, and the keys ${keys.join(', ')}: keep it secret` : '';
    print(
      `${folder} has the state of ${made}: ${blobs.all} entries, ${written ? quadsTold(written, earlier) : ''}` +
        `${blobs.names.size} blobs (${blobs.copied} new)${secret}.`,
    );
    return 0;
  } finally {
    await server?.release();
  }
}

/** Returns the quads files with the new one. A new file without content is omitted, unless it is the only file. */
const withFile = (earlier: readonly QuadsFile[], written: QuadsFile): QuadsFile[] =>
  written.graphs === 0 && written.others === 0 && earlier.length > 0 ? [...earlier] : [...earlier, written];

function quadsTold(written: QuadsFile, earlier: EarlierBackup | undefined): string {
  const { triples, graphs } = written;
  if (!earlier) return `${triples} triples of ${graphs} graphs, `;
  if (graphs === 0) return `no changed graphs since ${earlier.made}, `;
  return `${triples} triples of ${graphs} graphs that changed since ${earlier.made} (increment ${earlier.quads.length}), `;
}

/** Writes the state to files. @returns the running server that retains the blobs of the state, or `undefined` */
async function stateInto(
  context: CommandContext,
  files: StateFiles,
  known: GraphSet | undefined,
): Promise<RunningServer | undefined> {
  const progress = context.progress('Writing the state');
  const told = (entries: number): void => progress(entries, Number.POSITIVE_INFINITY);
  const level = await openLevel(join(resolve(context.dataDir), 'level')).catch((error: unknown) => {
    if (isInUse(error)) return undefined;
    throw error;
  });
  if (level) {
    const write = (from: Level): Promise<void> => writeState(from, files, { known, told });
    let copy: Awaited<ReturnType<typeof copyIn>>;
    try {
      copy = await copyIn(level);
      if (copy === 'none') await write(level);
    } finally {
      await level.close();
    }
    if (copy !== 'none') await copyInto(context, copy, write);
    return undefined;
  }
  const server = await RunningServer.begin(context, known);
  try {
    await server.ready(told);
    for (const part of ['state', 'quads'] as const)
      await pipeline(
        Readable.fromWeb((await server.part(part)) as never),
        createWriteStream(files[part], { flags: 'wx', mode: 0o600, flush: true }),
      );
    return server;
  } catch (error) {
    await server.release();
    throw error;
  }
}

/** Backs up the local copy of a storage in a database. If possible, first updates the copy with writes of other servers. */
async function copyInto(
  { dataDir, onStore, print }: CommandContext,
  copy: 'whole' | 'unfinished',
  write: (level: Level) => Promise<void>,
): Promise<void> {
  try {
    await onStore(({ level }) => write(level));
  } catch (error) {
    if (!(error instanceof StoreUnavailableError || error instanceof LwsError)) throw error;
    if (copy === 'unfinished')
      throw new BackupError(`The data directory is an incomplete copy of a storage in a database. ${error.message}`);
    print(`${error.message}\nThe backup contains this copy and lacks later writes of other servers.`);
    const level = await openLevel(join(resolve(dataDir), 'level'));
    await write(level).finally(() => level.close());
  }
}

export interface CopiedBlobs {
  readonly names: ReadonlySet<string>;
  readonly copied: number;
  /** Count of entries in the state. */
  readonly entries: number;
  /** Count of entries in the state, including entries in the parts that the state refers to. */
  readonly all: number;
}

/** Copies the blobs of a state. @param file path of the state file @throws BackupError if a blob is missing or damaged */
async function copyBlobs(context: CommandContext, file: string, folder: string): Promise<CopiedBlobs> {
  const { blobs: location, progress } = context;
  const names = new Set<string>();
  const facts = new Map<string, BlobFacts>();
  const keys = [allBlobs().gte, partReferences, ...(location.place ? [allRecords().gte, keptBlobs.gte] : [])];
  let [entries, all] = [0, 0];
  const counted = (lines: number): void => {
    entries = lines;
    all += lines;
  };
  for await (const block of readState(file, { keys, counted }))
    for (const entry of block)
      if (isOf('B', entry[0])) names.add(entry[0].slice(2));
      // Count the entries of the part instead of the line that refers to the part.
      else if (isOf('P', entry[0])) all += sectionOf(entry)!.count! - 1;
      else if (location.place) {
        const found = isOf('R', entry[0]) ? blobFacts(recordOf(entry)) : keptBlobFacts(entry);
        if (found.blob) facts.set(found.blob, found);
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
      throw new BackupError(`The blob ${name} of the storage is missing. Stop the server and run "quadpod check".`);
    if (isCopied) copied++;
    told(++done, names.size);
  };
  try {
    await forEachConcurrently(names, blobs.atOnce, copy);
  } finally {
    await blobs.close();
  }
  return { names, copied, entries, all };
}

const copyFileOnce = async (from: string, to: string): Promise<boolean | undefined> =>
  existsSync(from) ? copyOnce(from, to, statSync(from).size) : undefined;

/** Copies a blob. @returns true if copied, `undefined` if missing @throws BackupError if it is damaged or unreadable */
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

/** Maximum count of increments, and their maximum size relative to the full backup. Above, a full backup is as fast. */
const maxIncrements = 30;
const shareOfWhole = 0.5;
/** Maximum size of increments in bytes for which the relative size is ignored. */
const freeBytes = 1 << 20;

export interface EarlierBackup extends Pick<Manifest, 'quadpod-backup'> {
  /** Time of the backup, in ISO 8601. */
  readonly made: string;
  /** Sections in the files of the backup. */
  readonly known: GraphSet;
  readonly quads: readonly QuadsFile[];
}

/** Returns true if the next backup must be a full one. */
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
 * Reads the last backup after verifying all files it needs.
 * @returns `undefined` if the next backup must be a full one, or was requested as such
 * @throws BackupError for a backup of a later version, which is not overwritten
 */
async function earlierBackup(
  { flags, print, progress }: CommandContext,
  folder: string,
): Promise<EarlierBackup | undefined> {
  if (!hasManifest(folder)) return undefined;
  const manifest = readManifest(folder);
  if ('full' in flags || isWholeDue(manifest)) return undefined;
  const told = progress('Reading the previous backup');
  const damaged = await damagedFile(folder, manifest);
  if (damaged) {
    print(`${damaged} is missing or damaged, so this backup is a full one.`);
    return undefined;
  }
  const known = await graphsOf(folder, manifest, (done) => told(done, Number.POSITIVE_INFINITY));
  return known.length <= maxSetBytes ? { ...manifest, known } : undefined;
}

const pollMs = 200;

/** Server that has the storage open and writes the state. */
export class RunningServer {
  private constructor(
    private readonly context: CommandContext,
    private readonly url: string,
    /** True if the backup is full. */
    readonly isWhole: boolean,
  ) {}

  /**
   * Starts a backup on the server. If a proxy rejects the request body as too large, a full backup is requested. @param known
   * graphs to omit @throws CommandError if the server does not start it
   */
  static async begin(context: CommandContext, known: GraphSet | undefined): Promise<RunningServer> {
    const body = known ? { body: known.bytes, headers: { 'Content-Type': 'application/octet-stream' } } : {};
    try {
      const begun = await askServer(context, 'backups', { method: 'POST', ...body });
      return new RunningServer(context, begun.headers.get('location')!, known === undefined);
    } catch (error) {
      if (!known || !(error instanceof RefusedCommand) || error.status !== 413) throw error;
      context.print(`The list of known graphs is too long for ${context.baseUri} (413), so this backup is a full one.`);
      return RunningServer.begin(context, undefined);
    }
  }

  /** Waits until the server has written both files. @param told called with the count of entries so far */
  async ready(told: (entries: number) => void): Promise<void> {
    for (;;) {
      const { state, entries, failure } = (await (await askServer(this.context, this.url)).json()) as BackupReport;
      if (state === 'failed')
        throw new BackupError(`The server could not write its state: ${failure?.replace(/\.$/, '')}.`);
      told(entries);
      if (state === 'ready') return;
      await sleep(pollMs);
    }
  }

  async part(name: 'state' | 'quads'): Promise<ReadableStream> {
    return (await askServer(this.context, `${this.url}/${name}`)).body!;
  }

  /** Ends the backup on the server. */
  async release(): Promise<void> {
    // A server that has stopped has nothing to release.
    await askServer(this.context, this.url, { method: 'DELETE' }).catch(() => {});
  }
}
