/** Files written to a folder, which was empty, for its owner alone. It never writes outside of it. */
import { mkdir, open, readdir, utimes } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { TransferError, type TreeSink } from '../../lib/component/exchange.js';
import { unwritablePath } from './tree-names.js';

/**
 * Opens a folder to be written to, and makes it where there is none.
 * @throws TransferError when something is in it already
 */
export async function openFolderSink(folder: string): Promise<TreeSink> {
  const root = resolve(folder);
  await told(mkdir(root, { recursive: true, mode: 0o700 }), folder);
  if ((await told(readdir(root), folder)).length > 0)
    throw new TransferError(`${folder} is not empty. Name a folder that does not exist, or is empty.`);
  return new FolderSink(root);
}

class FolderSink implements TreeSink {
  /** The folder that was there for the last file: files of one folder mostly follow each other. */
  private last: string;

  constructor(private readonly root: string) {
    this.last = root;
  }

  async add(
    path: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    { modified }: { modified?: number } = {},
  ): Promise<void> {
    const fault = unwritablePath(path);
    if (fault !== undefined) throw new TransferError(`${path.slice(0, 200)} cannot be written: ${fault}.`);
    const file = join(this.root, path);
    await told(this.write(file, content, path.endsWith('/')), path);
    if (modified !== undefined && !path.endsWith('/')) await told(utimes(file, modified / 1000, modified / 1000), path);
  }

  private async write(file: string, content: Uint8Array | AsyncIterable<Uint8Array>, isFolder: boolean): Promise<void> {
    const folder = isFolder ? resolve(file) : dirname(file);
    if (folder !== this.last) await mkdir(folder, { recursive: true, mode: 0o700 });
    this.last = folder;
    if (isFolder) return;
    const handle = await open(file, 'wx', 0o600);
    try {
      await handle.writeFile(content as Uint8Array);
    } finally {
      await handle.close();
    }
  }

  async end(): Promise<void> {}
}

/** @throws TransferError for what the operating system refuses; what the content throws stays */
function told<T>(work: Promise<T>, path: string): Promise<T> {
  return work.catch((cause: NodeJS.ErrnoException) => {
    if (cause.syscall === undefined) throw cause;
    const why = cause.code === 'EEXIST' ? 'there is something so named already' : cause.code;
    throw new TransferError(`${path.slice(0, 200)} cannot be written: ${why}.`, { cause });
  });
}
