/** The codec of `Link` (RFC 8288 3). */
import { type PairRules, readParameters, skipSpace, without } from './syntax.js';

/** One link: the target as it was written, its relations, and its other attributes (`anchor` among them). */
export interface Link {
  readonly target: string;
  readonly relations: readonly string[];
  readonly attributes: ReadonlyMap<string, string>;
}

const comma = 0x2c;
const open = 0x3c;
const close = 0x3e;

const notInTarget = /[^\x21-\x7e]+|[<>"]+/g;
const notInRelation = /[^\x20-\x7e]+/g;
const notInExtended = /[^\w!#$&+\-.^`|~]+/g;
const printable = /^[\x20-\x7e]*$/;

// RFC 8288 3.4: once in a link; `hreflang` and extensions may be repeated.
const single: ReadonlySet<string> = new Set(['rel', 'anchor', 'rev', 'media', 'title', 'title*', 'type']);

// RFC 5988 let `type=text/turtle` and `rel=http://...` stand unquoted, and clients still write them so.
const linkPairs: PairRules = { loose: true, valueEnd: unquotedEnd, repeats: (name) => !single.has(name) };

/**
 * The links of a field; undefined when malformed, none when empty. Registered relations and attribute names are
 * lower-cased, the values of a repeated attribute are joined by line feeds (of those that may not be repeated the first
 * wins), a link without `rel` has no relations, and extended
 * attributes (`title*`) are kept undecoded (RFC 8288 3, 3.3, 3.4).
 */
export function parseLinks(field: string): readonly Link[] | undefined {
  const links: Link[] = [];
  let at = skipSpace(field, 0);
  while (at < field.length) {
    if (field.charCodeAt(at) !== comma) {
      const end = field.charCodeAt(at) === open ? targetEnd(field, at + 1) : -1;
      const read = end === -1 ? undefined : readParameters(field, end + 1, linkPairs);
      if (!read || (read.end < field.length && field.charCodeAt(read.end) !== comma)) return undefined;
      links.push(toLink(field.slice(at + 1, end), read.parameters));
      at = read.end;
    }
    at = skipSpace(field, at + 1);
  }
  return links;
}

/**
 * One link, with its attributes in the order given; attribute names must be tokens. What a URI cannot hold is
 * percent-encoded in the target and the relation; a value that is not printable ASCII becomes an extended
 * attribute such as `title*` (RFC 8288 3, 3.4; RFC 8187 3.2).
 */
export function formatLink(
  target: string,
  relation: string,
  attributes: Readonly<Record<string, string>> = {},
): string {
  let link = `<${percentEncode(target, notInTarget)}>; rel=${quoted(percentEncode(relation, notInRelation))}`;
  for (const [name, value] of Object.entries(attributes)) {
    link += printable.test(value) ? `; ${name}=${quoted(value)}` : `; ${name}*=${extended(value)}`;
  }
  return link;
}

function toLink(target: string, parameters: ReadonlyMap<string, string>): Link {
  const relations = relationsOf(parameters.get('rel') ?? '');
  return { target, relations, attributes: without(parameters, 'rel') };
}

/** The relations of `rel`: a name with a colon is an IRI and keeps its case (RFC 8288 2.1). */
function relationsOf(value: string): readonly string[] {
  const relations: string[] = [];
  for (const name of value.split(/[ \t]+/)) {
    if (name !== '') relations.push(name.includes(':') ? name : name.toLowerCase());
  }
  return relations;
}

/** The index of the `>` that closes the target, -1 when a character cannot stand in a URI or it is missing. */
function targetEnd(field: string, start: number): number {
  for (let at = start; at < field.length; at++) {
    const code = field.charCodeAt(at);
    if (code === close) return at;
    if (code <= 0x22 ? code !== 0x21 : code === open || code === 0x7f || code > 0xff) return -1;
  }
  return -1;
}

/** The end of an unquoted value: visible ASCII without quote, comma, semicolon and backslash (RFC 5988 5, ptoken). */
function unquotedEnd(field: string, start: number): number {
  let at = start;
  for (; at < field.length; at++) {
    const code = field.charCodeAt(at);
    if (code <= 0x20 || code >= 0x7f) break;
    if (code === 0x22 || code === comma || code === 0x3b || code === 0x5c) break;
  }
  return at;
}

function quoted(value: string): string {
  return `"${value.replace(/["\\]/g, '\\$&')}"`;
}

/** A value in the extended notation, always in UTF-8 and without a language (RFC 8187 3.2.1). */
function extended(value: string): string {
  return `UTF-8''${percentEncode(value, notInExtended)}`;
}

/** `text` with the octets of all that `pattern` matches percent-encoded (RFC 3986 2.1). */
function percentEncode(text: string, pattern: RegExp): string {
  // By octets: encodeURIComponent throws on a lone surrogate, and leaves some of the characters to be encoded.
  return text.replace(pattern, (part) => Buffer.from(part).toString('hex').toUpperCase().replace(/../g, '%$&'));
}
