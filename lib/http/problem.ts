/** Errors as `application/problem+json` (RFC 9457). Only this module maps codes to status, title and type. */
import { type ChallengePolicy, challenges } from '../authentication/challenge.js';
import { type ErrorCode, LwsError } from '../tools/errors.js';
import type { Reply } from './reply.js';

const table: Readonly<Record<ErrorCode, readonly [status: number, title: string]>> = {
  'already-exists': [409, 'The name is taken'],
  'anchor-mismatch': [422, 'The linkset describes another resource'],
  'bad-request': [400, 'The request is malformed'],
  'body-not-allowed': [409, 'A container accepts no body'],
  conflict: [409, 'The request conflicts with the state of the resource'],
  'container-exists': [409, 'The container exists'],
  'damaged-content': [500, 'The stored content is damaged'],
  'digest-mismatch': [400, 'The body does not match its digest'],
  'fields-too-large': [431, 'The header fields are too large'],
  forbidden: [403, 'Forbidden'],
  'https-required': [403, 'HTTPS is required'],
  'interaction-model-conflict': [400, 'The link type contradicts the IRI'],
  'invalid-patch': [422, 'The document is not a patch'],
  'invalid-page': [400, 'The page is not a positive integer'],
  'invalid-request': [401, 'The credential cannot be read'],
  'invalid-token': [401, 'The credential was rejected'],
  gone: [410, 'The data is no longer stored'],
  'iri-too-long': [414, 'The IRI is too long'],
  'linkset-too-large': [400, 'The linkset is too large'],
  'malformed-body': [400, 'The body is malformed'],
  'malformed-filter': [400, 'The filter is malformed'],
  'malformed-query': [400, 'The query is malformed'],
  'method-not-allowed': [405, 'The resource does not support the method'],
  'misdirected-request': [421, 'The server does not serve this host'],
  'named-graph': [400, 'A resource is a single graph'],
  'not-acceptable': [406, 'No acceptable representation'],
  'not-empty': [409, 'The container is not empty'],
  'not-found': [404, 'Not found'],
  'not-implemented': [501, 'Not implemented'],
  'page-not-found': [404, 'The page does not exist'],
  'parent-not-a-container': [409, 'The parent is not a container'],
  'parent-not-found': [404, 'The parent container does not exist'],
  'patch-conflict': [409, 'The patch does not apply'],
  'precondition-failed': [412, 'A precondition failed'],
  'precondition-required': [428, 'A precondition is required'],
  'query-limit': [422, 'The query exceeded a limit'],
  'quota-exceeded': [507, 'The quota of the storage is exhausted'],
  'range-not-satisfiable': [416, 'The range cannot be satisfied'],
  'request-timeout': [408, 'The request took too long to arrive'],
  'reserved-name': [409, 'The name is reserved'],
  'root-not-deletable': [403, 'The root container cannot be deleted'],
  'service-failed': [502, 'Another service failed'],
  'shape-violation': [422, 'The data violates its shapes'],
  'storage-full': [507, 'The server has no space left'],
  'too-busy': [503, 'The server is busy'],
  'too-complex': [422, 'The request is too complex'],
  'too-large': [413, 'The body is too large'],
  unauthenticated: [401, 'A credential is required'],
  'too-many-requests': [429, 'Too many attempts'],
  'use-dpop-nonce': [401, 'A nonce is required'],
  'unsupported-media-type': [415, 'The media type is not supported here'],
  'unusable-shapes': [422, 'The shapes cannot be applied'],
  'unsupported-rdf': [400, 'The RDF cannot be stored'],
  'update-timeout': [422, 'Processing took too long'],
};

/** Returns the members of a problem document. */
export function problemOf({ code, message: detail, members }: LwsError): object {
  const [status, title] = table[code];
  return { type: `urn:problem-type:quadpod:${code}`, title, status, detail, ...members };
}

/** Returns the status of an error code. */
export const statusOf = (error: unknown): number => (error instanceof LwsError ? table[error.code][0] : 500);

const serverFailed = {
  type: 'about:blank',
  title: 'The server failed',
  status: 500,
  detail: 'The server log contains the cause under the instance given here.',
};

/**
 * Returns the response to an error. An error that is not an `LwsError` becomes a 500 that contains only the request ID.
 * @param instance request ID, a `urn:uuid:`, also in the log
 */
export function problemReply(error: unknown, instance: string, policy: ChallengePolicy): Reply {
  const refusal = error instanceof LwsError ? error : undefined;
  const status = statusOf(error);
  const problem = Object.assign({}, refusal ? problemOf(refusal) : serverFailed, { instance });
  const fields: Record<string, string | readonly string[]> = Object.assign({}, refusal?.fields);
  if (refusal && (status === 401 || refusal.code === 'forbidden'))
    fields['WWW-Authenticate'] = challenges(policy, refusal);
  Object.assign(fields, {
    'Content-Type': 'application/problem+json',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  });
  return { status, fields, body: Buffer.from(JSON.stringify(problem)) };
}

/** Returns a problem in another media type, if the error offers one and `Accept` prefers it. */
export function describedProblem(problem: Reply, error: unknown, accept: string | undefined): Reply {
  const described = error instanceof LwsError && accept !== undefined ? error.describe?.(accept) : undefined;
  if (!described) return problem;
  return { ...problem, fields: { ...problem.fields, 'Content-Type': described.mediaType }, body: described.body };
}
