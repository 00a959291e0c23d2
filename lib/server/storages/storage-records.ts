/**
 * Records of the storages of a deployment, as files `storages/NAME.json` next to the directories `storages/NAME`. A writer
 * creates the lock file `NAME.json.new` and replaces the record atomically, so that commands and a running server do not lose
 * changes of each other.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, watch } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StorageRecord } from '../../component/deployment.js';
import { syncPath } from '../../storage/level/synced-files.js';
import { LwsError } from '../../tools/errors.js';
import { isObject } from '../../tools/json/exact-json.js';
import { isStorageName } from './addresses.js';

const suffix = '.json';
/** Lock timeout, in milliseconds. */
const staleMs = 10_000;
/** Polling interval of the directory in milliseconds, if the system does not report changes. */
const lookMs = 5_000;

export const newId = (): string => randomBytes(9).toString('base64url').replace(/[-_]/g, '0');

type Decided = Omit<StorageRecord, 'revision'> | undefined;

export class StorageRecords {
  private readonly records = new Map<string, StorageRecord>();
  /** Records in name order. Undefined after a change. */
  private sorted: readonly StorageRecord[] | undefined;
  private seen = 0;
  private stopWatching: (() => void) | undefined;

  /**
   * @param folder `storages/` of the data directory
   * @param onTrouble called for unreadable records, which are then skipped; absent: an unreadable record is an error
   * @throws LwsError `conflict`
   */
  constructor(
    readonly folder: string,
    onTrouble?: (error: unknown) => void,
  ) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.readAll(onTrouble);
  }

  get size(): number {
    return this.records.size;
  }

  get(name: string): StorageRecord | undefined {
    return this.records.get(name);
  }

  /** Returns the records in name order. */
  all(): readonly StorageRecord[] {
    this.sorted ??= [...this.records.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    return this.sorted;
  }

  /** Returns the directory of a storage, which is a data directory. */
  folderOf(name: string): string {
    return join(this.folder, name);
  }

  /**
   * Changes or creates a record. The record is on disk when the promise resolves.
   * @param decide returns the new record from the present one, or `undefined` to delete it
   * @throws LwsError `too-busy` while another writer holds the lock, `conflict` for an unreadable record; errors of `decide`
   */
  async change(
    name: string,
    decide: (present: StorageRecord | undefined) => Decided,
  ): Promise<StorageRecord | undefined> {
    const file = join(this.folder, name + suffix);
    const draft = `${file}.new`;
    const handle = await openDraft(draft);
    const { ino } = await handle.stat();
    const isOurs = async (): Promise<boolean> => (await stat(draft).catch(() => undefined))?.ino === ino;
    try {
      const wanted = decide(readRecord(this.folder, name));
      const record = wanted && { ...wanted, revision: newId() };
      if (record) {
        await handle.writeFile(`${JSON.stringify(record, undefined, 2)}\n`);
        await handle.sync();
        // A writer whose lock expired must not replace the record.
        if (!(await isOurs())) throw tooBusy();
        await rename(draft, file);
      } else await rm(file, { force: true });
      await syncPath(this.folder);
      this.take(name, record);
      return record;
    } finally {
      if (await isOurs()) await rm(draft, { force: true });
      await handle.close();
    }
  }

  /**
   * Watches for changes of other writers.
   * @param changed called with the name of each changed record
   * @param onTrouble called for an unreadable record; the previous one stays valid
   */
  watch(changed: (name: string) => void, onTrouble: (error: unknown) => void): void {
    const trying = (work: () => void): void => {
      try {
        work();
      } catch (error) {
        onTrouble(error);
      }
    };
    const look = (name: string): void => {
      const before = this.records.get(name);
      const record = readRecord(this.folder, name);
      this.take(name, record);
      if (JSON.stringify(record) !== JSON.stringify(before)) changed(name);
    };
    const lookAll = (): void => {
      const { mtimeMs } = statSync(this.folder);
      if (mtimeMs === this.seen) return;
      this.seen = mtimeMs;
      for (const name of new Set([...this.records.keys(), ...namesIn(this.folder)])) trying(() => look(name));
    };
    const watcher = watch(this.folder, (_event, file) => {
      const name = file?.endsWith(suffix) ? file.slice(0, -suffix.length) : '';
      if (isStorageName(name)) trying(() => look(name));
    });
    watcher.on('error', () => watcher.close());
    const timer = setInterval(() => trying(lookAll), lookMs).unref();
    this.stopWatching = () => {
      watcher.close();
      clearInterval(timer);
    };
  }

  close(): void {
    this.stopWatching?.();
  }

  private readAll(onTrouble?: (error: unknown) => void): void {
    this.seen = statSync(this.folder).mtimeMs;
    for (const name of namesIn(this.folder))
      try {
        this.take(name, readRecord(this.folder, name));
      } catch (error) {
        if (!onTrouble) throw error;
        onTrouble(error);
      }
  }

  private take(name: string, record: StorageRecord | undefined): void {
    if (record) this.records.set(name, record);
    else this.records.delete(name);
    this.sorted = undefined;
  }
}

const namesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith(suffix))
    .map((file) => file.slice(0, -suffix.length))
    .filter(isStorageName);

const states: readonly unknown[] = ['ready', 'suspended', 'deleted'] satisfies StorageRecord['state'][];

/** Reads a record. Returns `undefined` if it does not exist. @throws LwsError `conflict` for a file that is not a record */
function readRecord(folder: string, name: string): StorageRecord | undefined {
  const file = join(folder, name + suffix);
  try {
    const record: unknown = JSON.parse(readFileSync(file, 'utf8'));
    const { id, owners, settings, state, revision } = isObject(record) ? record : {};
    const isText = (value: unknown): boolean => typeof value === 'string';
    if (!isText(id) || !isText(revision) || !isObject(settings) || !Array.isArray(owners) || !owners.every(isText))
      throw new Error('it lacks one of id, revision, owners and settings');
    if (!states.includes(state)) throw new Error(`its state is not one of ${states.join(', ')}`);
    // The name of the file determines the name of the storage, also for copied files.
    return { ...(record as StorageRecord), name };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new LwsError('conflict', `The record ${file} cannot be read: ${(error as Error).message}.`);
  }
}

const tooBusy = (): LwsError =>
  new LwsError('too-busy', 'Another operator is changing this storage. Retry in a few seconds.');

async function openDraft(draft: string): Promise<Awaited<ReturnType<typeof open>>> {
  for (let tries = 0; tries < 100; tries++) {
    try {
      return await open(draft, 'wx', 0o600);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const { mtimeMs } = await stat(draft).catch(() => ({ mtimeMs: Date.now() }));
    if (Math.abs(Date.now() - mtimeMs) > staleMs) await rm(draft, { force: true });
    await sleep(20);
  }
  throw tooBusy();
}
