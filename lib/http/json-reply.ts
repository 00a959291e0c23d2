/** JSON requests and responses of small endpoints. */

import { readBody } from '../resources/body.js';
import { LwsError } from '../tools/errors.js';
import { isObject } from '../tools/json/exact-json.js';
import { decodeUtf8, parseJson } from '../tools/json/json.js';
import type { Fields, Reply } from './reply.js';
import type { RouteRequest } from './route.js';

/** Header fields of an uncached response for one caller. */
export const uncached = { 'Cache-Control': 'private, no-store', 'X-Content-Type-Options': 'nosniff' } as const;

/** Returns a JSON document as an uncached response. */
export const jsonReply = (status: number, document: unknown, fields: Fields = {}): Reply => ({
  status,
  fields: { ...uncached, ...fields, 'Content-Type': 'application/json' },
  body: Buffer.from(JSON.stringify(document)),
});

const longestJson = 16 << 10;

/**
 * Reads the JSON object in the body of a request to a small endpoint.
 * @throws LwsError `unsupported-media-type`, `malformed-body`, `too-large`
 */
export async function readJsonObject({ body: open }: RouteRequest): Promise<Readonly<Record<string, unknown>>> {
  const body = open();
  if (body.mediaType !== 'application/json')
    throw new LwsError('unsupported-media-type', 'Send the request as application/json.');
  const value: unknown = parseJson(decodeUtf8(await readBody(body, longestJson)));
  if (!isObject(value)) throw new LwsError('malformed-body', 'The body must be a JSON object.');
  return value;
}
