/** Requests, bodies, answers, negotiation and pages. */
import { LwsError } from '../errors.js';
import type { Fields, Reply } from '../http/reply.js';
import type { RouteRequest } from '../http/route.js';
import { isObject } from '../json/exact-json.js';
import { decodeUtf8, parseJson } from '../json/json.js';
import { readBody } from '../resources/body.js';

export { formatEntityTag } from '../fields/etag.js';
export { acceptedRanges, chooseListing, chooseRdfFormat, lwsJson } from '../http/negotiate.js';
export { pageLinks, pageOf } from '../http/paging.js';
export { statusOf } from '../http/problem.js';
export { field, preconditions, whenGone } from '../http/request.js';
export { type ResourceQuery, type Route, route, type StoredQuestion } from '../http/route.js';
export { assertMemberState, memberFields, type SystemMember, systemMemberReply } from '../http/system-container.js';
export { endUpgrade } from '../http/upgrade.js';
export { checkedChunks, type RequestBody } from '../resources/body.js';
export { item, type ListedMember } from '../resources/listing-documents.js';
export { assertPreconditions, undated } from '../resources/preconditions.js';
export type { Fields, Reply, RouteRequest };
export { readBody };

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
