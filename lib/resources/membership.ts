/** Containers as documents: the listing in JSON and in RDF, in pages, as the asking client may see it (open-points 2.6). */
import { createHash } from 'node:crypto';
import type { Quad } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import type { Access } from '../authorization/principal.js';
import { LwsError } from '../errors.js';
import { lwsContext } from '../rdf/contexts.js';
import type { RdfFormat } from '../rdf/formats.js';
import { dcterms, lws, rdf, schema, xsd } from '../rdf/vocabulary.js';
import { sortKeys } from '../storage/key-order.js';
import { encodeGraph } from '../storage/quad-keys.js';
import type { ResourceRecord } from '../storage/records.js';
import { pageStarts } from './page-starts.js';
import type { Representation } from './representations.js';
import { latest, seenItem, viewState } from './seen-state.js';
import type { Storage } from './storage.js';
import { structuralType } from './types.js';
import { variantOf } from './variants.js';

export interface Listing extends Representation {
  /** Milliseconds; of the container or of the latest of the members shown. */
  readonly modified: number;
  /** Members in all, in the caller's view. */
  readonly total: number;
  /** Present when the membership exceeds one page. */
  readonly pages?: { readonly page: number; readonly last: number };
}

interface Membership {
  readonly members: readonly ResourceRecord[];
  /** Of all pages, in the caller's view. */
  readonly total: number;
  /** The opaque state of the container in the caller's view. */
  readonly state: string;
  /** Milliseconds: when the container, as the caller sees it, changed last. */
  readonly modified: number;
}

/**
 * The listing as JSON, in pages when the membership exceeds one (service.md, "Container listing").
 * @param page from `?page=N`; absent: the un-numbered URL, whose tag stands for the container
 * @throws LwsError `page-not-found`
 */
export async function jsonListing(
  storage: Storage,
  access: Access,
  container: ResourceRecord,
  page: number | undefined,
): Promise<Listing> {
  const everything = await seesAll(storage, access, container);
  const build = async (): Promise<Listing> => {
    const { pageSize } = storage.limits;
    const from = ((page ?? 1) - 1) * pageSize;
    const { members, total, state, modified } = await collect(storage, access, container, everything, from, pageSize);
    const last = lastPage(storage, total, page ?? 1);
    const document = {
      '@context': lwsContext,
      id: container.iri,
      type: 'Container',
      totalItems: total,
      items: members.map(item),
    };
    const bytes = Buffer.from(JSON.stringify(document));
    return {
      revision: container.revision,
      tag: page === undefined ? `${state}.json-${hashOf(bytes)}` : pageTag(page, bytes),
      mediaType: 'application/lws+json',
      bytes,
      total,
      modified: latest(modified, members),
      ...(last > 1 || page !== undefined ? { pages: { page: page ?? 1, last } } : {}),
    };
  };
  if (!everything) return build();
  const variant = page === undefined ? 'json' : `json ${page}`;
  return (await storage.representations.obtain(container.iri, variant, container.revision, build)) as Listing;
}

