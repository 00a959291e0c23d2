/** Reads the tree of files in a directory. Symbolic links are never followed, because they may point to any file on the machine. */
import { constants, type Stats } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { FileTree, RefusedFile, TreeFile } from '../../../../lib/exchange/file-tree.js';
import { TransferError } from '../../../../lib/exchange/member.js';
import { slices } from '../../../../lib/tools/collections.js';
import { faultOfPath, nameOfBytes, shownPath } from './tree-names.js';

/** Flags for opening files. Without `O_NONBLOCK`, opening a pipe that has replaced a file would wait for a writer. */
const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Opens the tree of a directory and adds up its size. @throws TransferError if the directory does not exist or is not readable */
export async function openFolderTree(folder: string): Promise<FileTree> {
  const root = resolve(folder);
  const facts = await told(lstat(root), folder);
  if (!facts.isDirectory()) throw new TransferError(`${folder} is not a directory.`);
  let total = 0;
  for await (const found of walk(root)) if ('size' in found) total += found.size;
  return { total, files: (after) => walk(root, after), file: (path) => fileAt(root, path), close: async () => {} };
}

/** Number of files whose metadata is read concurrently. */
const atOnce = 64;

/** Maximum size of files read in one operation, in bytes. */
const short = 64 << 10;

/** Opens a single file as a tree, as if it were alone in a directory. @throws TransferError if it does not exist */
export async function openFileTree(file: string, name: string): Promise<FileTree> {
  const facts = await told(lstat(resolve(file)), name);
  if (!facts.isFile()) throw new TransferError(`${name} is not a file.`);
  const only = { ...treeFile(resolve(file, '..'), basename(file), facts), path: name };
  const files = async function* (after?: string): AsyncGenerator<TreeFile> {
    if (after === undefined || name > after) yield only;
  };
  return { total: facts.size, files, file: async (path) => (path === name ? only : undefined), close: async () => {} };
}

interface Entry {
  readonly path: string;
  readonly refused?: string;
  readonly facts?: Stats;
}

/** Yields files and directories in the order of their paths, by UTF-16 units: `a.ttl`, `a/`, `a/b`, `a0`. */
async function* walk(root: string, after?: string): AsyncGenerator<TreeFile | RefusedFile> {
  // A stack: the last entry is the next one.
  const open: Entry[] = await entriesOf(root, '');
  for (let entry = open.pop(); entry; entry = open.pop()) {
    const { path, refused, facts } = entry;
    const isBehind = after === undefined || path > after;
    if (refused !== undefined) {
      if (isBehind) yield { path, refused };
      continue;
    }
    if (isBehind) yield treeFile(root, path, facts!);
    if (facts!.isDirectory() && (isBehind || after.startsWith(path))) open.push(...(await entriesOf(root, path)));
  }
}

/** Returns the entries of a directory in reverse order. */
async function entriesOf(root: string, folder: string): Promise<Entry[]> {
  const names = await told(readdir(resolve(root, folder), { encoding: 'buffer' }), folder);
  const entries: Entry[] = [];
  const entry = async (bytes: Buffer): Promise<Entry> => {
    const name = nameOfBytes(bytes);
    if (name !== undefined) return entryOf(root, folder + name);
    return { path: folder + shownPath(bytes), refused: 'Its name is not UTF-8.' };
  };
  for (const some of slices(names, atOnce)) entries.push(...(await Promise.all(some.map(entry))));
  return entries.sort((a, b) => (a.path < b.path ? 1 : -1));
}

async function entryOf(root: string, path: string): Promise<Entry> {
  const fault = faultOfPath(path);
  if (fault !== undefined) return { path, refused: `It is rejected: ${fault}.` };
  const facts = await told(lstat(resolve(root, path)), path);
  if (facts.isDirectory()) return { path: `${path}/`, facts };
  if (facts.isFile()) return { path, facts };
  const what = facts.isSymbolicLink() ? 'a symbolic link; these are not followed' : 'neither a file nor a directory';
  return { path, refused: `It is ${what}.` };
}

const treeFile = (root: string, path: string, facts: Stats): TreeFile => ({
  path,
  size: facts.isDirectory() ? 0 : facts.size,
  modified: Math.trunc(facts.mtimeMs),
  open: () => (facts.isDirectory() ? nothing() : contentOf(resolve(root, path), path, facts.size)),
});

async function* nothing(): AsyncGenerator<Uint8Array> {}

async function* contentOf(file: string, path: string, size: number): AsyncGenerator<Uint8Array> {
  const handle = await told(open(file, flags), path);
  try {
    if (!(await handle.stat()).isFile()) throw new TransferError(`${path} is no longer a file.`);
    let start = 0;
    if (size <= short) {
      const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(size + 1), 0, size + 1, 0);
      yield buffer.subarray(0, bytesRead);
      // The whole file was read at once, and has not grown since.
      if (bytesRead === size) return;
      start = bytesRead;
    }
    yield* handle.createReadStream({ autoClose: false, highWaterMark: 64 << 10, start });
  } finally {
    await handle.close();
  }
}

async function fileAt(root: string, path: string): Promise<TreeFile | undefined> {
  if (path.endsWith('/') || faultOfPath(path) !== undefined) return undefined;
  const segments = path.split('/');
  // A symbolic link in any segment of the path could lead out of the directory.
  for (let count = 1; count <= segments.length; count++) {
    const facts = await lstat(resolve(root, ...segments.slice(0, count))).catch(noneWhereMissing);
    if (count < segments.length ? !facts?.isDirectory() : !facts?.isFile()) return undefined;
    if (count === segments.length) return treeFile(root, path, facts!);
  }
  return undefined;
}

function noneWhereMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR' && error.code !== 'ENAMETOOLONG') throw error;
}

/** Awaits a file system operation. @throws TransferError for an error of the operating system. Other errors are unchanged */
export function told<T>(work: Promise<T>, path: string, what = 'read'): Promise<T> {
  return work.catch((cause: NodeJS.ErrnoException) => {
    if (cause.syscall === undefined) throw cause;
    const why = cause.code === 'EEXIST' ? 'another file has the same name' : cause.code;
    throw new TransferError(`${path.slice(0, 200) || 'The directory'} cannot be ${what}: ${why}.`, { cause });
  });
}
