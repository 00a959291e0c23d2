/** Requests, bodies, answers, negotiation and pages. */
import type { Fields, Reply } from '../http/reply.js';

export { acceptedRanges, chooseListing, chooseRdfFormat, lwsJson } from '../http/negotiate.js';
export { pageLinks } from '../http/paging.js';
export { statusOf } from '../http/problem.js';
export { field, preconditions, whenGone } from '../http/request.js';
export { type Route, type RouteRequest, route, type StoredQuestion } from '../http/route.js';
export { assertMemberState, memberFields, type SystemMember, systemMemberReply } from '../http/system-container.js';
export { endUpgrade } from '../http/upgrade.js';
export { checkedChunks, type RequestBody, readBody } from '../resources/body.js';
export { item, type ListedMember } from '../resources/listing-documents.js';
export type { Fields, Reply };

/** The fields of an answer that is of one moment and one caller. */
export const uncached = { 'Cache-Control': 'private, no-store', 'X-Content-Type-Options': 'nosniff' } as const;

/** A JSON document as such an answer. */
export const jsonReply = (status: number, document: unknown, fields: Fields = {}): Reply => ({
  status,
  fields: { ...uncached, ...fields, 'Content-Type': 'application/json' },
  body: Buffer.from(JSON.stringify(document)),
});
