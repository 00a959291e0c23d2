/** Trees of files, in a directory or in a ZIP file. */
import { isObject } from '../tools/json/exact-json.js';
import { parseJson } from '../tools/json/json.js';
import { type MemberOptions, type MemberReader, type ReadStep, SyntaxFault, TransferError } from './member.js';

export interface TreeFile {
  /** Path, not percent-encoded: `a/b c.ttl`. Directories end with a slash. */
  readonly path: string;
  /** Size in bytes. */
  readonly size: number;
  /** Modification time in milliseconds since the epoch. */
  readonly modified?: number;
  /** Returns the content. Can be called again, to read from the start. */
  open(): AsyncIterable<Uint8Array>;
}

/** Entry that is not safe to read: a symbolic link, a name with `..`, or a device. */
export interface RefusedFile {
  readonly path: string;
  /** Reason, as a sentence. */
  readonly refused: string;
}

export interface FileTree {
  /** Total size of all files in bytes. */
  readonly total: number;
  /** Yields all files and directories in a stable order, directories before their content. @param after path to start after */
  files(after?: string): AsyncIterable<TreeFile | RefusedFile>;
  /** Returns the file with this exact path, or `undefined`. */
  file(path: string): Promise<TreeFile | undefined>;
  close(): Promise<void>;
}

/** Destination of written files: a directory, or a ZIP file in a response. */
export interface TreeSink {
  /** Adds a file. Resolves when the next file can be added (backpressure). @param path see `TreeFile` */
  add(path: string, content: Uint8Array | AsyncIterable<Uint8Array>, facts?: { modified?: number }): Promise<void>;
  end(): Promise<void>;
}

/** A file, or the content of a resource. */
type Opened = Pick<TreeFile, 'path' | 'open'> & { readonly size?: number };

/**
 * Returns the bytes of a file.
 * @param most maximum size in bytes
 * @param hint advice for the error message
 * @throws SyntaxFault if the file is larger
 */
export async function bytesOfFile(file: Opened, most: number, hint = ''): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = file.size ?? 0;
  // The bytes are counted too: the file may grow while it is read, or its size may be unknown.
  if (length <= most) {
    length = 0;
    for await (const chunk of file.open()) {
      length += chunk.length;
      chunks.push(chunk);
      if (length > most) break;
    }
  }
  if (length <= most) return Buffer.concat(chunks, length);
  throw new SyntaxFault(`${file.path} exceeds the limit of ${most} bytes.${hint}`);
}

/** Parses a file as a JSON object. @param fault error message for other JSON @throws TransferError with `fault` */
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

/** Returns a file that must exist. @param why reason for the message @throws TransferError if the file does not exist */
export async function requiredFile(tree: FileTree, path: string, why: string): Promise<TreeFile> {
  const file = await tree.file(path);
  if (file === undefined) throw new TransferError(`${path} is missing: ${why}.`);
  return file;
}

/** Creates a function that opens trees of a format, from a generator that reads them. */
export const treeReader =
  <Tools = void>(read: (tree: FileTree, options: MemberOptions, tools: Tools) => AsyncIterable<ReadStep>) =>
  (tree: FileTree, tools: Tools): MemberReader => ({
    total: tree.total,
    read: (options) => read(tree, options, tools),
    close: () => tree.close(),
  });
