/** Copies folders into ZIPs and ZIPs into folders. */
import type { Writable } from 'node:stream';
import { type FileTree, type RefusedFile, TransferError, type TreeSink } from '../../lib/component/exchange.js';
import { openFolderSink, openFolderTree } from './folder-tree.js';
import { ZipSink } from './zip-sink.js';
import { openZipTree } from './zip-tree.js';

/** @param onRefused called for what is not copied, such as symbolic links; it may throw @throws TransferError for what cannot be read */
async function copyTree(tree: FileTree, sink: TreeSink, onRefused: (refused: RefusedFile) => void): Promise<void> {
  try {
    for await (const file of tree.files())
      if ('refused' in file) onRefused(file);
      else await sink.add(file.path, file.open(), file.modified === undefined ? {} : { modified: file.modified });
    await sink.end();
  } finally {
    await tree.close();
  }
}

/** Sends a folder as a ZIP, and ends the stream. */
export const zipFolder = async (
  folder: string,
  out: Writable,
  onRefused: (refused: RefusedFile) => void,
): Promise<void> => copyTree(await openFolderTree(folder), new ZipSink(out), onRefused);

/** Writes the files of a ZIP into a folder that is empty or not there. */
export const unzipInto = async (file: string, folder: string): Promise<void> =>
  copyTree(await openZipTree(file), await openFolderSink(folder), ({ path, refused }) => {
    throw new TransferError(`${path}: ${refused}`);
  });
