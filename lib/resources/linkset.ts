/**
 * Linksets as documents (RFC 9264; rules 11.1, 11.2). Server-managed links are generated on every read, client-managed links
 * are returned as sent. Pure functions.
 */
import { createHash } from 'node:crypto';
import type { Quad } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import { isAbsoluteIri, isWellFormed } from '../rdf/iri.js';
import { ldp, lws, rdf, xsd } from '../rdf/vocabulary.js';
import { encodeGraph } from '../storage/keys/quad-keys.js';
import { entryRange, parentOf, type ResourceRecord } from '../storage/keys/records.js';
import { addTo } from '../tools/collections.js';
import { LwsError } from '../tools/errors.js';
import type { Link } from '../tools/fields/link.js';
import { isObject } from '../tools/json/exact-json.js';
import { linksetOf } from './names.js';
import { structuralType } from './types.js';

/** Attributes with a single value (RFC 9264 4.2.4.1). All other attributes may be repeated and are arrays. */
const single: ReadonlySet<string> = new Set(['type', 'media', 'title']);

/** Returns the target attributes of a link, without `anchor`. */
function targetAttributes(attributes: ReadonlyMap<string, string>): Readonly<Record<string, unknown>> {
  const members = [...attributes].filter(([name]) => name !== 'anchor' && name !== 'rev' && name !== 'href');
  return Object.fromEntries(members.map(([name, value]) => [name, memberOf(name, value)]));
}

function memberOf(name: string, value: string): unknown {
  if (single.has(name)) return value;
  return name.endsWith('*') ? value.split('\n').map(internationalized) : value.split('\n');
}

/** Converts an extended value of RFC 8187 (`UTF-8'en'...`) to the object with value and language of RFC 9264 4.2.4.2. */
function internationalized(value: string): object {
  const [, language = '', encoded = value] = /^utf-8'([^']*)'(.*)$/is.exec(value) ?? [];
  return { value: decoded(encoded), ...(language === '' ? {} : { language }) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Return malformed values as sent.
    return text;
  }
}

/** Client-managed links: relation names and their values, with the declared types as `type`. */
export type ClientLinks = Readonly<Record<string, unknown>>;

interface Target {
  readonly href: string;
}

/** Namespace of registered relations as IRIs. */
export const registered = 'http://www.iana.org/assignments/relation/';
const managed: ReadonlySet<string> = new Set(['anchor', 'up', 'linkset', lws.storage, rdf.type]);
const interactionModels: ReadonlySet<string> = new Set(Object.values(ldp));

/** Returns the normalized name: registered relation names are case-insensitive, IRIs are case-sensitive (RFC 8288 2.1). */
export const relationName = (name: string): string => (name.includes(':') ? name : name.toLowerCase());

/** Returns the canonical name of a relation. Registered relations have a second name, an IRI. */
export const searchedRelation = (name: string): string =>
  relationName(name.startsWith(registered) ? name.slice(registered.length) : name);

/** Returns true if the server manages a relation, given by its name or by its registered IRI. */
const isManaged = (name: string): boolean =>
  managed.has(name) || (name.startsWith(registered) && isManagedOrType(name.slice(registered.length)));
const isManagedOrType = (name: string): boolean => name === 'type' || managed.has(name);

/** Returns true if a client may declare a type (rule 11.3): not a structural type or interaction model. */
const isDeclarable = (type: string): boolean => !type.startsWith(lws.namespace) && !interactionModels.has(type);

/** Returns the members of the link context object of a resource, in the order of rule 11.1. */
function contextObject(record: ResourceRecord, links: ClientLinks, storage: string): [string, unknown][] {
  const declared = (links['type'] as Target[] | undefined) ?? [];
  return [
    ['anchor', record.iri],
    ['type', [{ href: structuralType(record.kind) }, ...declared]],
    ...(record.iri === storage ? [] : [['up', [{ href: parentOf(record.iri) }]] as [string, unknown]]),
    ['linkset', [{ href: linksetOf(record.iri) }]],
    [lws.storage, [{ href: storage }]],
    ...Object.entries(links).filter(([name]) => name !== 'type'),
  ];
}

