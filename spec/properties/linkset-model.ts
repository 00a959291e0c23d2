/** Rules of linksets, RFC 6902 and RFC 7386 as functions on JSON values. Shares no code with the server. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

/** Rejection with one of several error codes, because the order of checks is undefined. */
export class Refusal extends Error {
  readonly codes: readonly string[];

  constructor(...codes: string[]) {
    super(`refused with ${codes.join(' or ')}`);
    this.codes = codes;
  }
}

export interface Described {
  readonly iri: string;
  readonly storage: string;
}

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isArray = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);
const lws = 'https://www.w3.org/ns/lws#';
const registered = 'http://www.iana.org/assignments/relation/';
const models = ['Resource', 'RDFSource', 'NonRDFSource', 'Container', 'BasicContainer', 'DirectContainer'];
const forbidden = [...models, 'IndirectContainer'].map((name) => `http://www.w3.org/ns/ldp#${name}`);
const managedNames = ['anchor', 'type', 'up', 'linkset'];
const managed = [
  ...managedNames,
  ...managedNames.map((name) => registered + name),
  `${lws}storage`,
  'http://www.w3.org/1999/02/22-rdf-syntax-ns#type',
];

/** Returns the same text for equal JSON values, independent of member order. */
export function canonical(value: Json): string {
  if (isArray(value)) return `[${value.map(canonical).join()}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`);
  return `{${members.sort().join()}}`;
}

export const lowered = (name: string): string => (name.includes(':') ? name : name.toLowerCase());
const isAbsolute = (text: Json | undefined): boolean =>
  typeof text === 'string' && /^[a-z][a-z0-9+.-]*:[^\s<>"]*$/i.test(text) && !/\p{Surrogate}/u.test(text);

const parentOf = (iri: string): string => new URL(iri.endsWith('/') ? '..' : '.', iri).href;
function isParent(target: Json, iri: string, storage: string): boolean {
  const href = isObject(target) ? target['href'] : target;
  const base = `${iri}.meta`;
  return (
    iri !== storage &&
    typeof href === 'string' &&
    URL.canParse(href, base) &&
    new URL(href, base).href === parentOf(iri)
  );
}

/** Returns the client-managed part of a linkset object: declared types as `type`, and relations. @throws Refusal */
export function clientPart(object: Json | undefined, { iri, storage }: Described): JsonObject {
  if (!isObject(object)) throw new Refusal('malformed-body');
  const faults: string[] = [];
  const types = new Map<string, Json>();
  const relations: [string, Json][] = [];
  for (const [name, value] of Object.entries(object))
    if (
      [`${registered}up`, 'up'].includes(lowered(name)) &&
      !(isArray(value) && value.length > 0 && value.every((up) => isParent(up, iri, storage)))
    )
      faults.push('conflict');
    else if (name === 'anchor') {
      if (typeof value !== 'string') faults.push('malformed-body');
      else if (new URL(value, `${iri}.meta`).href !== iri) faults.push('anchor-mismatch');
    } else if (lowered(name) === 'type') {
      if (!isArray(value) || !value.every((type) => isObject(type) && isAbsolute(type['href'])))
        faults.push('malformed-body');
      else for (const type of value as readonly JsonObject[]) types.set(type['href'] as string, type);
    } else if (!managed.includes(lowered(name))) {
      if (!isRelation(name, value)) faults.push('malformed-body');
      relations.push([name, value]);
    }
  if (faults.length > 0) throw new Refusal(...faults);
  for (const href of types.keys()) if (href.startsWith(lws) || forbidden.includes(href)) types.delete(href);
  return Object.fromEntries([...(types.size > 0 ? [['type', [...types.values()]] as const] : []), ...relations]);
}

function isRelation(name: string, value: Json): boolean {
  if (name === '' || /[\s\0-\x1f\x7f]/.test(name)) return false;
  if (typeof value === 'string') return true;
  return isArray(value) && value.every((target) => !isObject(target) || typeof target['href'] === 'string');
}

/** Returns the client-managed part of the first object of a linkset document. @throws Refusal */
export function clientPartOfDocument(document: Json | undefined, described: Described): JsonObject {
  const linkset = isObject(document) ? document['linkset'] : undefined;
  if (!isArray(linkset)) throw new Refusal('malformed-body');
  return linkset.length === 0 ? {} : clientPart(linkset[0], described);
}

/** Returns the server-managed members, in order. */
export function serverPart({ iri, storage }: Described, declared: Json = []): JsonObject {
  const structural = `${lws}${iri.endsWith('/') ? 'Container' : 'DataResource'}`;
  return {
    anchor: iri,
    type: [{ href: structural }, ...(declared as readonly Json[])],
    ...(iri === storage ? {} : { up: [{ href: parentOf(iri) }] }),
    linkset: [{ href: `${iri}.meta` }],
    [`${lws}storage`]: [{ href: storage }],
  };
}

/** Returns the expected document of a GET. */
export function documentOf(described: Described, client: JsonObject): { readonly linkset: readonly [JsonObject] } {
  const server = serverPart(described, client['type']);
  return { linkset: [Object.fromEntries([...Object.entries(client), ...Object.entries(server)])] };
}

export interface HeaderLink {
  readonly target: string;
  readonly relation: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Returns the linkset object of Link fields on a resource (RFC 9264 4.2.4). */
export function objectOf(links: readonly HeaderLink[], iri: string): JsonObject {
  const relations = new Map<string, Json[]>();
  for (const { target, relation, attributes: given } of links) {
    const { anchor = '', ...rest } = given;
    if (new URL(anchor, iri).href !== iri) continue;
    const members = Object.entries(rest).map(([name, value]): [string, Json] => {
      if (name === 'title' && /[^ -~]/.test(value)) return ['title*', [{ value }]];
      return [name, name === 'title' || name === 'type' ? value : [value]];
    });
    const name = lowered(relation);
    if (name === 'anchor') continue;
    const value = Object.fromEntries<Json>([['href', new URL(target, iri).href], ...members]);
    relations.set(name, [...(relations.get(name) ?? []), value]);
  }
  return Object.fromEntries(relations);
}

// --- RFC 7386 ---

export function merged(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const members = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch))
    if (value === null) members.delete(name);
    else members.set(name, merged(members.get(name), value));
  return Object.fromEntries(members);
}

