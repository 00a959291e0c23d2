/**
 * Parses `multipart/form-data` (RFC 7578) strictly: rejects input that parsers interpret differently, such as data before the
 * first or after the last delimiter, folded or repeated fields, and content encodings.
 */
import { LwsError } from '../tools/errors.js';
import { parseMediaType } from '../tools/fields/media-type.js';
import { readParameters, strictPairs, tokenEnd } from '../tools/fields/syntax.js';

export interface Part {
  /** Media type without parameters. `undefined` if the part has none. */
  readonly mediaType: string | undefined;
  readonly bytes: Buffer;
}

/** Maximum count of parts, and maximum size of the fields of a part in bytes. */
const [mostParts, longestHead] = [1_000, 8 << 10];
const lineEnd = '\r\n';

/** Splits a body into parts. @param contentType value of Content-Type, with the boundary @throws LwsError `malformed-body` */
export function multipartParts(bytes: Buffer, contentType: string): Part[] {
  const boundary = parseMediaType(contentType)?.parameters.get('boundary') ?? '';
  // Syntax of a boundary: RFC 2046 5.1.1.
  if (!/^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/.test(boundary)) throw malformed('the Content-Type has no boundary');
  const delimiter = Buffer.from(`${lineEnd}--${boundary}`);
  if (!bytes.subarray(0, delimiter.length - 2).equals(delimiter.subarray(2)))
    throw malformed('it does not begin with its boundary');
  const parts: Part[] = [];
  let at = delimiter.length - 2;
  while (!startsWith(bytes, '--', at)) {
    if (!startsWith(bytes, lineEnd, at)) throw malformed('the line of a boundary has further text');
    const end = bytes.indexOf(delimiter, at + 2);
    if (end < 0) throw malformed('its last boundary is missing');
    if (parts.push(partOf(bytes.subarray(at + 2, end))) > mostParts)
      throw malformed(`it has more than ${mostParts} parts`);
    at = end + delimiter.length;
  }
  if (at + 2 < bytes.length && !(startsWith(bytes, lineEnd, at + 2) && at + 4 === bytes.length))
    throw malformed('it has data after its last boundary');
  if (parts.length === 0) throw malformed('it has no parts');
  return parts;
}

const startsWith = (bytes: Buffer, text: string, at: number): boolean =>
  bytes.toString('latin1', at, at + text.length) === text;

function partOf(bytes: Buffer): Part {
  const end = bytes.indexOf(lineEnd + lineEnd);
  if (end < 0 || end > longestHead) throw malformed('the fields of a part have no end, or are too long');
  const fields = new Map<string, string>();
  for (const line of bytes.toString('utf8', 0, end).split(lineEnd)) {
    const nameEnd = tokenEnd(line, 0);
    const name = line.slice(0, nameEnd).toLowerCase();
    if (nameEnd === 0 || line[nameEnd] !== ':' || /[\r\n\u0000]/.test(line) || fields.has(name))
      throw malformed('a field of a part is malformed, or repeated');
    fields.set(name, line.slice(nameEnd + 1).trim());
  }
  const disposition = fields.get('content-disposition') ?? '';
  const read = readParameters(disposition, 'form-data'.length, strictPairs);
  if (!/^form-data;/i.test(disposition) || read?.end !== disposition.length || !read.parameters.has('name'))
    throw malformed('a part has no Content-Disposition: form-data with a name');
  if (!/^(?:7bit|8bit|binary)?$/i.test(fields.get('content-transfer-encoding') ?? ''))
    throw malformed('the content of a part is encoded');
  const type = fields.get('content-type');
  const mediaType = type === undefined ? undefined : parseMediaType(type)?.essence;
  if (type !== undefined && mediaType === undefined) throw malformed('the Content-Type of a part is malformed');
  return { mediaType, bytes: bytes.subarray(end + 4) };
}

const malformed = (what: string): LwsError =>
  new LwsError('malformed-body', `The body is not multipart/form-data (RFC 7578): ${what}.`);
