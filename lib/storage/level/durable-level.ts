/** LevelDB with clear error messages, synced batches, and iterators that are always closed. */
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AbstractLevel, AbstractSnapshot } from 'abstract-level';
import { type LwsError, tooBusy } from '../../tools/errors.js';
import { affordable } from '../../tools/threads/thread-limits.js';
import type { KeyRange } from '../keys/records.js';
import { ClassicLevel, isOurLevel } from './classic-level.js';
import { maxFiles } from './open-files.js';
import { makeFolders, NewestLog, syncLogs, syncPath } from './synced-files.js';

/** Marker file in the directory of a new LevelDB from before its first file until all files are synced. */
const mark = 'NEW';

/**
 * Marks an empty directory as one of a new LevelDB.
 * @returns `new`, also after an interrupted start; `maimed` if CURRENT is missing, because LevelDB would then create a new
 * database and remove the tables of the old one; otherwise `there`
 * @throws the file system's error
 */
async function beginNew(folder: string): Promise<'new' | 'there' | 'maimed'> {
  makeFolders(folder);
  const files = await readdir(folder);
  if (files.includes(mark)) return 'new';
  if (!files.includes('CURRENT') && files.some((file) => /\.(?:ldb|sst|log)$/.test(file))) return 'maimed';
  if (files.length > 0) return 'there';
  await writeFile(join(folder, mark), '');
  await syncPath(folder);
  return 'new';
}

/** Returns true if LevelDB cannot be opened because another process has it open. */
const isLocked = (error: unknown): boolean =>
  (error as { cause?: { code?: string } } | undefined)?.cause?.code === 'LEVEL_LOCKED';

/** Opens a new LevelDB. If an interrupted process left it incomplete, creates it again. @throws the error of LevelDB */
async function openNew(level: { open(): Promise<void> }, folder: string): Promise<void> {
  try {
    await level.open();
  } catch (error) {
    if (isLocked(error)) throw error;
    for (const name of await readdir(folder)) if (name !== mark && name !== 'LOCK') await rm(join(folder, name));
    await level.open();
  }
}

/** Removes the marker after all file names are synced. Writes may be acknowledged from then on. */
async function endNew(folder: string): Promise<void> {
  await syncPath(dirname(folder));
  await rm(join(folder, mark), { force: true });
  await syncPath(folder);
}

export type Level = AbstractLevel<string | Buffer | Uint8Array, string, string>;
export type LevelSnapshot = AbstractSnapshot;

/** Thrown if the store cannot be opened. The message tells the operator what to do. */
export class StoreUnavailableError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'StoreUnavailableError';
  }
}

/** Returns true if the store cannot be opened because another process has it open, such as a server. */
export const isInUse = (error: unknown): boolean => error instanceof StoreUnavailableError && isLocked(error.cause);

/** Newest log of each LevelDB open in this thread. */
const newestLogs = new WeakMap<object, NewestLog>();

/**
 * Opens or creates the LevelDB in a directory. Its file names are durable when the promise resolves.
 * @param isOneOfMany uses little memory while it is small, and a short log
 * @throws StoreUnavailableError if another process has it open, it cannot be written, or it is damaged
 */
export async function openLevel(folder: string, isOneOfMany = false): Promise<Level> {
  const isSmall = isOneOfMany && (await sizeOf(folder)) < smallBytes;
  let level: ClassicLevel | undefined;
  try {
    // Read the directory before the object exists, because abstract-level opens the database in the next microtask.
    const state = await beginNew(folder);
    if (state === 'maimed') throw new Error('its file CURRENT is missing');
    level = levelIn(folder, isSmall);
    await (state === 'new' ? openNew(level, folder) : level.open());
    const log = new NewestLog(folder);
    newestLogs.set(level, log);
    await log.settle();
    if (state === 'new') await endNew(folder);
  } catch (error) {
    if (level?.status === 'open') await level.close();
    throw new StoreUnavailableError(explain(folder, error), error);
  }
  return level as unknown as Level;
}

// Returns a LevelDB whose write buffer is larger than the default of 4 MiB: compactions are rarer (a sixth less work per write
// at 32 than at 16). Up to twice the buffer may be in memory.
const levelIn = (folder: string, isSmall: boolean): ClassicLevel =>
  new ClassicLevel(folder, {
    keyEncoding: 'utf8',
    valueEncoding: 'utf8',
    cacheSize: isSmall ? 2 << 20 : affordable(16 << 20),
    writeBufferSize: isSmall ? 4 << 20 : affordable(32 << 20),
    // In the LevelDB of npm, a deleted entry can return at the boundary of two files (decision 168). Above 204 MiB, a product
    // overflows in LevelDB, which then writes a file for each key.
    maxFileSize: isOurLevel ? (isSmall ? 8 << 20 : 64 << 20) : 200 << 20,
    // Use at most a quarter of the limit of open files of the process: LevelDB's default of 1000 may be the entire limit.
    maxOpenFiles: isSmall ? 64 : Math.min(1000, maxFiles() >> 2),
    multithreading: true,
  });