/** The whole listing in an RDF serialisation; it is never paginated (service.md, conditional requests 5). */
export async function rdfListing(
  storage: Storage,
  access: Access,
  container: ResourceRecord,
  format: RdfFormat,
): Promise<Listing> {
  const everything = await seesAll(storage, access, container);
  const build = async (): Promise<Listing> => {
    const whole = await collect(storage, access, container, everything, 0, Number.POSITIVE_INFINITY);
    const { members, total, state, modified } = whole;
    const keys = encodeGraph(container.iri, containerQuads(container, total, modified));
    for (let at = 0; at < members.length; at += 500) {
      const quads = members.slice(at, at + 500).flatMap((member) => memberQuads(container, member));
      for (const key of encodeGraph(container.iri, quads)) keys.push(key);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const rendered = await storage.documents.render(sortKeys(keys), format, container.iri, prefixes);
    if (!rendered) throw new Error(`The listing of ${container.iri} cannot be written as ${format}.`);
    const bytes = Buffer.from(rendered.buffer, rendered.byteOffset, rendered.byteLength);
    const tag = `${state}.${variantOf(format)}-${hashOf(bytes)}`;
    return { revision: container.revision, tag, mediaType: format, bytes, total, modified: latest(modified, members) };
  };
  if (!everything) return build();
  return (await storage.representations.obtain(container.iri, format, container.revision, build)) as Listing;
}

const seesAll = ({ authorizer, store }: Storage, access: Access, { iri }: ResourceRecord): boolean | Promise<boolean> =>
  authorizer.readsAllMembers(store, access, iri);

/** The members between two positions of the caller's view, and what is known of the rest. */
async function collect(
  storage: Storage,
  access: Access,
  container: ResourceRecord,
  everything: boolean,
  from: number,
  count: number,
): Promise<Membership> {
  const mayRead = (record: ResourceRecord): boolean | Promise<boolean> =>
    storage.authorizer.allows({ view: storage.store, access, mode: 'read', iri: record.iri, record });
  const members: ResourceRecord[] = [];
  const visible: string[] = [];
  const starts = everything ? pageStarts(storage, container) : undefined;
  const begin = starts?.before(from);
  let seen = begin?.position ?? 0;
  for await (const records of storage.store.members(container.iri, begin?.iri)) {
    for (const record of records) {
      if (!everything && !(await mayRead(record))) continue;
      if (seen >= from && members.length < count)
        members.push(everything ? record : await seenItem(storage, access, record));
      if (!everything) visible.push(record.iri);
      starts?.note(seen, record.iri);
      seen++;
    }
    if (everything && members.length >= count) break;
  }
  if (everything)
    return { members, total: container.members ?? 0, state: container.revision, modified: container.modified };
  // The container's own date moves with members that the caller must not know of.
  return { members, total: visible.length, state: viewState(visible), modified: latest(container.created, members) };
}

/** The whole listing: where a page of it was asked for, under a tag of that page. @throws LwsError `page-not-found` */
export function wholeAsPage(storage: Storage, listing: Listing, page: number | undefined): Listing {
  if (page === undefined) return listing;
  lastPage(storage, listing.total, page);
  const tag = pageTag(page, listing.bytes, `${variantOf(listing.mediaType as RdfFormat)}-`);
  return { ...listing, tag };
}

/** The number of the last page. @throws LwsError `page-not-found` for a page behind it */
function lastPage({ limits }: Storage, total: number, page: number): number {
  const last = Math.max(1, Math.ceil(total / limits.pageSize));
  if (page > last) throw new LwsError('page-not-found', `The listing has ${last} pages.`);
  return last;
}

/** It names no state, so that it never satisfies `If-Match` (service.md, conditional requests 5). */
const pageTag = (page: number, bytes: Buffer, variant = ''): string => `page-${page}.${variant}${hashOf(bytes)}`;

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('base64url').slice(0, 12);

/** The structural type in its short form, and the declared ones behind it (open-points 2.6). */
function itemType({ kind, types = [] }: ResourceRecord): string | readonly string[] {
  const structural = kind === 'container' ? 'Container' : 'DataResource';
  return types.length === 0 ? structural : [structural, ...types];
}

/** A resource as a listing or a search result shows it. */
export function item(record: ResourceRecord): object {
  const modified = new Date(record.modified).toISOString();
  const { iri, mediaType, size } = record;
  return record.kind === 'container'
    ? { id: iri, type: itemType(record), modified }
    : { id: iri, type: itemType(record), format: mediaType, size, modified };
}

const factory = new DataFactory<Quad>();
const node = (iri: string) => factory.namedNode(iri);
const literal = (value: string | number, type: string) =>
  factory.literal(String(value), factory.namedNode(xsd.namespace + type));

const prefixes = {
  lws: lws.namespace,
  dcterms: dcterms.namespace,
  schema: schema.namespace,
  xsd: xsd.namespace,
};

function containerQuads(container: ResourceRecord, total: number, modified: number): Quad[] {
  const subject = node(container.iri);
  return [
    factory.quad(subject, node(rdf.type), node(lws.Container)),
    factory.quad(subject, node(lws.totalItems), literal(total, 'integer')),
    factory.quad(subject, node(dcterms.modified), literal(new Date(modified).toISOString(), 'dateTime')),
  ];
}

function memberQuads(container: ResourceRecord, record: ResourceRecord): Quad[] {
  const subject = node(record.iri);
  const quads = [
    factory.quad(node(container.iri), node(lws.items), subject),
    ...[structuralType(record.kind), ...(record.types ?? [])].map((type) =>
      factory.quad(subject, node(rdf.type), node(type)),
    ),
    factory.quad(subject, node(dcterms.modified), literal(new Date(record.modified).toISOString(), 'dateTime')),
  ];
  if (record.kind === 'container') return quads;
  return [
    ...quads,
    factory.quad(subject, node(dcterms.format), factory.literal(record.mediaType)),
    factory.quad(subject, node(schema.size), literal(record.size, 'long')),
  ];
}
