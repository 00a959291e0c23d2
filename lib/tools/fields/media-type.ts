/** Media types, as in `Content-Type` (RFC 9110 8.3.1). */
import { noParameters, readParameters, skipSpace, strictPairs, tokenEnd } from './syntax.js';

/** A media type: `essence` is the lower-case `type/subtype`. Parameter names are lower case, values unchanged. */
export interface MediaType {
  readonly essence: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const slash = 0x2f;

/** Maximum length of a media type that is sent in responses, in characters: HTTP clients reject 16 KiB of fields. */
export const longestEcho = 8 << 10;

/** Returns true if a media type can be sent in a response unchanged. */
export const isSendableType = (field: string): boolean =>
  field.length <= longestEcho &&
  /^[\t -~\u0080-\u00ff]*$/.test(field) &&
  parseMediaType(field)?.essence.includes('*') === false;

/** Parses a media type strictly. Returns undefined if it is malformed. The first of repeated parameters counts (RFC 9110 8.3.1). */
export function parseMediaType(field: string): MediaType | undefined {
  const start = skipSpace(field, 0);
  const middle = tokenEnd(field, start);
  if (middle === start || field.charCodeAt(middle) !== slash) return undefined;
  const end = tokenEnd(field, middle + 1);
  if (end === middle + 1) return undefined;
  const essence = field.slice(start, end).toLowerCase();
  if (end === field.length) return { essence, parameters: noParameters };
  const read = readParameters(field, end, strictPairs);
  return read?.end === field.length ? { essence, parameters: read.parameters } : undefined;
}