export interface RelationFilter {
  readonly include?: ReadonlySet<string> | undefined;
  readonly omit?: ReadonlySet<string> | undefined;
}

/**
 * Returns the linkset as a document. The filter removes relations, never the anchor (rule 11.9). The JSON is written member by
 * member, because an object would order integer-like names first.
 */
export function linksetBytes(
  record: ResourceRecord,
  links: ClientLinks,
  storage: string,
  { include, omit }: RelationFilter = {},
): Buffer {
  const members = contextObject(record, links, storage)
    .filter(
      ([name]) =>
        name === 'anchor' || (include?.has(relationName(name)) !== false && omit?.has(relationName(name)) !== true),
    )
    .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  return Buffer.from(`{"linkset":[{${members.join(',')}}]}`);
}

/** Returns the opaque tag of a linkset: a hash of its content, so that a write without effect keeps the tag. */
export const linksetTag = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('base64url').slice(0, 16);

/**
 * Returns the client-managed links of the first link context object in a linkset document.
 * @throws LwsError `malformed-body` for an invalid linkset, `anchor-mismatch`
 */
export function readLinkset(document: unknown, iri: string): ClientLinks {
  const linkset = isObject(document) ? document['linkset'] : undefined;
  if (!Array.isArray(linkset)) throw malformed('A linkset is an object with the array "linkset" (RFC 9264 4.2).');
  // An empty linkset has no links.
  return linkset.length === 0 ? {} : readWritten(linkset[0], iri);
}

/**
 * Reads a link context object sent by a client. If it has `up`, the target must be the current parent, because a linkset cannot
 * move its resource.
 * @throws LwsError as `readContextObject`; `conflict`
 */
export function readWritten(object: unknown, iri: string): ClientLinks {
  const links = readContextObject(object, iri);
  const isParent = (target: unknown): boolean => {
    const href = isObject(target) ? target['href'] : target;
    return typeof href === 'string' && resolve(href, linksetOf(iri)) === parentOf(iri);
  };
  const isEcho = (value: unknown): boolean => Array.isArray(value) && value.length > 0 && value.every(isParent);
  for (const [name, value] of Object.entries(object as Readonly<Record<string, unknown>>))
    if ([`${registered}up`, 'up'].includes(relationName(name)) && !isEcho(value))
      throw new LwsError('conflict', 'A linkset cannot move its resource. Omit "up", or leave it unchanged.');
  return links;
}

/**
 * Returns the client-managed links of a link context object. The server's relations and reserved types are ignored without an
 * error, so that clients can write back the document they read (rule 11.2).
 * @throws LwsError `malformed-body`, `anchor-mismatch`
 */
export function readContextObject(object: unknown, iri: string): ClientLinks {
  if (!isObject(object)) throw malformed('A link context must be an object (RFC 9264 4.2.2).');
  const types: Target[] = [];
  const members: [string, unknown][] = [];
  for (const [name, value] of Object.entries(object)) {
    const relation = relationName(name);
    if (name === 'anchor') assertAnchor(value, iri);
    else if (relation === 'type') types.push(...readTypes(value));
    else if (!isManaged(relation)) members.push([name, readValue(name, value)]);
  }
  const declared = [...new Map(types.map((target) => [target.href, target])).values()];
  assertHeaderRoom(declared);
  return Object.fromEntries(declared.length > 0 ? [['type', declared], ...members] : members);
}

function assertAnchor(anchor: unknown, iri: string): void {
  if (typeof anchor !== 'string') throw malformed('An anchor must be a string (RFC 9264 4.2.2).');
  if (anchor !== iri && resolve(anchor, linksetOf(iri)) !== iri)
    throw new LwsError('anchor-mismatch', `The anchor must be ${iri}: this linkset describes no other resource.`);
}

/** Returns the declared types. @throws LwsError `malformed-body` for a type that is not an absolute IRI */
function readTypes(value: unknown): Target[] {
  if (!Array.isArray(value)) throw malformed('"type" must be an array of objects with an "href".');
  const targets = value.map((target: unknown) => {
    if (!isObject(target) || typeof target['href'] !== 'string' || !isAbsoluteIri(target['href']))
      throw malformed('Every type must be an object with an absolute IRI as "href".');
    return target as unknown as Target;
  });
  return targets.filter(({ href }) => isDeclarable(href));
}

