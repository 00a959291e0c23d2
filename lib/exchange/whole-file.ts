/** Files of a tree that are read at once, such as those that describe the others. */
import type { FileTree, TreeFile } from './file-tree.js';
import { TransferError } from './member.js';
import { SyntaxFault } from './syntax-fault.js';

/** A file, or the content of a member. */
type Opened = Pick<TreeFile, 'path' | 'open'> & { readonly size?: number };

/**
 * The bytes of a file.
 * @param most bytes; @param hint what to do about more
 * @throws SyntaxFault when it has more
 */
export async function bytesOfFile(file: Opened, most: number, hint = ''): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = file.size ?? 0;
  // It grows while it is read, or says nothing of its length.
  if (length <= most) {
    length = 0;
    for await (const chunk of file.open()) {
      length += chunk.length;
      chunks.push(chunk);
      if (length > most) break;
    }
  }
  if (length <= most) return Buffer.concat(chunks, length);
  throw new SyntaxFault(`${file.path} has more than the ${most} bytes that it may have.${hint}`);
}

/** A file that must be there. @throws TransferError */
export async function requiredFile(tree: FileTree, path: string, why: string): Promise<TreeFile> {
  const file = await tree.file(path);
  if (file === undefined) throw new TransferError(`There is no ${path}: ${why}.`);
  return file;
}
