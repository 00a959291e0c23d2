/** Lists containers: the members that the caller may see, of a page or all (rule 9.3). */

import type { LRUCache } from 'lru-cache';
import type { Access } from '../authorization/principal.js';
import { lruCache } from '../caches.js';
import type { RdfFormat } from '../rdf/formats.js';
import type { ResourceRecord } from '../storage/keys/records.js';
import { linksetQuads } from './linkset.js';
import { jsonDocument, type Listing, type Membership, rdfDocument } from './listing-documents.js';
import { clientLinks } from './metadata.js';
import { hasDescription } from './methods.js';
import { latest, seenItem, viewState } from './seen-state.js';
import type { Storage } from './storage.js';

/** Page starts found by earlier scans of the same state, so that reading a late page needs no scan of the earlier ones. */
interface Known {
  readonly revision: string;
  /** First members of pages, by the number of preceding members. */
  readonly starts: Map<number, string>;
}

const maxContainers = 200;
const known = new WeakMap<Storage, LRUCache<string, Known>>();

export interface PageStarts {
  /** Returns the nearest known start at or before a position. */
  before(position: number): { readonly position: number; readonly iri: string | undefined };
  note(position: number, iri: string): void;
}

/** Returns the cached facts of a container in its current state. */
export function pageStarts(storage: Storage, { iri, revision, members = 0 }: ResourceRecord): PageStarts {
  const containers = known.get(storage) ?? lruCache<Known>(maxContainers);
  known.set(storage, containers);
  const found = containers.get(iri);
  const { starts } = found?.revision === revision ? found : { starts: new Map<number, string>() };
  if (found?.starts !== starts) containers.set(iri, { revision, starts });
  const { pageSize } = storage.limits;
  return {
    before(position) {
      // The requested page may be far beyond the last one.
      const most = Math.min(position, members);
      for (let at = most - (most % pageSize); at > 0; at -= pageSize) {
        const start = starts.get(at);
        if (start !== undefined) return { position: at, iri: start };
      }
      return { position: 0, iri: undefined };
    },
    note(position, member) {
      if (position % pageSize === 0) starts.set(position, member);
    },
  };
}

/**
 * Returns the listing as JSON, in pages if the membership exceeds one (rules 9.1, 9.4).
 * @param page from `?page=N`, absent for the URL without page number, whose tag represents the container
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
    const membership = await collect(storage, access, container, everything, from, pageSize);
    return jsonDocument(container, membership, { page, pageSize });
  };
  if (!everything) return build();
  const variant = page === undefined ? 'json' : `json ${page}`;
  return (await storage.representations.obtain(container.iri, variant, container.revision, build)) as Listing;
}

/** Returns the complete listing in an RDF serialization, which is never paginated (rule 9.2). */
export async function rdfListing(
  storage: Storage,
  access: Access,
  container: ResourceRecord,
  format: RdfFormat,
): Promise<Listing> {
  const everything = await seesAll(storage, access, container);
  const build = async (): Promise<Listing> => {
    const whole = await collect(storage, access, container, everything, 0, Number.POSITIVE_INFINITY);
    const { store, documents } = storage;
    const description = hasDescription(container.iri, storage)
      ? linksetQuads(clientLinks(store, container.iri), container.iri)
      : [];
    return rdfDocument(container, { ...whole, description }, { documents, format });
  };
  if (!everything) return build();
  return (await storage.representations.obtain(container.iri, format, container.revision, build)) as Listing;
}

const seesAll = ({ authorizer, store }: Storage, access: Access, { iri }: ResourceRecord): boolean | Promise<boolean> =>
  authorizer.readsAllMembers(store, access, iri);

/** Returns the members between two positions of the caller's view, and facts about all members. */
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
    return { members, total: container.members ?? 0, state: container.revision, ...latest(container, members) };
  // The container's own date would reveal changes to hidden members, and dates of visible members can go back when one is hidden.
  return { members, total: visible.length, state: viewState(visible), modified: container.created, isPartial: true };
}