/** Maximum total length of types. Each type is in a header field, and HTTP clients reject 16 KiB of header fields. */
const maxTypeCharacters = 8_192;

function assertHeaderRoom(types: readonly Target[]): void {
  const characters = types.reduce((sum, { href }) => sum + href.length + 20, 0);
  if (characters > maxTypeCharacters)
    throw new LwsError(
      'linkset-too-large',
      `The declared types exceed ${maxTypeCharacters} characters, the limit for header fields.`,
    );
}

/** Reads the value of a client-managed relation: an RFC 9264 target array, or a literal. */
function readValue(name: string, value: unknown): unknown {
  // Reject white space, because Prefer separates relations by spaces.
  const isName = name !== '' && !/[\s\u0000-\u001f\u007f]/.test(name) && isWellFormed(name);
  if (!isName) throw malformed('A relation name must not be empty or contain white space.');
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) throw malformed(`The value of "${name.slice(0, 100)}" must be an array or a string.`);
  for (const target of value)
    if (isObject(target) && typeof target['href'] !== 'string')
      throw malformed(`A target of "${name.slice(0, 100)}" has no "href" (RFC 9264 4.2.3).`);
  return value;
}

/**
 * Returns the Link fields of a request as client-managed links. Links with another context, server-managed relations and
 * interaction models are ignored (rule 6.4).
 * @throws LwsError `malformed-body` for a type that is not an absolute IRI
 */
export function linksOfHeader(links: readonly Link[], iri: string): ClientLinks {
  const relations = new Map<string, object[]>();
  for (const { target, relations: names, attributes } of links) {
    const anchor = attributes.get('anchor');
    if (anchor !== undefined && resolve(anchor, iri) !== iri) continue;
    for (const name of names) {
      if (name === 'anchor') continue;
      const href = resolve(target, iri) ?? target;
      relations.set(name, [...(relations.get(name) ?? []), { href, ...targetAttributes(attributes) }]);
    }
  }
  return readContextObject(Object.fromEntries(relations), iri);
}

/** Merges a partial update: relations of `change` replace relations of the same name (rule 11.10). */
export function mergeLinks(links: ClientLinks, change: ClientLinks): ClientLinks {
  const named = new Set(Object.keys(change).map(relationName));
  const kept = Object.entries(links).filter(([name]) => !named.has(relationName(name)));
  return Object.fromEntries([...kept, ...Object.entries(change)]);
}

/** Returns the declared types in their original order. */
export const declaredTypes = (links: ClientLinks): readonly string[] =>
  ((links['type'] as Target[] | undefined) ?? []).map(({ href }) => href);

/** Value of a relation: the absolute IRI of a target, or a string. */
type LinkedValue =
  | { readonly href: string; readonly type?: string; readonly literal?: never }
  | { readonly href?: never; readonly type?: never; readonly literal: string };

/** Returns the values of client-managed relations, without types. References are relative to the linkset. */
export function linkedValues(links: ClientLinks, iri: string): (readonly [relation: string, value: LinkedValue])[] {
  const base = linksetOf(iri);
  return Object.entries(links).flatMap(([name, value]) => {
    if (name === 'type') return [];
    return [value].flat().flatMap((entry: unknown) => {
      const found = linkedValue(entry, base);
      return found ? [[relationName(name), found] as const] : [];
    });
  });
}

function linkedValue(entry: unknown, base: string): LinkedValue | undefined {
  if (typeof entry === 'string') return isWellFormed(entry) ? { literal: entry } : undefined;
  const href = isObject(entry) ? resolve(String(entry['href']), base) : undefined;
  if (href === undefined || !isAbsoluteIri(href)) return undefined;
  const { type } = entry as { readonly type?: unknown };
  return typeof type === 'string' ? { href, type } : { href };
}

/**
 * Returns the links for a graph with the given triples. Links of `before` that the graph still contains keep their attributes.
 * @throws LwsError `unsupported-rdf` for a triple that is not a link (rule 20.12), and as `readWritten`
 */
