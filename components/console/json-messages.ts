/** JSON in and out of the console's own endpoints. */
import { LwsError } from '../../lib/component/basics.js';
import { decodeUtf8, parseJson } from '../../lib/component/fields.js';
import { type Reply, type RouteRequest, readBody } from '../../lib/component/http.js';

const longestBody = 16 << 10;

/** Answers of these endpoints are of one moment and one caller. */
export const jsonReply = (status: number, document: unknown): Reply => ({
  status,
  fields: { 'Content-Type': 'application/json', 'Cache-Control': 'private, no-store' },
  body: Buffer.from(JSON.stringify(document)),
});

/** @throws LwsError `unsupported-media-type`, `malformed-body`, `too-large` */
export async function readJsonObject({ body: open }: RouteRequest): Promise<Readonly<Record<string, unknown>>> {
  const body = open();
  if (body.mediaType !== 'application/json')
    throw new LwsError('unsupported-media-type', 'The request is sent as application/json.');
  const value: unknown = parseJson(decodeUtf8(await readBody(body, longestBody)));
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new LwsError('malformed-body', 'The body is a JSON object.');
  return value as Record<string, unknown>;
}
