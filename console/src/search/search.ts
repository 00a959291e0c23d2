/** The type index and the type search, page by page. */
import { json, linkTarget, select, serviceEndpoint, succeed } from '../storage/api.js';
import { type Listed, type Member, memberOf } from '../storage/container.js';

export type Joined = 'all' | 'any';

/** What is looked for; no types: everything that the caller may read. */
export interface Wanted {
  readonly types: readonly string[];
  readonly joined: Joined;
}

export interface Hits {
  readonly hits: readonly Member[];
  readonly total: number;
  readonly pages: number;
}

interface Found {
  readonly totalItems: number;
  readonly items: readonly Listed[];
}

/** Facets beyond this are reached by their IRI. */
const maxFacets = 2000;

const lws = 'https://www.w3.org/ns/lws#';
/** What the server itself says a resource is; every resource has one of them. */
export const isStructural = (type: string): boolean => type.startsWith(lws);

/** Classes of what the caller may read; `undefined` when this storage keeps no type index. */
export async function readFacets(
  most = maxFacets,
): Promise<{ readonly types: readonly string[]; readonly total: number } | undefined> {
  const endpoint = await serviceEndpoint('TypeIndexService');
  if (!endpoint) return undefined;
  const types: string[] = [];
  let total = 0;
  for (let page = 1; ; page++) {
    const found = await json<Found>(`${endpoint}?page=${page}`, { headers: { Accept: 'application/lws+json' } });
    total = found.totalItems;
    types.push(...found.items.map(({ id }) => id));
    if (found.items.length === 0 || types.length >= Math.min(total, most)) break;
  }
  return { types, total };
}

/** @throws Refusal in the server's words */
export async function search(wanted: Wanted, page: number, signal: AbortSignal): Promise<Hits | undefined> {
  const endpoint = await serviceEndpoint('TypeSearchService');
  if (!endpoint) return undefined;
  const { found, last } = await ask(`${endpoint}?page=${page}`, wanted, signal);
  const hits = found.items.map((each) => memberOf(each, endpoint));
  // No last page is named for a filter that does not fit an address: the first one tells how long a page is.
  const size = (page === 1 || last ? found : (await ask(`${endpoint}?page=1`, wanted, signal)).found).items.length;
  return { hits, total: found.totalItems, pages: last ?? Math.ceil(found.totalItems / Math.max(1, size)) };
}

async function ask(url: string, { types, joined }: Wanted, signal: AbortSignal) {
  // A body, since a type may have a comma in it, and many do not fit an address.
  const response = await succeed('QUERY', url, {
    headers: { 'Content-Type': 'application/lws-query+json', Accept: 'application/lws+json' },
    body: JSON.stringify(types.length === 0 ? {} : { type: joined === 'any' ? [types] : types }),
    signal,
  });
  const last = linkTarget(response, 'last', url);
  const lastPage = last === undefined ? undefined : Number(new URL(last).searchParams.get('page') ?? 1);
  return { found: (await response.json()) as Found, last: lastPage };
}

/** Characters of IRIs in one query; the service takes 64 KiB. */
const maxCharacters = 40_000;

/** The types of resources and of what their fragments name, by IRI of the resource. @throws Refusal in the server's words */
export async function readTypes(
  iris: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const types = new Map<string, string[]>();
  for (const some of batches(iris))
    for (const { r, type } of (await select(queryFor(some), signal)) ?? [])
      types.set(r!.value, [...(types.get(r!.value) ?? []), type!.value]);
  return types;
}

const queryFor = (iris: readonly string[]): string => `SELECT DISTINCT ?r ?type {
  VALUES ?r { ${iris.map((iri) => `<${iri}>`).join(' ')} }
  GRAPH ?r { ?thing a ?type }
  FILTER(ISIRI(?type) && (?thing = ?r || STRSTARTS(STR(?thing), CONCAT(STR(?r), "#"))))
}`;

function batches(iris: readonly string[]): string[][] {
  const all: string[][] = [];
  let length = maxCharacters;
  for (const iri of iris) {
    if (length + iri.length > maxCharacters) {
      all.push([]);
      length = 0;
    }
    all.at(-1)!.push(iri);
    length += iri.length + 3;
  }
  return all;
}
