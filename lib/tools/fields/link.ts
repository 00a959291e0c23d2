/** `Link` field (RFC 8288 3). */
import { type PairRules, readParameters, skipSpace, without } from './syntax.js';

/** A link: its target as written, relations, and other attributes (including `anchor`). */
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

// Attributes allowed at most once in a link (RFC 8288 3.4). `hreflang` and extensions can be repeated.
const single: ReadonlySet<string> = new Set(['rel', 'anchor', 'rev', 'media', 'title', 'title*', 'type']);

// RFC 5988 allowed unquoted `type=text/turtle` and `rel=http://...`, and clients still send them.
const linkPairs: PairRules = { loose: true, valueEnd: unquotedEnd, repeats: (name) => !single.has(name) };

/**
 * Parses the links of a field. Returns undefined if it is malformed. Registered relations and attribute names become lower case.
 * Values of a repeated attribute are joined by line feeds; of attributes that must not be repeated, the first counts. A link
 * without `rel` has no relations. Extended attributes (`title*`) stay encoded (RFC 8288 3, 3.3, 3.4).
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
 * Formats a link with its attributes in the given order. Attribute names must be tokens. Percent-encodes invalid characters in
 * the target and the relation. Values outside printable ASCII become extended attributes such as `title*` (RFC 8288 3, 3.4; RFC
 * 8187 3.2).
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

/** Splits `rel`: a name with a colon is an IRI and keeps its case (RFC 8288 2.1). */
function relationsOf(value: string): readonly string[] {
  const relations: string[] = [];
  for (const name of value.split(/[ \t]+/)) {
    if (name !== '') relations.push(name.includes(':') ? name : name.toLowerCase());
  }
  return relations;
}

/** Returns the index of the closing `>`, or -1 if it is missing or a character is not allowed in a URI. */
function targetEnd(field: string, start: number): number {
  for (let at = start; at < field.length; at++) {
    const code = field.charCodeAt(at);
    if (code === close) return at;
    if (code <= 0x22 ? code !== 0x21 : code === open || code === 0x7f || code > 0xff) return -1;
  }
  return -1;
}

/** Returns the end of an unquoted value: visible ASCII without quote, comma, semicolon and backslash (RFC 5988 5, ptoken). */
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

/** Formats a value in extended notation: UTF-8, no language (RFC 8187 3.2.1). */
function extended(value: string): string {
  return `UTF-8''${percentEncode(value, notInExtended)}`;
}

/** Percent-encodes the octets of all matches of `pattern` (RFC 3986 2.1). */
function percentEncode(text: string, pattern: RegExp): string {
  // encodeURIComponent throws on lone surrogates and leaves some of these characters unencoded.
  return text.replace(pattern, (part) => Buffer.from(part).toString('hex').toUpperCase().replace(/../g, '%$&'));
}
