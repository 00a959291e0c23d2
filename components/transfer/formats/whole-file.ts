/** Files of a tree that are read at once, such as those that describe the others. */
import type { FileTree, TreeFile } from '../file-tree.js';
import { TransferError } from '../member.js';

/**
 * The bytes of a file.
 * @param most bytes
 * @throws TransferError when it has more
 */
export async function bytesOfFile(file: TreeFile, most: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  if (file.size > most) throw tooLong(file, most);
  for await (const chunk of file.open()) {
    length += chunk.length;
    // It grows while it is read.
    if (length > most) throw tooLong(file, most);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

const tooLong = ({ path }: TreeFile, most: number): TransferError =>
  new TransferError(`${path} has more than the ${most} bytes that it may have.`);

/** A file that must be there. @throws TransferError */
export async function requiredFile(tree: FileTree, path: string, why: string): Promise<TreeFile> {
  const file = await tree.file(path);
  if (file === undefined) throw new TransferError(`There is no ${path}: ${why}.`);
  return file;
}
