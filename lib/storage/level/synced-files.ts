/** Makes file names durable. Syncing a file does not write its name; only syncing its directory does. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { open, readdir, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Resolves when a file, or the names in a directory, are on disk. @throws the file system's error */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Creates a directory of mode 0700 and its missing parents. Node's recursive mkdir never returns below /proc, where the kernel
 * returns ENOENT.
 * @returns the topmost created directory
 * @throws the file system's error
 */
export function makeFolders(folder: string): string | undefined {
  try {
    mkdirSync(folder, { mode: 0o700 });
    return folder;
  } catch (error) {
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return undefined;
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || existsSync(dirname(folder))) throw error;
  }
  const first = makeFolders(dirname(folder));
  const made = makeFolders(folder);
  return first ?? made;
}

/** Creates a directory of mode 0700 and its parents. Resolves when their names are on disk. @throws the file system's error */
export async function makeFolder(folder: string): Promise<void> {
  const first = makeFolders(folder);
  for (let at = folder; first !== undefined && at.startsWith(first); at = dirname(at)) await syncPath(dirname(at));
}

/**
 * Writes a file of mode 0600 atomically: readers find either the old or the new content, also after a power cut.
 * @throws the file system's error
 */
export function writeWhole(file: string, content: string | readonly Uint8Array[]): void {
  makeFolders(dirname(file));
  const handle = openSync(`${file}.new`, 'w', 0o600);
  try {
    for (const part of typeof content === 'string' ? [content] : content) writeFileSync(handle, part);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(`${file}.new`, file);
  syncDirectory(dirname(file));
}

/** Waits until the names in a directory are on disk. @throws the file system's error */
export function syncDirectory(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

const descriptors = '/proc/self/fd';
const isLog = (name: string): boolean => name.endsWith('.log');

/** Log that LevelDB writes to. When it is long, LevelDB starts a new file, and does not sync the name of this file. */
export class NewestLog {
  /** Newest log at the last sync of the directory, and its link in /proc, which shows if LevelDB still has it open. */
  private synced: { readonly name: string | undefined; readonly link?: string } | undefined;

  constructor(private readonly folder: string) {}

  /**
   * Resolves when the name of the newest log at the time of the call is on disk. If LevelDB still has the synced log open,
   * there is nothing to sync. The link shows this in a few microseconds.
   */
  async settle(): Promise<void> {
    if (this.synced?.link !== undefined && targetOf(this.synced.link) === this.synced.name) return;
    const found = await this.find();
    if (found.link === undefined && found.name === this.synced?.name) return;
    await syncPath(this.folder);
    this.synced = found;
  }

  private async find(): Promise<NonNullable<NewestLog['synced']>> {
    const folder = `${await realpath(this.folder)}/`;
    // The log that the process has open is the one that was written to, or a later one.
    for (const descriptor of process.platform === 'linux' ? readdirSync(descriptors) : []) {
      const link = join(descriptors, descriptor);
      const name = targetOf(link);
      if (name?.startsWith(folder) && isLog(name)) return { name, link };
    }
    return { name: (await readdir(folder)).filter(isLog).sort().at(-1) };
  }
}

/** Returns the path of a descriptor's file; `undefined` if it is closed. */
function targetOf(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Resolves when all earlier writes to LevelDB are on disk, in any of its logs. */
export async function syncLogs(folder: string): Promise<void> {
  for (const name of (await readdir(folder)).filter(isLog))
    await syncPath(join(folder, name)).catch((error: NodeJS.ErrnoException) => {
      // LevelDB removes a log after its content is in a synced table.
      if (error.code !== 'ENOENT') throw error;
    });
  await syncPath(folder);
}
