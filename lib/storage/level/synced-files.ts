/** Makes names of files durable: the sync of a file does not write its name, only the sync of its folder does. */
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

/** Returns when a file, or the names in a folder, are on the disk. @throws the file system's error */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Creates a folder of mode 0700 and its missing parents. Node's recursive mkdir never returns below /proc, where the kernel answers ENOENT.
 * @returns the topmost folder that was created
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

/** Makes a folder of mode 0700, and those above it. Returns when their names are on the disk. @throws the file system's error */
export async function makeFolder(folder: string): Promise<void> {
  const first = makeFolders(folder);
  for (let at = folder; first !== undefined && at.startsWith(first); at = dirname(at)) await syncPath(dirname(at));
}

/**
 * Writes a file of mode 0600 atomically: a reader finds either the old or all of the new text, after a power cut too.
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
  const folder = openSync(dirname(file), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

const descriptors = '/proc/self/fd';
const isLog = (name: string): boolean => name.endsWith('.log');

/** The log that LevelDB writes to in a folder. LevelDB begins a new one when it is long, and does not sync the name of the new file. */
export class NewestLog {
  /** The newest log when the folder was last synced, and the link in /proc that shows whether it is still the open one. */
  private synced: { readonly name: string | undefined; readonly link?: string } | undefined;

  constructor(private readonly folder: string) {}

  /**
   * Returns when the name of the newest log, at the time of the call, is on the disk. While LevelDB still has the synced log open, nothing is
   * to be done, which the link shows in a few microseconds.
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

/** The path of the file that a descriptor is of; `undefined` when it is closed. */
function targetOf(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Returns when everything that was written to LevelDB before is on the disk, in whichever of its logs it is. */
export async function syncLogs(folder: string): Promise<void> {
  for (const name of (await readdir(folder)).filter(isLog))
    await syncPath(join(folder, name)).catch((error: NodeJS.ErrnoException) => {
      // LevelDB removes a log when its content is in a table, which is synced.
      if (error.code !== 'ENOENT') throw error;
    });
  await syncPath(folder);
}
