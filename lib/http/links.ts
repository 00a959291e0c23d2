/** The fields that every representation of a resource carries (service.md, "Response headers and conditional requests"). */
import { formatLink } from '../fields/link.js';
import { lws } from '../rdf/vocabulary.js';
import { linksetOf } from '../resources/names.js';
import { typeLinks } from '../resources/types.js';
import { parentOf, type ResourceRecord } from '../storage/records.js';

/** The value of `Link` on a resource: its types, the storage, its parent, its linkset. */
export function resourceLinks(record: ResourceRecord, storage: string): string {
  const links = typeLinks[record.kind].map((type) => formatLink(type, 'type'));
  links.push(formatLink(storage, lws.storage));
  if (record.iri !== storage) links.push(formatLink(parentOf(record.iri), 'up'));
  links.push(formatLink(linksetOf(record.iri), 'linkset', { type: 'application/linkset+json' }));
  return links.join(', ');
}

/** `first`, `prev`, `next` and `last` of a page. */
export function pageLinks(url: string, page: number, last: number): string {
  const link = (number: number, relation: string): string => formatLink(`${url}?page=${number}`, relation);
  return [
    link(1, 'first'),
    ...(page > 1 ? [link(page - 1, 'prev')] : []),
    ...(page < last ? [link(page + 1, 'next')] : []),
    link(last, 'last'),
  ].join(', ');
}
