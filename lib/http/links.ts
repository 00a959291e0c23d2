/** Links of responses, in addition to the links of each resource. */

import { type ClientLinks, linkedValues } from '../resources/linkset.js';
import { clientLinks } from '../resources/metadata.js';
import type { Storage } from '../resources/storage.js';
import type { ResourceRecord } from '../storage/keys/records.js';
import { formatLink } from '../tools/fields/link.js';

/** Returns the links that a profile and components add. */
export const addedLinks = (
  iri: string,
  { rootIri: storage, profile, links = [] }: Pick<Storage, 'rootIri' | 'profile' | 'links'>,
): string[] => [
  ...(profile && iri === storage ? [formatLink(profile.storageLinks.type, 'type')] : []),
  ...links.map(({ target, relation }) => formatLink(target, relation)),
];

/** Relations of the FAIR Signposting Profile (https://signposting.org/FAIR/). Responses always contain the types. */
const signposts = new Set(['author', 'cite-as', 'collection', 'describedby', 'describes', 'item', 'license']);
/** Maximum length of signposting links in a response, in characters: proxies reject larger fields. */
const maxSignposts = 4096;

/** Returns links of a linkset for agents that navigate by response fields (rule 11.11). @param linksOf another state */
export function signpostLinks(
  { signposting, store }: Pick<Storage, 'signposting' | 'store'>,
  { iri, linked }: ResourceRecord,
  linksOf: () => ClientLinks = () => clientLinks(store, iri),
): string[] {
  if (!signposting || linked === undefined) return [];
  let left = maxSignposts;
  return linkedValues(linksOf(), iri).flatMap(([relation, { href, type }]) => {
    if (href === undefined || !signposts.has(relation)) return [];
    const link = formatLink(href, relation, type === undefined ? {} : { type });
    left -= link.length;
    return left < 0 ? [] : [link];
  });
}
