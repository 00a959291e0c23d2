/** Names of resources: mapping of request targets to IRIs, reserved names, and names from a Slug. */
import { randomBytes } from 'node:crypto';
import { isContainerIri, nameOf } from '../storage/keys/records.js';
import { LwsError } from '../tools/errors.js';

/** Maximum path length in characters, because every key of a graph repeats the IRI. The query component can be longer. */
export const longestPath = 4096;

export interface Target {
  /** IRI of the resource, without query. */
  readonly iri: string;
  readonly query: string | undefined;
}

/**
 * Returns a request target in origin form. An absolute form without path means `/` (RFC 9112 3.2.2, RFC 9110 4.2.3). A target
 * with user information is returned unchanged (RFC 9110 4.2.4).
 */
export function originForm(requestTarget: string): string {
  if (requestTarget.startsWith('/')) return requestTarget;
  const path = requestTarget.replace(/^https?:\/\/[^/?@]+(?=[/?]|$)/i, '');
  return path === '' || (path.startsWith('?') && path !== requestTarget) ? `/${path}` : path;
}

/**
 * Parses a request target (origin form or absolute form) as an IRI below the storage root. IRIs are compared as sent, without
 * percent-decoding.
 * @param storage root IRI, ending in a slash
 * @throws LwsError `bad-request` for an invalid target, `iri-too-long`, `not-found` outside the storage's path
 */
export function readTarget(requestTarget: string, storage: string): Target {
  const origin = storage.slice(0, storage.indexOf('/', storage.indexOf('//') + 2));
  const path = originForm(requestTarget);
  if (!path.startsWith('/')) throw new LwsError('bad-request', 'The request target is not a valid path.');
  const queryAt = path.indexOf('?');
  if ((queryAt < 0 ? path.length : queryAt) > longestPath)
    throw new LwsError('iri-too-long', `The path exceeds the limit of ${longestPath} characters.`);
  const iri = origin + (queryAt < 0 ? path : path.slice(0, queryAt));
  if (!iri.startsWith(storage))
    throw new LwsError('not-found', 'The resource does not exist, or you are not allowed to see it.', {
      reason: 'outside the path of lws.base-uri',
    });
  assertPath(iri.slice(storage.length));
  return { iri, query: queryAt < 0 ? undefined : path.slice(queryAt + 1) };
}

/** Checks a path below the root: URI characters, no empty segments, no dot segments. */
function assertPath(path: string): void {
  if (!/^[A-Za-z0-9\-._~!$&'()*+,;=:@%/]*$/.test(path))
    throw new LwsError(
      'bad-request',
      'The path contains characters that are not allowed in a URI. Percent-encode them.',
    );
  if (!path.includes('%') && !path.includes('//') && !path.includes('.')) {
    if (!path.startsWith('/')) return;
  }
  if (/%(?![0-9A-Fa-f]{2})/.test(path))
    throw new LwsError('bad-request', 'The path contains a malformed percent-encoding.');
  if (/%(?:[01][0-9A-Fa-f]|7[Ff])/.test(path))
    throw new LwsError('bad-request', 'The path contains a control character.');
  for (const segment of path.replace(/\/$/, '').split('/'))
    if ((segment === '' && path !== '') || isDots(segment))
      throw new LwsError('bad-request', 'The path contains an empty segment, "." or "..".');
}

/** Returns true for `.` and `..`, also percent-encoded: URL libraries resolve them, so they cannot address a resource. */
const isDots = (segment: string): boolean => /^(?:\.|%2e){1,2}$/i.test(segment);

/** Returns true if an IRI, as sent and without regard to case, or its container form is reserved (rule 1.3). */
export function isReserved(iri: string, storage: string, systemPrefix: string): boolean {
  const name = nameOf(iri).toLowerCase();
  if (/\.(?:acl|meta)\/?$/.test(name)) return true;
  const path = `/${iri.slice(storage.length)}`.toLowerCase();
  if (/^\/\.trash\/?$/.test(path)) return true;
  const isBelow = (prefix: string): boolean =>
    path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/');
  return isBelow(systemPrefix.toLowerCase()) || reservedPaths.some(isBelow);
}

const reservedPaths = ['/app', '/callback', '/.well-known/lws-configuration', '/.well-known/acme-challenge'];

/** Returns `X` for `X.meta`, and `/c/` for `/c/.meta`, or `undefined` if the IRI is not a linkset. */
export const describedBy = (iri: string): string | undefined =>
  iri.endsWith('.meta') ? iri.slice(0, -'.meta'.length) : undefined;
/** Returns `X` for `X.acl`, and `/c/` for `/c/.acl`, or `undefined` if the IRI is not an ACL. */
export const controlledBy = (iri: string): string | undefined =>
  iri.endsWith('.acl') ? iri.slice(0, -'.acl'.length) : undefined;
export const aclOf = (iri: string): string => `${iri}.acl`;
export const linksetOf = (iri: string): string => `${iri}.meta`;

/** Returns the name requested by a Slug (rule 6.2), with a final slash for a container, or `undefined` if it is empty. */
export function nameFromSlug(slug: string): string | undefined {
  const container = slug.endsWith('/');
  const name = slug
    .replace(/(?<!\/)\/+$/, '')
    .replace(/%[0-9A-Fa-f]{2}|[^A-Za-z0-9._-]/g, (match) => (match.length === 3 ? match : '-'))
    .replace(/-{2,}/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 200)
    .replace(/%.?$/, '');
  if (name === '' || /^(?:\.|%2e)+$/i.test(name) || /%(?:[01][0-9A-Fa-f]|7[Ff])/.test(name)) return undefined;
  return container ? `${name}/` : name;
}

/** Yields candidate names for a new member. The last candidates are random, so that a free name is always found. */
export function* candidateNames(slug: string | undefined, container: boolean): Generator<string, never> {
  const wanted = slug === undefined ? undefined : nameFromSlug(slug)?.replace(/\/$/, '');
  const end = container ? '/' : '';
  const random = (): string => randomBytes(9).toString('hex');
  if (wanted === undefined) for (;;) yield random() + end;
  yield wanted + end;
  for (let i = 2; i <= 4; i++) yield `${wanted}-${i}${end}`;
  for (;;) yield `${wanted}-${random()}${end}`;
}

/** Returns the IRI with its final slash added or removed. Only one of these two names may exist, to avoid confusion. */
export const counterpart = (iri: string): string => (isContainerIri(iri) ? iri.slice(0, -1) : `${iri}/`);
