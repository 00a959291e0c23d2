/** Requests, bodies, answers, negotiation and pages. */
import { LwsError } from '../errors.js';
import { isObject } from '../json/exact-json.js';
import { decodeUtf8, parseJson } from '../json/json.js';
import { readBody } from '../resources/body.js';
import type { Fields, Reply } from './reply.js';
import type { RouteRequest } from './route.js';

/** The fields of an answer that is of one moment and one caller. */
export const uncached = { 'Cache-Control': 'private, no-store', 'X-Content-Type-Options': 'nosniff' } as const;

/** A JSON document as such an answer. */
export const jsonReply = (status: number, document: unknown, fields: Fields = {}): Reply => ({
  status,
  fields: { ...uncached, ...fields, 'Content-Type': 'application/json' },
  body: Buffer.from(JSON.stringify(document)),
});

const longestJson = 16 << 10;

/** The body of a request to a small endpoint. @throws LwsError `unsupported-media-type`, `malformed-body`, `too-large` */
export async function readJsonObject({ body: open }: RouteRequest): Promise<Readonly<Record<string, unknown>>> {
  const body = open();
  if (body.mediaType !== 'application/json')
    throw new LwsError('unsupported-media-type', 'The request is sent as application/json.');
  const value: unknown = parseJson(decodeUtf8(await readBody(body, longestJson)));
  if (!isObject(value)) throw new LwsError('malformed-body', 'The body is a JSON object.');
  return value;
}
