/**
 * Linksets as documents (RFC 9264; rules 11.1, 11.2): the links that the server manages are made anew on every read, the clients' are kept
 * as they were given. Pure.
 */
import { createHash } from 'node:crypto';
import type { Quad } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import { LwsError } from '../errors.js';
import type { Link } from '../fields/link.js';
import { isObject } from '../json/exact-json.js';
import { isAbsoluteIri, isWellFormed } from '../rdf/iri.js';
import { ldp, lws, rdf } from '../rdf/vocabulary.js';
import { encodeGraph } from '../storage/keys/quad-keys.js';
import { entryRange, parentOf, type ResourceRecord } from '../storage/keys/records.js';
import { linksetOf } from './names.js';
import { structuralType } from './types.js';

/** Those with one value (RFC 9264 4.2.4.1); all others are arrays, as they may be repeated. */
const single: ReadonlySet<string> = new Set(['type', 'media', 'title']);

/** The target attributes of a link, without `anchor`, which is no attribute of the target. */
function targetAttributes(attributes: ReadonlyMap<string, string>): Readonly<Record<string, unknown>> {
  const members = [...attributes].filter(([name]) => name !== 'anchor' && name !== 'rev' && name !== 'href');
  return Object.fromEntries(members.map(([name, value]) => [name, memberOf(name, value)]));
}

function memberOf(name: string, value: string): unknown {
  if (single.has(name)) return value;
  return name.endsWith('*') ? value.split('\n').map(internationalized) : value.split('\n');
}

/** RFC 9264 4.2.4.2: `UTF-8'en'...` of RFC 8187 as value and language. */
function internationalized(value: string): object {
  const [, language = '', encoded = value] = /^utf-8'([^']*)'(.*)$/is.exec(value) ?? [];
  return { value: decoded(encoded), ...(language === '' ? {} : { language }) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Not well-formed: kept as it was sent.
    return text;
  }
}

/** What clients manage: relation names and their values, the declared types as `type` among them. */
export type ClientLinks = Readonly<Record<string, unknown>>;

interface Target {
  readonly href: string;
}

/** Where the names of registered relations are IRIs. */
export const registered = 'http://www.iana.org/assignments/relation/';
const managed: ReadonlySet<string> = new Set(['anchor', 'up', 'linkset', lws.storage, rdf.type]);
const interactionModels: ReadonlySet<string> = new Set(Object.values(ldp));

/** Registered relation names are compared without case, IRIs as they are (RFC 8288 2.1). */
export const relationName = (name: string): string => (name.includes(':') ? name : name.toLowerCase());

/** The one name under which a relation is searched: a registered one also has an IRI. */
export const searchedRelation = (name: string): string =>
  relationName(name.startsWith(registered) ? name.slice(registered.length) : name);

/** Whether a relation is the server's, also under its registered IRI. */
const isManaged = (name: string): boolean =>
  managed.has(name) || (name.startsWith(registered) && isManagedOrType(name.slice(registered.length)));
const isManagedOrType = (name: string): boolean => name === 'type' || managed.has(name);

/** Whether a client may declare a type (rule 2): none that says what the server makes of a resource. */
const isDeclarable = (type: string): boolean => !type.startsWith(lws.namespace) && !interactionModels.has(type);

/** The link context object of a resource, its members in the order of rule 11.1. */
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
 * The linkset as a document; `filter` leaves relations out, never the anchor (endpoint rule 5). Written member by member:
 * an object would put names of digits first.
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

/** The opaque tag of a linkset: of what it says, so that a write that changes nothing leaves it. */
export const linksetTag = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('base64url').slice(0, 16);

/**
 * What a client manages of a linkset document that it sends: of the first link context object.
 * @throws LwsError `malformed-body` for what is no linkset, `anchor-mismatch`
 */
export function readLinkset(document: unknown, iri: string): ClientLinks {
  const linkset = isObject(document) ? document['linkset'] : undefined;
  if (!Array.isArray(linkset)) throw malformed('It is an object with the array "linkset" (RFC 9264 4.2).');
  // An empty linkset has no links.
  return linkset.length === 0 ? {} : readWritten(linkset[0], iri);
}

/**
 * The same of an object that a client has written, where the parent is the one that the resource has: it cannot be moved so.
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
      throw new LwsError('conflict', 'A linkset does not move its resource: leave "up" out, or as it was.');
  return links;
}

/**
 * What a client manages of a link context object. The server's relations and the types that nobody may declare are
 * left out without an error, so that what was read can be written back (rule 11.2).
 * @throws LwsError `malformed-body`, `anchor-mismatch`
 */
export function readContextObject(object: unknown, iri: string): ClientLinks {
  if (!isObject(object)) throw malformed('A link context object is an object (RFC 9264 4.2.2).');
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
  if (typeof anchor !== 'string') throw malformed('An anchor is a string (RFC 9264 4.2.2).');
  if (anchor !== iri && resolve(anchor, linksetOf(iri)) !== iri)
    throw new LwsError(
      'anchor-mismatch',
      `The anchor of this linkset is ${iri}; another one cannot be described here.`,
    );
}

