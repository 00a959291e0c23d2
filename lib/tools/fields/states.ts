/** `LWS-If-Match` field: `<iri> "tag", <iri2> "tag2"`, the expected states of several resources. */
import { type EntityTag, parseEntityTags } from './etag.js';
import { skipSpace } from './syntax.js';

const comma = 0x2c;

/** Parses tags by IRI. Returns undefined if the field is malformed or has more than `most` members. */
export function parseStates(field: string, most: number): ReadonlyMap<string, readonly EntityTag[]> | undefined {
  const states = new Map<string, EntityTag[]>();
  let at = skipSpace(field, 0);
  for (let count = 0; at < field.length; count++) {
    const end = field.charAt(at) === '<' ? field.indexOf('>', at) : -1;
    if (end < 0 || count === most) return undefined;
    const iri = field.slice(at + 1, end);
    const open = skipSpace(field, end + 1);
    const close = field.indexOf('"', field.indexOf('"', open) + 1);
    const tags = close < 0 ? undefined : parseEntityTags(field.slice(open, close + 1));
    if (iri === '' || tags === undefined || tags === '*') return undefined;
    states.set(iri, [...(states.get(iri) ?? []), ...tags]);
    at = skipSpace(field, close + 1);
    if (at < field.length && field.charCodeAt(at) !== comma) return undefined;
    at = skipSpace(field, at + 1);
  }
  return states.size === 0 ? undefined : states;
}