export function linksOfGraph(quads: readonly Quad[], before: ClientLinks, iri: string): ClientLinks {
  const wanted = new Map(quads.map((quad) => linkOf(quad, iri)).map((link) => [JSON.stringify(link), link]));
  const found = new Set<string>();
  const isWanted = (name: string, entry: unknown): boolean => {
    const value = linkedValue(entry, linksetOf(iri));
    const relation = searchedRelation(name);
    if (!value || (name !== 'type' && !isAbsoluteIri(predicateOf(relation)))) return true;
    const { href, literal } = value;
    const key = JSON.stringify([relation, href === undefined ? { literal } : { href }]);
    found.add(key);
    return wanted.has(key);
  };
  const members = new Map<string, unknown>();
  const names = new Map<string, string>();
  for (const [name, value] of Object.entries(before)) {
    names.set(searchedRelation(name), name);
    const entries = [value].flat();
    const kept = entries.filter((entry) => isWanted(name, entry));
    if (kept.length === entries.length) members.set(name, value);
    else if (kept.length > 0) members.set(name, kept);
  }
  const added = new Map<string, unknown[]>();
  for (const [key, [relation, { href, literal }]] of wanted) {
    if (found.has(key)) continue;
    addTo(added, relation, href === undefined ? literal : { href });
  }
  for (const [relation, entries] of added) {
    const name = names.get(relation) ?? relation;
    members.set(name, [members.get(name) ?? [], entries].flat());
  }
  return readWritten(Object.fromEntries(members), iri);
}

function linkOf({ subject, predicate, object }: Quad, iri: string): readonly [relation: string, value: LinkedValue] {
  const relation = predicate.value === rdf.type ? 'type' : searchedRelation(predicate.value);
  const isText = object.termType === 'Literal' && object.datatype.value === xsd.string && relation !== 'type';
  if (subject.value === iri && (isText || object.termType === 'NamedNode'))
    return [relation, isText ? { literal: object.value } : { href: object.value }];
  throw new LwsError(
    'unsupported-rdf',
    `The metadata of ${iri} can have triples of this subject only, whose objects are IRIs or strings without a language.`,
  );
}

/** Returns the `href` targets of client-managed relations, without types and literals. */
export const relationTargets = (links: ClientLinks, iri: string): (readonly [relation: string, target: string])[] =>
  linkedValues(links, iri).flatMap(([relation, { href }]) => (href === undefined ? [] : [[relation, href] as const]));

/** Resolves a reference. An absolute IRI is returned unchanged. */
function resolve(reference: string, base: string): string | undefined {
  if (isAbsoluteIri(reference)) return reference;
  return URL.canParse(reference, base) ? new URL(reference, base).href : undefined;
}

const malformed = (detail: string): LwsError => new LwsError('malformed-body', `The linkset is not valid. ${detail}`);

/** Range of the entries with client-managed links. The graph of a linkset depends on their values only. */
export const allLinks = entryRange('links');

const factory = new DataFactory<Quad>();

/** Returns the GSPO keys of the graph of a linkset. */
export const linksetGraph = (links: ClientLinks, iri: string): string[] =>
  encodeGraph(linksetOf(iri), linksetQuads(links, iri));

const predicateOf = (relation: string): string => (relation.includes(':') ? relation : registered + relation);

/** Returns the triples of the links: declared types as `rdf:type`, targets as IRIs, and strings as literals. */
export function linksetQuads(links: ClientLinks, iri: string): Quad[] {
  const subject = factory.namedNode(iri);
  const type = factory.namedNode(rdf.type);
  const quads = declaredTypes(links).map((name) => factory.quad(subject, type, factory.namedNode(name)));
  for (const [relation, { href, literal }] of linkedValues(links, iri)) {
    const predicate = predicateOf(relation);
    if (!isAbsoluteIri(predicate)) continue;
    const object = href === undefined ? factory.literal(literal!) : factory.namedNode(href);
    quads.push(factory.quad(subject, factory.namedNode(predicate), object));
  }
  return quads;
}
