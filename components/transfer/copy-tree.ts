/** A tree of files sent as a ZIP. */
import type { Writable } from 'node:stream';
import { openFolderTree } from './folder-tree.js';
import { TransferError } from './member.js';
import { ZipSink } from './zip-sink.js';

/** Sends a folder as a ZIP, and ends the stream. @throws TransferError for what cannot be sent */
export async function zipFolder(folder: string, out: Writable): Promise<void> {
  const tree = await openFolderTree(folder);
  const sink = new ZipSink(out);
  for await (const file of tree.files()) {
    if ('refused' in file) throw new TransferError(`${file.path}: ${file.refused}`);
    await sink.add(file.path, file.open(), file.modified === undefined ? {} : { modified: file.modified });
  }
  await sink.end();
}
