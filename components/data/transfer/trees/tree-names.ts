/** Validates names of files in trees, for trees and for file systems. Has no side effects. */
import { isUtf8 } from 'node:buffer';

/** Maximum length of a path in a tree, in characters, the same as for resources. */
export const longestTreePath = 4096;

/** Maximum length of a file name in file systems, in bytes. */
const longestName = 255;

/** Returns why a path is not allowed in a tree, as the end of a sentence, or `undefined` if it is allowed. */
export function faultOfPath(path: string): string | undefined {
  if (path.length > longestTreePath) return `its path is longer than ${longestTreePath} characters`;
  if (path.includes('\0')) return 'its name contains the character U+0000';
  if (path.startsWith('/')) return 'its name is absolute';
  const segments = path.split('/');
  if (segments.at(-1) === '') segments.pop();
  if (segments.length === 0 || segments.includes('')) return 'its name has an empty segment';
  if (segments.includes('..')) return 'its name leads out of the directory (..)';
  return segments.includes('.') ? 'its name has the segment "."' : undefined;
}

/** Returns why a path cannot be written to a file system, as the end of a sentence, or `undefined` if it can. */
export function unwritablePath(path: string): string | undefined {
  const long = path.split('/').find((name) => Buffer.byteLength(name) > longestName);
  return long === undefined
    ? faultOfPath(path)
    : `the name ${long.slice(0, 40)}… has ${Buffer.byteLength(long)} bytes; the limit of file systems is ${longestName}`;
}

/** Returns a name as text, or `undefined` if it is not UTF-8. */
export const nameOfBytes = (bytes: Uint8Array): string | undefined =>
  isUtf8(bytes) ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8') : undefined;

/** Characters 128 to 255 of code page 437 (Unicode's mapping CP437.TXT), the encoding of names in a ZIP (APPNOTE D.1). */
const upperCodePage437 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0';

/** Returns a name in code page 437 as text. */
export const nameInCodePage437 = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => (byte < 0x80 ? String.fromCharCode(byte) : upperCodePage437[byte - 0x80])).join('');

/** Returns a name that is not UTF-8 in a form for messages. */
export const shownPath = (bytes: Uint8Array): string =>
  Buffer.from(bytes)
    .toString('latin1')
    .replace(/[^ -~]/g, '?')
    .slice(0, 200);
