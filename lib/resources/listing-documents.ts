/** Serializes listings: the members of a container in JSON and in RDF, in pages (rules 9.1, 9.2, 9.4). Ignores permissions. */
import { createHash } from 'node:crypto';
import type { Quad } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import type { Documents } from '../documents/documents.js';
import { lwsContext } from '../rdf/contexts.js';
import type { RdfFormat } from '../rdf/formats.js';
import { isAbsoluteIri } from '../rdf/iri.js';
import { dcterms, ldp, lws, rdf, schema, stat, xsd } from '../rdf/vocabulary.js';
import { sortKeys } from '../storage/keys/key-order.js';
import { encodeGraph } from '../storage/keys/quad-keys.js';
import type { ResourceRecord } from '../storage/keys/records.js';
import { slices } from '../tools/collections.js';
import { LwsError } from '../tools/errors.js';
import type { Dated } from './preconditions.js';
import type { Representation } from './representations.js';
import { structuralType } from './types.js';
import { variantOf } from './variants.js';

export interface Listing extends Representation, Dated {
  readonly isPartial?: true | undefined;
  /** Count of all members that the caller can see. */
  readonly total: number;
  /** Number of the page and of the last page. Absent if the membership fits on one page. */
  readonly pages?: { readonly page: number; readonly last: number };
}

/** Container and members to serialize, as the caller sees them. */
export interface Membership extends Dated {
  /** Visible members: one page of them in JSON, all in RDF. */
  readonly members: readonly ListedMember[];
  /** Count of the visible members on all pages. */
  readonly total: number;
  /** Opaque state of the listing: depends on what the caller can see. */
  readonly state: string;
  /**
   * True if the caller sees only a part of the members. The listing then has the creation date of the container, and no
   * modification date for conditional requests.
   */
  readonly isPartial?: true | undefined;
  /** More triples about the container in RDF. */
  readonly description?: readonly Quad[];
}

/** Fields of a member in a listing. */
export type ListedMember = Pick<ResourceRecord, 'iri' | 'kind' | 'types' | 'mediaType' | 'size' | 'modified'>;

/** Returns the number of the last page. @throws LwsError `page-not-found` if `page` is greater */
function lastPage(pageSize: number, total: number, page: number): number {
  const last = Math.max(1, Math.ceil(total / pageSize));
  if (page > last) throw new LwsError('page-not-found', `The page does not exist: the listing has ${last} pages.`);
  return last;
}

/**
 * Returns the listing as JSON (rule 9.1).
 * @param page from `?page=N`, absent for the URL without page number, whose tag represents the container
 * @throws LwsError `page-not-found`
 */
export function jsonDocument(
  { iri, revision }: Pick<ResourceRecord, 'iri' | 'revision'>,
  { members, total, state, ...date }: Membership,
  { page, pageSize }: { readonly page: number | undefined; readonly pageSize: number },
): Listing {
  const last = lastPage(pageSize, total, page ?? 1);
  const document = { '@context': lwsContext, id: iri, type: 'Container', totalItems: total, items: members.map(item) };
  const bytes = Buffer.from(JSON.stringify(document));
  return {
    revision,
    tag: page === undefined ? `${state}.json-${hashOf(bytes)}` : pageTag(page, bytes),
    mediaType: 'application/lws+json',
    bytes,
    total,
    ...date,
    ...(last > 1 || page !== undefined ? { pages: { page: page ?? 1, last } } : {}),
  };
}

/** Count of members that are converted to triples between two calls of `pause`. */
const membersAtATime = 128;

/**
 * Returns the complete listing in an RDF serialization, which is never paginated (rule 9.2).
 * @param pause called between parts of the work, so that other requests can run
 */
export async function rdfDocument(
  { iri, revision }: Pick<ResourceRecord, 'iri' | 'revision'>,
  { members, total, state, description = [], ...date }: Membership,
  {
    documents,
    format,
    pause,
  }: { readonly documents: Documents; readonly format: RdfFormat; readonly pause: () => Promise<void> },
): Promise<Listing> {
  const keys = encodeGraph(iri, [...containerQuads(iri, total, date.modified), ...description]);
  for (const some of slices(members, membersAtATime)) {
    const quads = some.flatMap((member) => memberQuads(iri, member));
    for (const key of encodeGraph(iri, quads)) keys.push(key);
    await pause();
  }
  const rendered = await documents.render(sortKeys(keys), format, iri, prefixes);
  if (!rendered) throw new Error(`The listing of ${iri} cannot be written as ${format}.`);
  const bytes = Buffer.from(rendered.buffer, rendered.byteOffset, rendered.byteLength);
  const tag = `${state}.${variantOf(format)}-${hashOf(bytes)}`;
  return { revision, tag, mediaType: format, bytes, total, ...date };
}

/** Returns the complete listing, with the tag of the requested page if there is one. @throws LwsError `page-not-found` */
export function wholeAsPage(pageSize: number, listing: Listing, page: number | undefined): Listing {
  if (page === undefined) return listing;
  lastPage(pageSize, listing.total, page);
  const tag = pageTag(page, listing.bytes, `${variantOf(listing.mediaType as RdfFormat)}-`);
  return { ...listing, tag };
}

/** Returns the tag of a page. The tag is not the state of the container, so it never satisfies `If-Match` (rule 8.4). */
const pageTag = (page: number, bytes: Buffer, variant = ''): string => `page-${page}.${variant}${hashOf(bytes)}`;

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('base64url').slice(0, 12);

/** Returns the short name of the structural type, followed by the declared types (rule 9.1). */
function itemType({ kind, types = [] }: ListedMember): string | readonly string[] {
  const structural = kind === 'container' ? 'Container' : 'DataResource';
  return types.length === 0 ? structural : [structural, ...types];
}

/** Returns the entry of a resource in a listing or search result. */
export function item(record: ListedMember): object {
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
  ldp: ldp.namespace,
  stat: stat.namespace,
  dcterms: dcterms.namespace,
  schema: schema.namespace,
  xsd: xsd.namespace,
};

function containerQuads(container: string, total: number, modified: number): Quad[] {
  const subject = node(container);
  return [
    ...[lws.Container, ldp.Container, ldp.BasicContainer].map((type) =>
      factory.quad(subject, node(rdf.type), node(type)),
    ),
    factory.quad(subject, node(lws.totalItems), literal(total, 'integer')),
    factory.quad(subject, node(dcterms.modified), literal(new Date(modified).toISOString(), 'dateTime')),
  ];
}

/** Returns types that clients of the Solid protocol expect. */
const ldpTypesOf = ({ kind }: ListedMember): readonly string[] =>
  kind === 'container' ? [ldp.Resource, ldp.Container, ldp.BasicContainer] : [ldp.Resource];

function memberQuads(container: string, record: ListedMember): Quad[] {
  const subject = node(record.iri);
  const quads = [
    factory.quad(node(container), node(lws.items), subject),
    factory.quad(node(container), node(ldp.contains), subject),
    ...[structuralType(record.kind), ...ldpTypesOf(record), ...(record.types ?? [])].map((type) =>
      factory.quad(subject, node(rdf.type), node(isAbsoluteIri(type) ? type : lws.namespace + type)),
    ),
    factory.quad(subject, node(dcterms.modified), literal(new Date(record.modified).toISOString(), 'dateTime')),
  ];
  if (record.kind === 'container') return quads;
  return [
    ...quads,
    factory.quad(subject, node(dcterms.format), factory.literal(record.mediaType)),
    factory.quad(subject, node(schema.size), literal(record.size, 'long')),
    factory.quad(subject, node(stat.size), literal(record.size, 'integer')),
  ];
}
