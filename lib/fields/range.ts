/** The codec of `Range` and `Content-Range`, for one range of bytes (RFC 9110 14). */

/** A range of bytes: both ends are inclusive, counted from 0. */
export type ByteRange = { readonly start: number; readonly end: number };

const rangePattern = /^[ \t]*bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i;

/**
 * The one range asked of a representation of `size` bytes. Undefined says to ignore the field: another unit, a
 * malformed or an inverted range, or more than one of them (RFC 9110 14.1.1, 14.1.2, 14.2).
 */
export function parseByteRange(field: string, size: number): ByteRange | 'unsatisfiable' | undefined {
  const match = rangePattern.exec(field);
  if (!match) return undefined;
  const first = match[1]!;
  const last = match[2]!;
  if (first === '') return last === '' ? undefined : suffix(Number(last), size);
  if (last !== '' && isBelow(last, first)) return undefined;
  // Too many digits to be exact are also too many to lie below `size`, so the rounding of Number does no harm.
  const start = Number(first);
  if (start >= size) return 'unsatisfiable';
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}

/** `Content-Range` of a part of `size` bytes, as in `bytes 0-9/100` (RFC 9110 14.4). */
export function formatContentRange(range: ByteRange, size: number): string {
  return `bytes ${range.start}-${range.end}/${size}`;
}

function suffix(length: number, size: number): ByteRange | 'unsatisfiable' {
  return length === 0 || size === 0 ? 'unsatisfiable' : { start: Math.max(0, size - length), end: size - 1 };
}

/** Whether the digits `left` are a smaller number than `right`, exactly, however many they are. */
function isBelow(left: string, right: string): boolean {
  const one = left.replace(/^0+/, '');
  const other = right.replace(/^0+/, '');
  return one.length === other.length ? one < other : one.length < other.length;
}
