/**
 * Groups of agents (`vcard:hasMember`) in documents of this storage or in remote documents. Remote documents are fetched with
 * SSRF protection and cached (rule 3.6). A group that cannot be fetched has no members.
 */

import type { Quad } from '@rdfjs/types';
import type { Documents } from '../documents/documents.js';
import { isRdfFormat } from '../rdf/formats.js';
import { vcard } from '../rdf/vocabulary.js';
import { decodeGraph } from '../storage/keys/quad-decoding.js';
import type { Store } from '../storage/transactions/store.js';
import { lruCache } from '../tools/caches.js';
import { parseMediaType } from '../tools/fields/media-type.js';
import type { Log } from '../tools/log.js';
import type { GuardedFetch } from '../tools/outbound/guarded-fetch.js';

export interface GroupOptions {
  readonly storage: string;
  readonly store: Store;
  readonly documents: Documents;
  readonly fetch: GuardedFetch;
  /** Cache lifetime of remote documents and of failed fetches, in milliseconds. */
  readonly keptMs: number;
  readonly failureKeptMs: number;
  readonly log: Log;
}

export interface Groups {
  /** Returns the members of a group. @param mayFetch false to use only cached members of a remote group */
  members(group: string, mayFetch: boolean): Promise<ReadonlySet<string>>;
  /** True if `members` may have to fetch the group. */
  isRemote(group: string): boolean;
}

const nobody: ReadonlySet<string> = new Set();
const accept =
  'text/turtle, application/ld+json;q=0.9, application/n-triples;q=0.8, application/trig;q=0.5, application/rdf+xml;q=0.5';
const request = { maxBytes: 2 << 20, timeoutMs: 10_000, maxRedirects: 5, accept } as const;

export function createGroups({ storage, store, documents, fetch, keptMs, failureKeptMs, log }: GroupOptions): Groups {
  const remote = lruCache<Promise<ReadonlyMap<string, ReadonlySet<string>>>>(1_000, keptMs);
  // Last fetched members of remote groups. Transactions use them, since they must not wait for a fetch.
  const last = lruCache<ReadonlyMap<string, ReadonlySet<string>>>(1_000, keptMs + 60_000);
  const local = lruCache<{ revision: string; groups: ReadonlyMap<string, ReadonlySet<string>> }>(500);

  const localGroups = async (document: string): Promise<ReadonlyMap<string, ReadonlySet<string>>> => {
    const revision = store.record(document)?.revision;
    const known = local.get(document);
    if (known && known.revision === revision) return known.groups;
    const found = await store.graph(document);
    if (found?.record.kind !== 'rdf') return new Map();
    const groups = groupsOf(decodeGraph(found.keys));
    local.set(document, { revision: found.record.revision, groups });
    return groups;
  };

  const fetchGroups = async (document: string): Promise<ReadonlyMap<string, ReadonlySet<string>>> => {
    const { status, headers, body } = await fetch(document, request);
    const mediaType = parseMediaType(headers['content-type'] ?? '')?.essence ?? '';
    if (status !== 200 || !isRdfFormat(mediaType))
      throw new Error(`${document} answered ${status} with ${mediaType || 'no media type'}`);
    const groups = groupsOf(decodeGraph(await documents.parseForeign(body, mediaType, document)));
    last.set(document, groups);
    return groups;
  };

  const remoteGroups = (document: string): Promise<ReadonlyMap<string, ReadonlySet<string>>> => {
    const known = remote.get(document);
    if (known) return known;
    const fetched = fetchGroups(document).catch((error: unknown) => {
      log.info({ group: document, reason: (error as Error).message }, 'a group cannot be fetched and has no members');
      last.delete(document);
      remote.set(document, Promise.resolve(new Map()), { ttl: failureKeptMs });
      return new Map<string, ReadonlySet<string>>();
    });
    remote.set(document, fetched);
    return fetched;
  };

  const isRemote = (group: string): boolean => !group.startsWith(storage);
  return {
    isRemote: (group) => isRemote(group) && !remote.has(documentOf(group)),
    async members(group, mayFetch) {
      const document = documentOf(group);
      if (!isRemote(group)) return (await localGroups(document)).get(group) ?? nobody;
      const groups = mayFetch ? await remoteGroups(document) : last.get(document);
      return groups?.get(group) ?? nobody;
    },
  };
}

const documentOf = (group: string): string => group.replace(/#.*$/s, '');

function groupsOf(quads: readonly Quad[]): ReadonlyMap<string, ReadonlySet<string>> {
  const groups = new Map<string, Set<string>>();
  for (const { subject, predicate, object } of quads) {
    if (predicate.value !== vcard.hasMember || object.termType !== 'NamedNode') continue;
    const members = groups.get(subject.value) ?? new Set();
    members.add(object.value);
    groups.set(subject.value, members);
  }
  return groups;
}