/** The types that may be declared. @throws LwsError `malformed-body` for one that is no absolute IRI */
function readTypes(value: unknown): Target[] {
  if (!Array.isArray(value)) throw malformed('"type" is an array of objects with an "href".');
  const targets = value.map((target: unknown) => {
    if (!isObject(target) || typeof target['href'] !== 'string' || !isAbsoluteIri(target['href']))
      throw malformed('Every type is an object whose "href" is an absolute IRI.');
    return target as unknown as Target;
  });
  return targets.filter(({ href }) => isDeclarable(href));
}

/** Every type is in a header field of the resource, and HTTP clients refuse an answer with 16 KiB of them. */
const maxTypeCharacters = 8_192;

function assertHeaderRoom(types: readonly Target[]): void {
  const characters = types.reduce((sum, { href }) => sum + href.length + 20, 0);
  if (characters > maxTypeCharacters)
    throw new LwsError(
      'linkset-too-large',
      `The declared types are sent in header fields, which have room for ${maxTypeCharacters} characters of them.`,
    );
}

/** The value of a client's relation: an RFC 9264 target array, or a literal. */
function readValue(name: string, value: unknown): unknown {
  // Prefer lists relations between blanks.
  const isName = name !== '' && !/[\s\u0000-\u001f\u007f]/.test(name) && isWellFormed(name);
  if (!isName) throw malformed('A relation has no name, or one with blanks.');
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) throw malformed(`The value of "${name.slice(0, 100)}" is neither an array nor a string.`);
  for (const target of value)
    if (isObject(target) && typeof target['href'] !== 'string')
      throw malformed(`A target of "${name.slice(0, 100)}" has no "href" (RFC 9264 4.2.3).`);
  return value;
}

/**
 * What a request's Link fields say of a resource, as client-managed links. Links of another context, those that the
 * server manages and interaction models are left out (rule 6.4).
 * @throws LwsError `malformed-body` for a type that is no absolute IRI
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

/** A partial update: the relations of `change` replace those of the same name (endpoint rule 6). */
export function mergeLinks(links: ClientLinks, change: ClientLinks): ClientLinks {
  const named = new Set(Object.keys(change).map(relationName));
  const kept = Object.entries(links).filter(([name]) => !named.has(relationName(name)));
  return Object.fromEntries([...kept, ...Object.entries(change)]);
}

/** The declared types, in the order in which they were given. */
export const declaredTypes = (links: ClientLinks): readonly string[] =>
  ((links['type'] as Target[] | undefined) ?? []).map(({ href }) => href);

/** A value of a relation: the absolute IRI of a target, or a string. */
type LinkedValue =
  | { readonly href: string; readonly literal?: never }
  | { readonly href?: never; readonly literal: string };

/** The values of the client's relations, without the types; references are relative to the linkset. */
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
  return href !== undefined && isAbsoluteIri(href) ? { href } : undefined;
}

/** The targets of the client's relations by `href`, without the types and without literals. */
export const relationTargets = (links: ClientLinks, iri: string): (readonly [relation: string, target: string])[] =>
  linkedValues(links, iri).flatMap(([relation, { href }]) => (href === undefined ? [] : [[relation, href] as const]));

/** A reference as an absolute IRI; one that is absolute stays as it is spelled. */
function resolve(reference: string, base: string): string | undefined {
  if (isAbsoluteIri(reference)) return reference;
  return URL.canParse(reference, base) ? new URL(reference, base).href : undefined;
}

const malformed = (detail: string): LwsError => new LwsError('malformed-body', `This is no linkset. ${detail}`);

/** The entries of client-managed links; the value is all that the graph of a linkset is made of. */
export const allLinks = entryRange('links');

const factory = new DataFactory<Quad>();

/** The GSPO keys of the graph. */
export const linksetGraph = (links: ClientLinks, iri: string): string[] =>
  encodeGraph(linksetOf(iri), linksetQuads(links, iri));

/** Declared types as `rdf:type`, targets as IRIs, literals as strings. */
export function linksetQuads(links: ClientLinks, iri: string): Quad[] {
  const subject = factory.namedNode(iri);
  const type = factory.namedNode(rdf.type);
  const quads = declaredTypes(links).map((name) => factory.quad(subject, type, factory.namedNode(name)));
  for (const [relation, { href, literal }] of linkedValues(links, iri)) {
    const predicate = relation.includes(':') ? relation : registered + relation;
    if (!isAbsoluteIri(predicate)) continue;
    const object = href === undefined ? factory.literal(literal!) : factory.namedNode(href);
    quads.push(factory.quad(subject, factory.namedNode(predicate), object));
  }
  return quads;
}
