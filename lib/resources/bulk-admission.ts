/** What is refused of an item before anything of it is staged. */
import { aclOfGraph, leavesControl } from '../authorization/acl.js';
import { LwsError } from '../errors.js';
import type { BulkItem } from './bulk-items.js';
import { readContextObject } from './linkset.js';
import { linksetTooLarge } from './metadata.js';
import { isReserved, readTarget } from './names.js';
import type { Storage } from './storage.js';

/**
 * Asserts that a client may create a resource with that name.
 * @throws LwsError `not-found` outside of the storage, `bad-request`, `iri-too-long`, `reserved-name`
 */
export function assertName(
  { rootIri: storage, systemPrefix }: Pick<Storage, 'rootIri' | 'systemPrefix'>,
  iri: string,
): void {
  if (!iri.startsWith(storage)) throw new LwsError('not-found', 'It is not below the storage.');
  const path = iri.slice(storage.indexOf('/', storage.indexOf('//') + 2));
  if (/[?#]/.test(iri)) throw new LwsError('bad-request', 'The IRI of a resource has no query and no fragment.');
  readTarget(path, storage);
  if (iri !== storage && isReserved(iri, storage, systemPrefix))
    throw new LwsError('reserved-name', 'This name is reserved for the server itself.');
}

/** The item as it can be staged without a refusal half-way. @throws LwsError */
export function usable(storage: Storage, item: BulkItem): BulkItem {
  const { iri, acl: list } = item;
  assertName(storage, iri);
  if (list && storage.acls && iri === storage.rootIri && !leavesControl(aclOfGraph(iri, list.keys)))
    throw new LwsError('conflict', 'The ACL leaves nobody control of the root.');
  if (!item.links) return item;
  const links = readContextObject(item.links, iri);
  if (Buffer.byteLength(JSON.stringify(links)) > storage.limits.linksetBytes) throw linksetTooLarge(storage);
  return { ...item, links };
}
