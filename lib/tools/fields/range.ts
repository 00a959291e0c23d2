/** `Range` and `Content-Range` for a single byte range (RFC 9110 14). */

/** A byte range with inclusive ends, counted from 0. */
export type ByteRange = { readonly start: number; readonly end: number };

const rangePattern = /^[ \t]*bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i;

/**
 * Parses the single requested range of a representation of `size` bytes. Undefined means that the field is ignored: another unit,
 * a malformed or inverted range, or several ranges (RFC 9110 14.1.1, 14.1.2, 14.2).
 */
export function parseByteRange(field: string, size: number): ByteRange | 'unsatisfiable' | undefined {
  const match = rangePattern.exec(field);
  if (!match) return undefined;
  const first = match[1]!;
  const last = match[2]!;
  if (first === '') return last === '' ? undefined : suffix(Number(last), size);
  if (last !== '' && isBelow(last, first)) return undefined;
  // A number with too many digits to be exact is larger than `size` anyway.
  const start = Number(first);
  if (start >= size) return 'unsatisfiable';
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}

/** Formats `Content-Range`, such as `bytes 0-9/100` (RFC 9110 14.4). */
export function formatContentRange(range: ByteRange, size: number): string {
  return `bytes ${range.start}-${range.end}/${size}`;
}

function suffix(length: number, size: number): ByteRange | 'unsatisfiable' {
  return length === 0 || size === 0 ? 'unsatisfiable' : { start: Math.max(0, size - length), end: size - 1 };
}

/** Compares two decimal numbers of any length exactly. Returns true if `left` is smaller. */
function isBelow(left: string, right: string): boolean {
  const one = left.replace(/^0+/, '');
  const other = right.replace(/^0+/, '');
  return one.length === other.length ? one < other : one.length < other.length;
}
