/** Access control lists over HTTP: reads the effective ACL of a resource, and writes its own ACL. */

import { storageUri } from '../session/session.js';
import { Refusal, refusalFrom, request, succeed } from '../storage/api.js';
import { parentIri } from '../storage/names.js';

export interface EffectiveAcl {
  /** IRI of the resource of the ACL: the requested resource, or a container above it. */
  readonly of: string;
  readonly turtle: string;
  readonly etag: string;
}

const aclOf = (iri: string): string => `${iri}.acl`;

/** True if the storage uses ACLs, which the links of a resource show. @throws Refusal if the resource may not be read */
export async function hasAcls(iri: string): Promise<boolean> {
  const response = await request('HEAD', iri);
  if (!response.ok) throw await refusalFrom(await request('GET', iri));
  return /;\s*rel="?acl"?/.test(response.headers.get('Link') ?? '');
}

async function own(iri: string): Promise<EffectiveAcl | undefined> {
  const response = await request('GET', aclOf(iri), { headers: { Accept: 'text/turtle' } });
  if (response.status === 404) return undefined;
  if (!response.ok) throw await refusalFrom(response);
  return { of: iri, turtle: await response.text(), etag: response.headers.get('ETag') ?? '' };
}

/**
 * Returns the effective ACL of a resource, or `undefined` if the ACL is inherited from a container and cannot be read.
 * @throws Refusal without control of the resource
 */
export async function effectiveAcl(iri: string): Promise<EffectiveAcl | undefined> {
  return (await own(iri)) ?? inheritedAcl(iri);
}

/** Returns the ACL that would apply if the resource had no ACL. */
export async function inheritedAcl(iri: string): Promise<EffectiveAcl | undefined> {
  for (let at = iri; at !== storageUri && at.startsWith(storageUri); ) {
    at = parentIri(at);
    try {
      const found = await own(at);
      if (found) return found;
    } catch (error) {
      if (error instanceof Refusal && [401, 403].includes(error.status)) return undefined;
      throw error;
    }
  }
  return undefined;
}

/** @param etag entity tag of the ACL that is replaced, or `undefined` to create an ACL */
export async function sendAclPut(iri: string, turtle: string, etag?: string): Promise<void> {
  const condition: Record<string, string> = etag === undefined ? { 'If-None-Match': '*' } : { 'If-Match': etag };
  await succeed('PUT', aclOf(iri), { headers: { 'Content-Type': 'text/turtle', ...condition }, body: turtle });
}

export const sendAclDelete = (iri: string, etag: string): Promise<Response> =>
  succeed('DELETE', aclOf(iri), { headers: { 'If-Match': etag } });
