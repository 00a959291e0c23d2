/** Links of a member as fields of the request that stores it, as LWS has it (`Prefer: set-linkset`). Pure. */
import { formatLink } from '../../lib/component/fields.js';
import { type ClientLinks, declaredTypes, linkedValues } from '../../lib/component/resources.js';

/** Characters of links in the fields of a request. */
const longest = 6 << 10;

export interface LinkFields {
  readonly links: readonly string[];
  /** What fields cannot say, as a sentence. */
  readonly lost?: string;
}

/** @param iri of the resource */
export function linkFields(all: ClientLinks | undefined, iri: string): LinkFields {
  if (all === undefined) return { links: [] };
  const values = linkedValues(all, iri);
  const types = declaredTypes(all).map((type) => formatLink(type, 'type'));
  const links = [
    ...types,
    ...values.flatMap(([relation, { href }]) => (href === undefined ? [] : formatLink(href, relation))),
  ];
  if (links.reduce((sum, link) => sum + link.length, 0) > longest)
    return { links: [], lost: `Its ${links.length} links: fields of a request have no room for so many.` };
  const literals = types.length + values.length - links.length;
  return literals === 0
    ? { links }
    : { links, lost: `${literals} of its links, which are texts: fields of a request cannot say them.` };
}
