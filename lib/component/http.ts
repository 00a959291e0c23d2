/** Requests, bodies, answers, negotiation and pages. */
export { acceptedRanges, chooseListing, chooseRdfFormat, lwsJson } from '../http/negotiate.js';
export { pageLinks } from '../http/paging.js';
export { statusOf } from '../http/problem.js';
export type { Fields, Reply } from '../http/reply.js';
export { field, preconditions, whenGone } from '../http/request.js';
export type { Route, RouteRequest, StoredQuestion } from '../http/route.js';
export { assertMemberState, memberFields, type SystemMember, systemMemberReply } from '../http/system-container.js';
export { endUpgrade } from '../http/upgrade.js';
export { checkedChunks, type RequestBody, readBody } from '../resources/body.js';
export { item, type ListedMember } from '../resources/listing-documents.js';