/**
 * Closes and reopens the database, which replays its log.
 * @throws the LevelDB error, with the database closed, or Error if another thread kept it open
 */
export async function reopenLevel(level: Level): Promise<void> {
  // LevelDB writes the name of a new MANIFEST to CURRENT on every open: if the file is unchanged, LevelDB was not reopened.
  const readCurrent = async (): Promise<string | undefined> =>
    level instanceof ClassicLevel ? readFile(join(level.location, 'CURRENT'), 'utf8') : undefined;
  const before = await readCurrent();
  await level.close();
  await level.open();
  await newestLogs.get(level)?.settle();
  if (before !== undefined && (await readCurrent()) === before)
    throw new Error('The database was not reopened, because a thread still uses it.');
}

/** Resolves when all earlier writes are on disk, synced or not. @throws the file system's error */
export async function syncLevel(level: Level): Promise<void> {
  if (level instanceof ClassicLevel) await syncLogs(level.location);
}

const smallBytes = 64 << 20;

/** Returns the total size of the files in a directory, 0 if it does not exist. Ignores files that are removed meanwhile. */
async function sizeOf(folder: string, isWanted: (name: string) => boolean = () => true): Promise<number> {
  const files = (await readdir(folder).catch(() => [])).filter(isWanted);
  const stats = await Promise.all(files.map((name) => stat(join(folder, name)).catch(() => undefined)));
  return stats.reduce((sum, file) => sum + (file?.size ?? 0), 0);
}

const levels = [1, 2, 3, 4, 5, 6];

/** Returns true if deleted entries can return: LevelDB has the defect (decision 168), and a level has several files. */
export function canReturnDeleted(level: Level): boolean {
  if (!(level instanceof ClassicLevel) || level.status !== 'open') return false;
  const property = (name: string): string => level.getProperty(`leveldb.${name}`);
  if (property('keeps-versions-together') === '1') return false;
  return levels.some((number) => Number(property(`num-files-at-level${number}`)) > 1);
}

/** Returns the size of LevelDB's log, in bytes. LevelDB copies the log to tables when it is opened. */
export async function sizeOfLog(level: Level): Promise<number> {
  if (!(level instanceof ClassicLevel)) return 0;
  return sizeOf(level.location, (name) => name.endsWith('.log'));
}

const isNotOpen = (error: unknown): boolean =>
  /^LEVEL_\w+_NOT_OPEN$/.test(String((error as { code?: unknown } | undefined)?.code));

export const beingOpened = (cause?: unknown): LwsError =>
  tooBusy('The storage is being reopened. Retry in a few seconds.', 2, { cause });

/** Waits until LevelDB is open, for up to 5 seconds. @throws LwsError `too-busy` */
export async function untilOpen(isOpen: () => boolean): Promise<void> {
  for (let at = 0; !isOpen(); at++) await (at < 50 ? sleep(100) : Promise.reject(beingOpened()));
}

/** Returns the error for a read interrupted by closing LevelDB: `too-busy`. Returns other errors unchanged. */
export const interruptedRead = (error: unknown): unknown => (isNotOpen(error) ? beingOpened(error) : error);

/** Returns true for an error of LevelDB about damaged or missing files. */
export function isDamage(error: unknown): boolean {
  const { code, message, cause } = (error ?? {}) as NodeJS.ErrnoException & { cause?: unknown };
  return code === 'LEVEL_CORRUPTION' || /^Corruption: /.test(message ?? '') || (cause !== undefined && isDamage(cause));
}

const notWritable = (folder: string, text: string): string =>
  `The storage in ${folder} cannot be written (${text}). ` +
  "Give the server's user write permission, or choose another lws.data-dir.";

function explain(folder: string, error: unknown): string {
  const cause = (error as { cause?: { code?: string; message?: string } }).cause ?? {};
  const text = cause.message ?? (error as Error).message;
  if (/permission denied|read-only/i.test(text)) return notWritable(folder, text);
  if (isLocked(error))
    return `The storage in ${folder} is in use by another process. Stop that server first, or choose another lws.data-dir.`;
  if (/no space/i.test(text)) return `The disk that holds ${folder} is full. Free some space and start again.`;
  return `The storage in ${folder} cannot be opened: ${text}. Nothing was changed. If it is damaged, restore it from a backup.`;
}

/** Receives the operations of a batch. */
export interface BatchWriter {
  put(key: string, value: string): unknown;
  del(key: string): unknown;
}

/** Replaces the empty value of all quads' keys, because classic-level 3.0.0 leaks 32 bytes for each empty value. */
const noValue = '\u0000';
/** Converts a stored value: `noValue` to an empty string. */
export const givenValue = <T extends string | undefined>(value: T): T => (value === noValue ? '' : value) as T;

