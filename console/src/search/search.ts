/** The type index and the type search, page by page. */
import { json, serviceEndpoint, succeed } from '../storage/api.js';

export type Joined = 'all' | 'any';

/** What is looked for; no types: everything that the caller may read. */
export interface Wanted {
  readonly types: readonly string[];
  readonly joined: Joined;
}

export interface Hit {
  readonly iri: string;
  readonly types: readonly string[];
  readonly mediaType: string | undefined;
  readonly modified: string | undefined;
}

export interface Hits {
  readonly hits: readonly Hit[];
  readonly total: number;
  readonly pages: number;
}

interface Found {
  readonly totalItems: number;
  readonly items: readonly {
    readonly id: string;
    readonly type?: string | readonly string[];
    readonly format?: string;
    readonly mediaType?: string;
    readonly modified?: string;
  }[];
}

/** Facets beyond this are reached by their IRI. */
const maxFacets = 2000;

const lws = 'https://www.w3.org/ns/lws#';
/** What the server itself says a resource is; every resource has one of them. */
export const isStructural = (type: string): boolean => type.startsWith(lws);

/** Classes of what the caller may read; `undefined` when this storage keeps no type index. */
export async function readFacets(): Promise<{ readonly types: readonly string[]; readonly total: number } | undefined> {
  const endpoint = await serviceEndpoint('TypeIndexService');
  if (!endpoint) return undefined;
  const types: string[] = [];
  let total = 0;
  for (let page = 1; ; page++) {
    const found = await json<Found>(`${endpoint}?page=${page}`, { headers: { Accept: 'application/lws+json' } });
    total = found.totalItems;
    types.push(...found.items.map(({ id }) => id));
    if (found.items.length === 0 || types.length >= Math.min(total, maxFacets)) break;
  }
  return { types, total };
}

/** @throws Refusal in the server's words */
export async function search(wanted: Wanted, page: number, signal: AbortSignal): Promise<Hits | undefined> {
  const endpoint = await serviceEndpoint('TypeSearchService');
  if (!endpoint) return undefined;
  const { found, last } = await ask(`${endpoint}?page=${page}`, wanted, signal);
  const hits = found.items.map(({ id, type = [], format, mediaType, modified }) => ({
    iri: new URL(id, endpoint).href,
    types: [type].flat(),
    mediaType: mediaType ?? format,
    modified,
  }));
  // No last page is named for a filter that does not fit an address: the first one tells how long a page is.
  const size = (page === 1 || last ? found : (await ask(`${endpoint}?page=1`, wanted, signal)).found).items.length;
  return { hits, total: found.totalItems, pages: last ?? Math.ceil(found.totalItems / Math.max(1, size)) };
}

async function ask(
  url: string,
  { types, joined }: Wanted,
  signal: AbortSignal,
): Promise<{ found: Found; last: number | undefined }> {
  // A body, since a type may have a comma in it, and many do not fit an address.
  const response = await succeed('QUERY', url, {
    headers: { 'Content-Type': 'application/lws-query+json', Accept: 'application/lws+json' },
    body: JSON.stringify(types.length === 0 ? {} : { type: joined === 'any' ? [types] : types }),
    signal,
  });
  const last = /[?&]page=(\d+)[^>]*>;\s*rel="?last"?/.exec(response.headers.get('Link') ?? '')?.[1];
  return { found: (await response.json()) as Found, last: last === undefined ? undefined : Number(last) };
}
