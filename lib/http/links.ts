/** The fields that every representation of a resource carries (rule 7.6). */
import { formatLink } from '../fields/link.js';
import { lws } from '../rdf/vocabulary.js';
import { aclOf, linksetOf } from '../resources/names.js';
import type { Storage } from '../resources/storage.js';
import { typeLinks } from '../resources/types.js';
import { parentOf, type ResourceRecord } from '../storage/state/records.js';

/** The value of `Link` on the linkset and the ACL of a resource: the storage, and the ACL that controls them where there are any. */
export const documentLinks = (
  described: string,
  { rootIri: storage, acls }: Pick<Storage, 'rootIri' | 'acls'>,
): string => [formatLink(storage, lws.storage), ...(acls ? [formatLink(aclOf(described), 'acl')] : [])].join(', ');

const linksOfKind = new Map(
  Object.entries(typeLinks).map(([kind, types]) => [kind, types.map((type) => formatLink(type, 'type')).join(', ')]),
);

/** The links that a profile and components add. */
export const addedLinks = (
  iri: string,
  { rootIri: storage, profile, links = [] }: Pick<Storage, 'rootIri' | 'profile' | 'links'>,
): string[] => [
  ...(profile && iri === storage ? [formatLink(profile.storageLinks.type, 'type')] : []),
  ...links.map(({ target, relation }) => formatLink(target, relation)),
];

/** The value of `Link` on a resource: its types, the storage, its parent, its linkset, and its ACL where there are any. */
export function resourceLinks(
  record: ResourceRecord,
  whole: Pick<Storage, 'rootIri' | 'acls' | 'profile' | 'links'>,
): string {
  const { rootIri: storage, acls } = whole;
  const links = [linksOfKind.get(record.kind)];
  for (const type of record.types ?? []) links.push(formatLink(type, 'type'));
  links.push(formatLink(storage, lws.storage));
  if (record.iri !== storage) links.push(formatLink(parentOf(record.iri), 'up'));
  links.push(formatLink(linksetOf(record.iri), 'linkset', { type: 'application/linkset+json' }));
  if (acls) links.push(formatLink(aclOf(record.iri), 'acl'));
  links.push(...addedLinks(record.iri, whole));
  return links.join(', ');
}
