/** Entity tags: `ETag`, `If-Match` and `If-None-Match` (RFC 9110 8.8.3, 13.1). */
import { skipSpace } from './syntax.js';

/** An entity tag. `opaque` is the text between the quotes. */
export interface EntityTag {
  readonly weak: boolean;
  readonly opaque: string;
}

const quote = 0x22;
const asterisk = 0x2a;
const comma = 0x2c;

/** Formats a strong entity tag. `opaque` must consist of etagc: no white space, quotes or control characters (RFC 9110 8.8.3). */
export function formatEntityTag(opaque: string): string {
  return `"${opaque}"`;
}

/**
 * Parses `If-Match` or `If-None-Match` into tags or `*`. Returns undefined if the field is malformed or empty. Skips empty list
 * elements (RFC 9110 5.6.1.2, 8.8.3, 13.1.1).
 */
export function parseEntityTags(field: string): '*' | readonly EntityTag[] | undefined {
  let at = skipSpace(field, 0);
  if (field.charCodeAt(at) === asterisk) return skipSpace(field, at + 1) === field.length ? '*' : undefined;
  const tags: EntityTag[] = [];
  while (at < field.length) {
    if (field.charCodeAt(at) !== comma) {
      const weak = field.startsWith('W/', at);
      const start = weak ? at + 3 : at + 1;
      const end = field.charCodeAt(start - 1) === quote ? opaqueEnd(field, start) : -1;
      if (end === -1) return undefined;
      tags.push({ weak, opaque: field.slice(start, end) });
      at = skipSpace(field, end + 1);
      if (at < field.length && field.charCodeAt(at) !== comma) return undefined;
    }
    at = skipSpace(field, at + 1);
  }
  return tags.length === 0 ? undefined : tags;
}

/** Returns the index of the closing quote, or -1 if it is missing or a character is not etagc. */
function opaqueEnd(field: string, start: number): number {
  for (let at = start; at < field.length; at++) {
    const code = field.charCodeAt(at);
    if (code === quote) return at;
    // A backslash is an ordinary etagc: entity tags have no escapes.
    if (code <= 0x20 || code === 0x7f || code > 0xff) return -1;
  }
  return -1;
}
