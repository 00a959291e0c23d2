/** The names of resources: which request targets are IRIs of this storage, which are reserved, what a Slug becomes. */
import { randomBytes } from 'node:crypto';
import { LwsError } from '../errors.js';
import { isContainerIri, nameOf } from '../storage/keys/records.js';

/** Longer paths are refused: no link needs them, and every key of a graph repeats the IRI. Queries may be longer. */
export const longestPath = 4096;

export interface Target {
  /** The resource's IRI, without a query. */
  readonly iri: string;
  readonly query: string | undefined;
}

/** A request target in origin form; the absolute form may have no path, which is `/` then (RFC 9112 3.2.2, RFC 9110 4.2.3). */
export function originForm(requestTarget: string): string {
  if (requestTarget.startsWith('/')) return requestTarget;
  const path = requestTarget.replace(/^https?:\/\/[^/?]+/i, '');
  return path === '' || (path.startsWith('?') && path !== requestTarget) ? `/${path}` : path;
}

/**
 * Reads a request target (origin form, or absolute form) as an IRI below the storage root. IRIs are compared as they
 * are sent, without percent-decoding.
 * @param storage the root IRI, ending in a slash
 * @throws LwsError `bad-request` for what can be no resource, `iri-too-long`, `not-found` outside the storage's path
 */
export function readTarget(requestTarget: string, storage: string): Target {
  const origin = storage.slice(0, storage.indexOf('/', storage.indexOf('//') + 2));
  const path = originForm(requestTarget);
  if (!path.startsWith('/')) throw new LwsError('bad-request', 'The request target is not a path.');
  const queryAt = path.indexOf('?');
  if ((queryAt < 0 ? path.length : queryAt) > longestPath)
    throw new LwsError('iri-too-long', `The path of a request may be ${longestPath} characters long.`);
  const iri = origin + (queryAt < 0 ? path : path.slice(0, queryAt));
  if (!iri.startsWith(storage))
    throw new LwsError('not-found', 'There is nothing here, or nothing that you may see.', {
      reason: 'outside the path of lws.base-uri',
    });
  assertPath(iri.slice(storage.length));
  return { iri, query: queryAt < 0 ? undefined : path.slice(queryAt + 1) };
}

/** A path below the root: segments of URI characters, none empty, none that climbs. */
function assertPath(path: string): void {
  if (!/^[A-Za-z0-9\-._~!$&'()*+,;=:@%/]*$/.test(path))
    throw new LwsError('bad-request', 'The path has characters that a URI cannot have; percent-encode them.');
  if (!path.includes('%') && !path.includes('//') && !path.includes('.')) {
    if (!path.startsWith('/')) return;
  }
  if (/%(?![0-9A-Fa-f]{2})/.test(path)) throw new LwsError('bad-request', 'The path has a malformed percent-encoding.');
  if (/%(?:[01][0-9A-Fa-f]|7[Ff])/.test(path)) throw new LwsError('bad-request', 'The path has a control character.');
  for (const segment of path.replace(/\/$/, '').split('/'))
    if ((segment === '' && path !== '') || isDots(segment))
      throw new LwsError('bad-request', 'The path has an empty segment, or one that climbs.');
}

/** `.` and `..`, also percent-encoded: URL libraries resolve them away, so nobody could address such a resource. */
const isDots = (segment: string): boolean => /^(?:\.|%2e){1,2}$/i.test(segment);

/**
 * Whether no resource may be made at an IRI (rule 1.3). Ignores case, and covers the container
 * form; the name is tested as sent, without percent-decoding.
 */
export function isReserved(iri: string, storage: string, systemPrefix: string): boolean {
  const name = nameOf(iri).toLowerCase();
  if (/\.(?:acl|meta)\/?$/.test(name)) return true;
  const path = `/${iri.slice(storage.length)}`.toLowerCase();
  const reserved = [
    systemPrefix.toLowerCase(),
    '/app',
    '/callback',
    '/.well-known/lws-configuration',
    '/.well-known/acme-challenge',
  ];
  return reserved.some((prefix) => path === prefix || path.startsWith(`${prefix}/`));
}

/** `X.meta` describes `X`; `undefined` when the IRI names no linkset. The container `/c/` has `/c/.meta`. */
export const describedBy = (iri: string): string | undefined =>
  iri.endsWith('.meta') ? iri.slice(0, -'.meta'.length) : undefined;
/** `X.acl` controls `X`; `undefined` when the IRI names no ACL. The container `/c/` has `/c/.acl`. */
export const controlledBy = (iri: string): string | undefined =>
  iri.endsWith('.acl') ? iri.slice(0, -'.acl'.length) : undefined;
export const aclOf = (iri: string): string => `${iri}.acl`;
export const linksetOf = (iri: string): string => `${iri}.meta`;

/**
 * The name that a Slug asks for (rule 6.2), with a slash at the end when it asks for a container.
 * `undefined` when nothing usable is left.
 */
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

/** The names to try for a new member, in order; the last ones are random, so that one is always free. */
export function* candidateNames(slug: string | undefined, container: boolean): Generator<string, never> {
  const wanted = slug === undefined ? undefined : nameFromSlug(slug)?.replace(/\/$/, '');
  const end = container ? '/' : '';
  const random = (): string => randomBytes(9).toString('hex');
  if (wanted === undefined) for (;;) yield random() + end;
  yield wanted + end;
  for (let i = 2; i <= 4; i++) yield `${wanted}-${i}${end}`;
  for (;;) yield `${wanted}-${random()}${end}`;
}

/** The other spelling of a name: with or without the slash. Both at once would be two resources that look like one. */
export const counterpart = (iri: string): string => (isContainerIri(iri) ? iri.slice(0, -1) : `${iri}/`);
