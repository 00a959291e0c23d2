/** Plug-in API: routes, request bodies, responses, access decisions and outbound requests. */

export type { Throttle } from '../authentication/throttle.js';
export type { AddedOwner, AddedOwners } from '../authorization/added-owners.js';
export { isIdentity } from '../authorization/did.js';
export { controls, requireAccess } from '../authorization/guard.js';
export type { Mode } from '../authorization/mode.js';
export type { Access } from '../authorization/principal.js';
export { jsonReply, readJsonObject } from '../http/json-reply.js';
export type { Reply } from '../http/reply.js';
export { type Route, type RouteRequest, route } from '../http/route.js';
export { readBody } from '../resources/body.js';
export { decodeUtf8, parseJson } from '../tools/json/json.js';
export { isSecureUrl } from '../tools/outbound/address-policy.js';
export type { GuardedFetch } from '../tools/outbound/guarded-fetch.js';
export { OutboundError } from '../tools/outbound/outbound-error.js';
