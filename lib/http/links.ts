/** Links of responses in addition to those of each resource. */
import { formatLink } from '../fields/link.js';
import type { Storage } from '../resources/storage.js';

/** Links added by a profile and by components. */
export const addedLinks = (
  iri: string,
  { rootIri: storage, profile, links = [] }: Pick<Storage, 'rootIri' | 'profile' | 'links'>,
): string[] => [
  ...(profile && iri === storage ? [formatLink(profile.storageLinks.type, 'type')] : []),
  ...links.map(({ target, relation }) => formatLink(target, relation)),
];
