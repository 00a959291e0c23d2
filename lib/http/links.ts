/** The fields that every representation of a resource carries (service.md, "Response headers and conditional requests"). */
import { formatLink } from '../fields/link.js';
import { lws } from '../rdf/vocabulary.js';
import { linksetOf } from '../resources/names.js';
import { typeLinks } from '../resources/types.js';
import { parentOf, type ResourceRecord } from '../storage/records.js';

/** The value of `Link` on a resource: its types, the storage, its parent, its linkset. */
export function resourceLinks(record: ResourceRecord, storage: string): string {
  const links = [...typeLinks[record.kind], ...(record.types ?? [])].map((type) => formatLink(type, 'type'));
  links.push(formatLink(storage, lws.storage));
  if (record.iri !== storage) links.push(formatLink(parentOf(record.iri), 'up'));
  links.push(formatLink(linksetOf(record.iri), 'linkset', { type: 'application/linkset+json' }));
  return links.join(', ');
}
