/** What is refused of an item before anything of it is staged. */
import { LwsError } from '../errors.js';
import { isSendableType } from '../fields/media-type.js';
import { isContainerIri } from '../storage/state/records.js';
import { assertUsableAcl } from './acl-resource.js';
import type { BulkItem } from './bulk-items.js';
import { readContextObject } from './linkset.js';
import { keptLinks } from './metadata.js';
import { readTarget } from './names.js';
import type { Storage } from './storage.js';
import { assertUnreserved } from './write.js';

/**
 * Asserts that a client may create a resource with that name.
 * @throws LwsError `not-found` outside of the storage, `bad-request`, `iri-too-long`, `reserved-name`
 */
export function assertName(place: Pick<Storage, 'rootIri' | 'systemPrefix'>, iri: string): void {
  const { rootIri: storage } = place;
  if (!iri.startsWith(storage)) throw new LwsError('not-found', 'It is not below the storage.');
  const path = iri.slice(storage.indexOf('/', storage.indexOf('//') + 2));
  if (/[?#]/.test(iri)) throw new LwsError('bad-request', 'The IRI of a resource has no query and no fragment.');
  readTarget(path, storage);
  assertUnreserved(place, iri);
}

/** The item as it can be staged without a refusal half-way. @throws LwsError */
export function usable(storage: Storage, item: BulkItem): BulkItem {
  const { iri, content, acl: list, created, modified, ...others } = item;
  assertName(storage, iri);
  if ((content === undefined) !== isContainerIri(iri))
    throw new LwsError('bad-request', 'Names of containers end in a slash, and no others do.');
  if (content && content.kind !== 'rdf' && !isSendableType(content.mediaType))
    throw new LwsError('bad-request', 'Its media type cannot be a field of an answer.');
  if (list && storage.acls) assertUsableAcl(storage, iri, list.keys);
  const links = item.links && readContextObject(item.links, iri);
  if (links) keptLinks(storage, iri, links);
  const now = storage.clock();
  return {
    ...{ ...others, iri },
    ...(content ? { content } : {}),
    ...(list ? { acl: list } : {}),
    ...(links ? { links } : {}),
    ...(isPast(created, now) ? { created } : {}),
    ...(isPast(modified, now) ? { modified } : {}),
  };
}

/** A date can be told, and whoever asks has not seen it yet. */
const isPast = (date: number | undefined, now: number): date is number =>
  date !== undefined && date >= 0 && date <= now;
