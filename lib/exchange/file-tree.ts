/** Trees of files, in a folder or in a ZIP. */
import { isObject } from '../json/exact-json.js';
import { parseJson } from '../json/json.js';
import { type MemberOptions, type MemberReader, type ReadStep, SyntaxFault, TransferError } from './member.js';

export interface TreeFile {
  /** The names of the folders and the file, not percent-encoded, with slashes between them: `a/b c.ttl`. Folders end with a slash. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly modified?: number;
  /** The content; a file may be opened again. */
  open(): AsyncIterable<Uint8Array>;
}

/** An entry of a tree that cannot be read safely: a symbolic link, a name with `..`, a device. */
export interface RefusedFile {
  readonly path: string;
  /** The reason, as a sentence. */
  readonly refused: string;
}

export interface FileTree {
  /** Bytes of all files. */
  readonly total: number;
  /**
   * All files and folders, a folder before what is in it, in an order that is the same each time.
   * @param after continue after this path
   */
  files(after?: string): AsyncIterable<TreeFile | RefusedFile>;
  /** The file with exactly this path. */
  file(path: string): Promise<TreeFile | undefined>;
  close(): Promise<void>;
}

/** The target of files: a folder, or a ZIP that is sent. */
export interface TreeSink {
  /** Adds a file. Returns when the next one may be added (backpressure). @param path as in `TreeFile` */
  add(path: string, content: Uint8Array | AsyncIterable<Uint8Array>, facts?: { modified?: number }): Promise<void>;
  end(): Promise<void>;
}

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
  // The bytes are counted too: a file may grow while it is read, or have no length.
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

/** The object in a file of JSON. @param fault what is told of other JSON; @throws TransferError for anything else */
export async function objectOfFile(
  file: Opened,
  most: number,
  fault = 'It is not an object.',
): Promise<Record<string, unknown>> {
  const bytes = await bytesOfFile(file, most);
  try {
    const found = parseJson(bytes.toString('utf8').replace(/^\ufeff/, ''));
    if (isObject(found)) return found;
  } catch (cause) {
    throw new TransferError(`${file.path}: ${(cause as Error).message}`, { cause });
  }
  throw new TransferError(`${file.path}: ${fault}`);
}

/** A file that must be there. @throws TransferError */
export async function requiredFile(tree: FileTree, path: string, why: string): Promise<TreeFile> {
  const file = await tree.file(path);
  if (file === undefined) throw new TransferError(`There is no ${path}: ${why}.`);
  return file;
}

/** Makes the reader of a tree from a function that gives its steps. */
export const treeReader =
  <Tools = void>(read: (tree: FileTree, options: MemberOptions, tools: Tools) => AsyncIterable<ReadStep>) =>
  (tree: FileTree, tools: Tools): MemberReader => ({
    total: tree.total,
    read: (options) => read(tree, options, tools),
    close: () => tree.close(),
  });