// --- RFC 6902 ---

export interface Operation {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  readonly path: string;
  readonly from?: string;
  readonly value?: Json;
}

const conflict = (): Refusal => new Refusal('patch-conflict');
const tokensOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));

/** Maps a value to its replacement. `undefined`: no value. */
type Change = (before: Json | undefined) => Json | undefined;

/** Changes one place of a value. With `inserts`, inserts into an array instead of replacing. @throws Refusal */
function changed(
  value: Json | undefined,
  [token, ...rest]: readonly string[],
  change: Change,
  inserts = false,
): Json | undefined {
  if (token === undefined) return change(value);
  if (isObject(value)) {
    const members = new Map(Object.entries(value));
    const after = changed(members.get(token), rest, change, inserts);
    if (after === undefined) members.delete(token);
    else members.set(token, after);
    return Object.fromEntries(members);
  }
  if (!isArray(value) || !/^(?:0|[1-9]\d*|-)$/.test(token)) throw conflict();
  const at = token === '-' ? value.length : Number(token);
  if (at > value.length) throw conflict();
  const after = changed(value[at], rest, change, inserts);
  return value.toSpliced(at, inserts && rest.length === 0 ? 0 : 1, ...(after === undefined ? [] : [after]));
}

export function valueAt(document: Json | undefined, pointer: string): Json {
  let found: Json | undefined;
  changed(document, tokensOf(pointer), (before) => {
    found = before;
    return before;
  });
  if (found === undefined) throw conflict();
  return found;
}

const added = (document: Json | undefined, pointer: string, value: Json): Json | undefined =>
  changed(document, tokensOf(pointer), () => value, true);

const removed = (document: Json | undefined, pointer: string): Json | undefined =>
  changed(document, tokensOf(pointer), (before) => {
    if (before === undefined) throw conflict();
    return undefined;
  });

function applied(document: Json | undefined, { op, path, from = '', value = null }: Operation): Json | undefined {
  if (op === 'add') return added(document, path, value);
  if (op === 'remove') return removed(document, path);
  if (op === 'copy') return added(document, path, valueAt(document, from));
  if (op === 'move') {
    if (path.startsWith(`${from}/`)) throw conflict();
    return added(removed(document, from), path, valueAt(document, from));
  }
  const before = valueAt(document, path);
  if (op === 'test') {
    if (canonical(before) !== canonical(value)) throw conflict();
    return document;
  }
  return changed(document, tokensOf(path), () => value);
}

/** @throws Refusal `patch-conflict` */
export const patched = (document: Json, operations: readonly Operation[]): Json =>
  operations.reduce<Json | undefined>(applied, document) ?? null;
