/** Writes files to an empty folder, with permissions for the file owner only. Nothing is written outside of the folder. */
import { mkdir, open, readdir, utimes } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { TreeSink } from '../../../../lib/exchange/file-tree.js';
import { TransferError } from '../../../../lib/exchange/member.js';
import { makeFolder } from '../../../../lib/storage/level/synced-files.js';
import { told } from './folder-tree.js';
import { unwritablePath } from './tree-names.js';

/** Opens a folder for writing. Creates it if it does not exist. @throws TransferError if it is not empty */
export async function openFolderSink(folder: string): Promise<TreeSink> {
  const root = resolve(folder);
  await told(makeFolder(root), folder, 'written');
  if ((await told(readdir(root), folder, 'written')).length > 0)
    throw new TransferError(`${folder} is not empty. Use an empty or new directory.`);
  return new FolderSink(root);
}

class FolderSink implements TreeSink {
  /** Folder of the last file, which exists. Most files are in the same folder as the file before. */
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
    await told(this.write(file, content, path.endsWith('/')), path, 'written');
    if (modified !== undefined && !path.endsWith('/'))
      await told(utimes(file, modified / 1000, modified / 1000), path, 'written');
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
