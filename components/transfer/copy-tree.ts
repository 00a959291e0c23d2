/** Folders sent as ZIPs, and back. */
import type { Writable } from 'node:stream';
import type { RefusedFile } from './file-tree.js';
import { openFolderSink } from './folder-sink.js';
import { openFolderTree } from './folder-tree.js';
import { TransferError } from './member.js';
import { ZipSink } from './zip-sink.js';
import { openZipTree } from './zip-tree.js';

/**
 * Sends a folder as a ZIP, and ends the stream.
 * @param onRefused is told of what is not sent, such as symbolic links
 * @throws TransferError for what cannot be read
 */
export async function zipFolder(
  folder: string,
  out: Writable,
  onRefused: (refused: RefusedFile) => void,
): Promise<void> {
  const tree = await openFolderTree(folder);
  const sink = new ZipSink(out);
  for await (const file of tree.files()) {
    if ('refused' in file) onRefused(file);
    else await sink.add(file.path, file.open(), file.modified === undefined ? {} : { modified: file.modified });
  }
  await sink.end();
}

/** Writes the files of a ZIP into a folder that is empty or not there. @throws TransferError */
export async function unzipInto(file: string, folder: string): Promise<void> {
  const [tree, sink] = [await openZipTree(file), await openFolderSink(folder)];
  try {
    for await (const found of tree.files()) {
      if ('refused' in found) throw new TransferError(`${found.path}: ${found.refused}`);
      await sink.add(found.path, found.open(), found.modified === undefined ? {} : { modified: found.modified });
    }
    await sink.end();
  } finally {
    await tree.close();
  }
}
