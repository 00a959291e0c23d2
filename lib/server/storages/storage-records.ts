/**
 * The storages of a deployment as files: `storages/NAME.json` beside the folder `storages/NAME` of each. A record is changed by whoever has the
 * file `NAME.json.new`, and replaced whole, so that commands beside a running server lose nothing of what that writes.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, watch } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StorageRecord } from '../../component/deployment.js';
import { LwsError } from '../../errors.js';
import { syncPath } from '../../storage/engine/synced-files.js';
import { isStorageName } from './addresses.js';

const suffix = '.json';
/** Milliseconds after which who began to change a record is taken for dead. */
const staleMs = 10_000;
/** Milliseconds between looks at the folder, where the system does not tell of changes. */
const lookMs = 5_000;

export const newId = (): string => randomBytes(9).toString('base64url').replace(/[-_]/g, '0');

export class StorageRecords {
  private readonly records = new Map<string, StorageRecord>();
  private seen = 0;
  private stopWatching: (() => void) | undefined;

  /** @param folder `storages/` of the data directory */
  constructor(readonly folder: string) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.readAll();
  }

  get size(): number {
    return this.records.size;
  }

  get(name: string): StorageRecord | undefined {
    return this.records.get(name);
  }

  /** In the order of their names. */
  all(): readonly StorageRecord[] {
    return [...this.records.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** The folder of a storage, which is a data directory. */
  folderOf(name: string): string {
    return join(this.folder, name);
  }

  /**
   * Changes a record, or makes it. It is on the disk when this returns.
   * @param decide what becomes of the present one; `undefined`: there is none any more
   * @throws LwsError `too-busy` while somebody else changes it; what `decide` throws
   */
  async change(
    name: string,
    decide: (present: StorageRecord | undefined) => Omit<StorageRecord, 'revision'> | undefined,
  ): Promise<StorageRecord | undefined> {
    const file = join(this.folder, name + suffix);
    const draft = `${file}.new`;
    const handle = await openDraft(draft);
    try {
      const wanted = decide(readRecord(file));
      const record = wanted && { ...wanted, revision: newId() };
      if (record) {
        await handle.writeFile(`${JSON.stringify(record, undefined, 2)}\n`);
        await handle.sync();
        await rename(draft, file);
      } else await rm(file, { force: true });
      await syncPath(this.folder);
      this.take(name, record);
      return record;
    } finally {
      await handle.close();
      await rm(draft, { force: true });
    }
  }

  /** Follows what others write. @param changed is told of each name whose record is another one */
  watch(changed: (name: string) => void): void {
    const look = (name: string): void => {
      const before = this.records.get(name)?.revision;
      const record = readRecord(join(this.folder, name + suffix));
      this.take(name, record);
      if (record?.revision !== before) changed(name);
    };
    const watcher = watch(this.folder, (_event, file) => {
      if (file?.endsWith(suffix)) look(file.slice(0, -suffix.length));
    });
    watcher.on('error', () => watcher.close());
    const timer = setInterval(() => {
      const { mtimeMs } = statSync(this.folder);
      if (mtimeMs === this.seen) return;
      this.seen = mtimeMs;
      for (const name of new Set([...this.records.keys(), ...namesIn(this.folder)])) look(name);
    }, lookMs).unref();
    this.stopWatching = () => {
      watcher.close();
      clearInterval(timer);
    };
  }

  close(): void {
    this.stopWatching?.();
  }

  private readAll(): void {
    this.seen = statSync(this.folder).mtimeMs;
    for (const name of namesIn(this.folder)) this.take(name, readRecord(join(this.folder, name + suffix)));
  }

  private take(name: string, record: StorageRecord | undefined): void {
    if (record) this.records.set(name, record);
    else this.records.delete(name);
  }
}

const namesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith(suffix))
    .map((file) => file.slice(0, -suffix.length))
    .filter(isStorageName);

/** @throws Error for a file that is no record */
function readRecord(file: string): StorageRecord | undefined {
  if (!existsSync(file)) return undefined;
  try {
    const record = JSON.parse(readFileSync(file, 'utf8')) as StorageRecord;
    if (typeof record.id !== 'string' || !Array.isArray(record.owners)) throw new Error('it has no id, or no owners');
    return record;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(`The record ${file} cannot be read: ${(cause as Error).message}.`, { cause });
  }
}

async function openDraft(draft: string): Promise<Awaited<ReturnType<typeof open>>> {
  for (let tries = 0; tries < 100; tries++) {
    try {
      return await open(draft, 'wx', 0o600);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const { mtimeMs } = await stat(draft).catch(() => ({ mtimeMs: Date.now() }));
    if (mtimeMs < Date.now() - staleMs) await rm(draft, { force: true });
    await sleep(20);
  }
  throw new LwsError('too-busy', 'Somebody else changes the record of this storage. Try again in a moment.');
}
