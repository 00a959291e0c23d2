/** Checks names of files in trees: which are valid, and which a file system can have. Pure. */
import { isUtf8 } from 'node:buffer';

/** The most characters of a path in a tree: a resource cannot have a longer one either. */
export const longestTreePath = 4096;

/** The most bytes of a name in file systems. */
const longestName = 255;

/** Why nothing in a tree may have this path, as the end of a sentence; `undefined` where it may. */
export function faultOfPath(path: string): string | undefined {
  if (path.length > longestTreePath) return `its path is longer than ${longestTreePath} characters`;
  if (path.includes('\0')) return 'its name has the character U+0000';
  if (path.startsWith('/')) return 'its name is absolute';
  const segments = path.split('/');
  if (segments.at(-1) === '') segments.pop();
  if (segments.length === 0 || segments.includes('')) return 'a part of its name is empty';
  if (segments.includes('..')) return 'its name leads out of the folder (..)';
  return segments.includes('.') ? 'its name has a part that is a single full stop' : undefined;
}

/** Why no file system has a place for this path, as the end of a sentence; `undefined` where there is one. */
export function unwritablePath(path: string): string | undefined {
  const long = path.split('/').find((name) => Buffer.byteLength(name) > longestName);
  return long === undefined
    ? faultOfPath(path)
    : `the name ${long.slice(0, 40)}… has ${Buffer.byteLength(long)} bytes, and file systems have names of up to ${longestName}`;
}

/** A name as text; `undefined` when its bytes are no UTF-8. */
export const nameOfBytes = (bytes: Uint8Array): string | undefined =>
  isUtf8(bytes) ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8') : undefined;

/** A name that is no UTF-8, in a form for messages. */
export const shownName = (bytes: Uint8Array): string =>
  Buffer.from(bytes)
    .toString('latin1')
    .replace(/[^ -~]/g, '?')
    .slice(0, 200);