/** Writes to a batch without abstract-level's checks, which take four times as long. Our keys are strings by type. */
function uncheckedWriter(batch: unknown): BatchWriter {
  const raw = batch as { _put(key: string, value: string): void; _del(key: string): void };
  return { put: (key, value) => raw._put(key, value || noValue), del: (key) => raw._del(key) };
}

/**
 * Writes one atomic batch and returns when it is on disk (`sync`: quadstore's own writes are not synced). `fill` may be
 * asynchronous, so that a large batch is built in slices.
 * @param to LevelDB, or a batch that has operations already
 * @param last an entry that every batch writes through the checked interface: abstract-level would treat a batch without one as
 * empty and not write it
 */
export function writeBatch(to: Level | PreparedBatch, fill: Fill, last: Last): Promise<void> {
  return write(to, { fill, last, sync: true });
}

/** Like `writeBatch` without sync, for data that can be restored from elsewhere: a power cut may lose any of these batches. */
export function writeUnsynced(to: Level | PreparedBatch, fill: Fill, last: Last): Promise<void> {
  return write(to, { fill, last, sync: false });
}

/** Writes entries in one batch; entries with the value `null` are deleted. @param last another entry, see `writeBatch` */
export function writeEntries(
  level: Level,
  entries: Iterable<readonly [key: string, value: string | null]>,
  last: readonly [key: string, value: string],
): Promise<void> {
  const fill = (batch: BatchWriter): void => {
    for (const [key, value] of entries)
      if (value === null) batch.del(key);
      else batch.put(key, value);
  };
  return writeBatch(level, fill, () => last);
}

/** Writes one entry in a synced batch. */
export const putSynced = (level: Level, key: string, value: string): Promise<void> =>
  writeEntries(level, [], [key, value]);

type Fill = (batch: BatchWriter) => unknown;
type Last = () => readonly [key: string, value: string];

type Writing = { readonly fill: Fill; readonly last: Last; readonly sync: boolean };

async function write(to: Level | PreparedBatch, { fill, last, sync }: Writing): Promise<void> {
  const batch = to instanceof PreparedBatch ? to : new PreparedBatch(to);
  try {
    await fill(batch.writer);
  } catch (error) {
    await batch.close();
    throw error;
  }
  await batch.write(last(), { sync });
}

/** Batch that can be filled before it is known if it will be written. `write` or `close` ends it. */
export class PreparedBatch {
  private readonly batch;
  readonly writer: BatchWriter;

  constructor(private readonly level: Level) {
    this.batch = level.batch();
    this.writer = level instanceof ClassicLevel ? uncheckedWriter(this.batch) : this.batch;
  }

  /** Writes the batch. @param last see `writeBatch` */
  async write(last: readonly [key: string, value: string], { sync }: { readonly sync: boolean }): Promise<void> {
    try {
      this.batch.put(...last);
      await this.batch.write({ sync });
      if (sync) await newestLogs.get(this.level)?.settle();
    } catch (error) {
      await this.batch.close();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.batch.close();
  }
}

/** Bytes per read of an iterator. The default of 16 KiB is about 85 keys, and each read is a round trip to another thread. */
export const block = { highWaterMarkBytes: 128 << 10 };
const entriesAtATime = 1000;

export interface PageOptions {
  readonly snapshot?: LevelSnapshot;
  readonly limit?: number;
  /** True for reverse order. */
  readonly reverse?: boolean;
  /** Called with the last key of each block of entries. Returns a later key to continue at, if any. */
  readonly skip?: (last: string) => string | undefined;
}

/**
 * Yields the keys of a range in blocks. The iterator is always closed, and a read error is thrown, never treated as the end. A
 * block may be short, since LevelDB ends it after a number of bytes. Only an empty block is the end.
 */
export async function* keyBlocks(level: Level, range: KeyRange, options: PageOptions = {}): AsyncGenerator<string[]> {
  const iterator = level.keys({ ...range, ...options, ...block });
  try {
    for (;;) {
      const keys = await iterator.nextv(entriesAtATime);
      if (keys.length === 0) return;
      yield keys;
    }
  } finally {
    await iterator.close();
  }
}

/** Like `keyBlocks`, with values. */
export async function* entryBlocks(
  level: Level,
  range: KeyRange,
  { skip, ...options }: PageOptions = {},
): AsyncGenerator<[string, string][]> {
  const iterator = level.iterator({ ...range, ...options, ...block });
  try {
    for (;;) {
      const entries = await iterator.nextv(entriesAtATime);
      if (entries.length === 0) return;
      for (const entry of entries as [string, string][]) entry[1] = givenValue(entry[1]);
      yield entries as [string, string][];
      const next = skip?.(entries.at(-1)![0]);
      if (next !== undefined) iterator.seek(next);
    }
  } finally {
    await iterator.close();
  }
}
