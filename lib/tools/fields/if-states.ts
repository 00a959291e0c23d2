/** `If` field of WebDAV (RFC 4918 10.4): state lists, of which one must hold. */
import { type EntityTag, parseEntityTags } from './etag.js';

/** Condition on the state of a resource: an entity tag, or without a tag a state token, such as a lock token. */
export interface StateCondition {
  readonly negated: boolean;
  readonly tag?: EntityTag | undefined;
}

/** List of conditions that must all hold. */
export interface StateList {
  /** Resource of the list, as written: an absolute URI or a path. Absent: the target of the request. */
  readonly resource: string | undefined;
  readonly conditions: readonly StateCondition[];
}

/** Matches a resource tag or state token in angle brackets, a parenthesis, `Not`, or an entity tag in brackets. */
const symbol = /[ \t]*(?:<([^<>\s]+)>|([()])|(Not)(?![^[<\s])|\[((?:W\/)?"[^"\]]*")\])/iy;
const absolute = /^[a-z][a-z0-9+.-]*:/i;

/** Parses the field. Returns undefined if it is malformed, or has lists with and without a resource tag (RFC 4918 10.4.2). */
export function parseStateLists(field: string): readonly StateList[] | undefined {
  const lists: StateList[] = [];
  let resource: string | undefined;
  let open: StateCondition[] | undefined;
  let [negated, isResourceUsed] = [false, true];
  symbol.lastIndex = 0;
  const text = field.trim();
  while (symbol.lastIndex < text.length) {
    const found = symbol.exec(text);
    if (!found) return undefined;
    const [, reference, parenthesis, not, quotedTag] = found;
    if (!open) {
      if (reference !== undefined) {
        const isFirst = lists.length === 0 || resource !== undefined;
        if (!isFirst || !isResourceUsed || !(reference.startsWith('/') || absolute.test(reference))) return undefined;
        [resource, isResourceUsed] = [reference, false];
      } else if (parenthesis === '(') open = [];
      else return undefined;
    } else if (parenthesis === ')') {
      if (negated || open.length === 0) return undefined;
      lists.push({ resource, conditions: open });
      [open, isResourceUsed] = [undefined, true];
    } else if (not !== undefined && !negated) negated = true;
    else if (quotedTag !== undefined || (reference !== undefined && absolute.test(reference))) {
      const tags = quotedTag === undefined ? undefined : parseEntityTags(quotedTag);
      if (quotedTag !== undefined && (!tags || tags === '*')) return undefined;
      open.push(tags ? { negated, tag: tags[0] as EntityTag } : { negated });
      negated = false;
    } else return undefined;
  }
  return open || !isResourceUsed || lists.length === 0 ? undefined : lists;
}
