/** Requests to others, through the guard. */
export { type AllowedHost, hostList, isSecureUrl, parseAllowedHost } from '../outbound/address-policy.js';
export { type Admission, createAdmission } from '../outbound/admission.js';
export { discard, Endpoint, type EndpointAnswer } from '../outbound/endpoint.js';
export { Gate } from '../outbound/gate.js';
export type { GuardedFetch, OutboundResponse } from '../outbound/guarded-fetch.js';
export { OutboundError } from '../outbound/outbound-error.js';
