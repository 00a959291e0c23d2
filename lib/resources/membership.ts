/** Lists containers: the members that the caller can see, as a page or complete (rule 9.3). */
import { createHash } from 'node:crypto';
import type { Access } from '../authorization/principal.js';
import type { RdfFormat } from '../rdf/formats.js';
import type { ResourceRecord } from '../storage/keys/records.js';
import { slices } from '../tools/collections.js';
import { yieldInLine, yieldToEventLoop } from '../tools/event-loop.js';
import { linksetQuads } from './linkset.js';
import { jsonDocument, type Listing, type Membership, rdfDocument } from './listing-documents.js';
import { clientLinks } from './metadata.js';
import { hasDescription } from './methods.js';
import { latest, seenItem } from './seen-state.js';
import type { Storage } from './storage.js';
import { allMembers, fewMembers, type MemberRequest, type Paging, visibleMembers } from './visible-members.js';

/**
 * Returns the listing as JSON, in pages if the membership exceeds one page (rules 9.1, 9.4).
 * @param page from `?page=N`, absent for the URL without page number, whose tag represents the container
 * @throws LwsError `page-not-found`
 */
export async function jsonListing(
  storage: Storage,
  access: Access,
  container: ResourceRecord,
  page: number | undefined,
): Promise<Listing> {
  const { pageSize } = storage.limits;
  const everything = await seesAll(storage, access, container);
  const membershipOf = () => {
    const from = ((page ?? 1) - 1) * pageSize;
    return collect({ storage, access, container }, everything, { from, count: pageSize });
  };
  const documentOf = async (membership: Membership): Promise<Listing> => {
    if (!everything && membership.members.length > fewMembers) await yieldInLine();
    return jsonDocument(container, membership, { page, pageSize });
  };
  const variant = page === undefined ? 'json' : `json ${page}`;
  if (!everything) return viewed({ storage, container, variant }, await membershipOf(), documentOf);
  const build = async (): Promise<Listing> => documentOf(await membershipOf());
  return (await storage.representations.obtain(container.iri, variant, container.revision, build)) as Listing;
}

type ViewRequest = Pick<MemberRequest, 'storage' | 'container'> & { readonly variant: string };

/**
 * Returns the listing for a caller who sees a part of the members. The listing is cached by its content, not by the container's
 * revision: otherwise a change to a hidden member would be measurable as a slower response.
 */
async function viewed(
  { storage: { representations }, container, variant }: ViewRequest,
  membership: Membership,
  documentOf: (membership: Membership) => Promise<Listing>,
): Promise<Listing> {
  if (membership.members.length <= fewMembers) return documentOf(membership);
  const { members, description = [], ...facts } = membership;
  const hash = createHash('sha256').update(JSON.stringify([container.iri, facts, description]));
  for (const { iri, kind, types = [], mediaType, size, modified } of members)
    hash.update(`${iri}\n${kind}\n${mediaType}\n${size} ${modified}\n${types.join('\n')}\n\n`);
  const revision = hash.digest('base64url');
  const build = async (): Promise<Listing> => ({ ...(await documentOf(membership)), revision });
  const found = await representations.obtain(`view ${revision}`, variant, revision, build);
  // Copy the object: response fields are cached per object, and the fields of a container can change.
  return { ...(found as Listing) };
}

const all: Paging = { from: 0, count: Number.POSITIVE_INFINITY };

/** Returns the complete listing in an RDF serialization, which is never paginated (rule 9.2). */
export async function rdfListing(
  storage: Storage,
  access: Access,
  container: ResourceRecord,
  format: RdfFormat,
): Promise<Listing> {
  const everything = await seesAll(storage, access, container);
  const { store, documents } = storage;
  const membershipOf = async (): Promise<Membership> => ({
    ...(await collect({ storage, access, container }, everything, all)),
    description: hasDescription(container.iri, storage)
      ? linksetQuads(clientLinks(store, container.iri), container.iri)
      : [],
  });
  const pause = everything ? yieldToEventLoop : yieldInLine;
  const documentOf = (membership: Membership) => rdfDocument(container, membership, { documents, format, pause });
  if (!everything) return viewed({ storage, container, variant: format }, await membershipOf(), documentOf);
  const build = async (): Promise<Listing> => documentOf(await membershipOf());
  return (await storage.representations.obtain(container.iri, format, container.revision, build)) as Listing;
}

/**
 * Returns the members that the caller can read, in blocks. If the caller sees all members, they are read from the store while
 * the blocks are consumed.
 * @throws LwsError `too-busy`
 */
export async function seenMembers(
  storage: Storage,
  access: Access,
  container: ResourceRecord,
): Promise<AsyncIterable<readonly ResourceRecord[]>> {
  if (await seesAll(storage, access, container)) return storage.store.members(container.iri);
  const { members } = await visibleMembers({ storage, access, container }, storage.store, all);
  return seenItems(storage, access, members);
}

/** Count of members that are prepared between two pauses for other requests. */
const membersAtATime = 128;

async function* seenItems(storage: Storage, access: Access, members: readonly ResourceRecord[]) {
  for (const some of slices(members, membersAtATime)) {
    if (members.length > fewMembers) await yieldInLine();
    yield await Promise.all(some.map((record) => seenItem(storage, access, record)));
  }
}

const seesAll = ({ authorizer, store }: Storage, access: Access, { iri }: ResourceRecord): boolean | Promise<boolean> =>
  authorizer.readsAllMembers(store, access, iri);

/** Returns the members of the page, and facts about all members that the caller sees. */
async function collect(request: MemberRequest, everything: boolean, wanted: Paging): Promise<Membership> {
  const { storage, access, container } = request;
  if (everything) {
    const members = await allMembers(request, wanted);
    return { members, total: container.members ?? 0, state: container.revision, ...latest(container, members) };
  }
  const { members, ...view } = await visibleMembers(request, storage.store, wanted);
  const seen: ResourceRecord[] = [];
  for await (const block of seenItems(storage, access, members)) seen.push(...block);
  // The container's date would reveal changes to hidden members. The latest date of visible members could decrease.
  return { members: seen, ...view, modified: container.created, isPartial: true };
}
