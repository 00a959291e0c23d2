/** Reads the type index, and runs type searches and text searches, page by page. */
import { json, linkTarget, lwsNamespace, Refusal, select, serviceEndpoint, succeed } from '../storage/api.js';
import { type Listed, type ListedMember, memberOf } from '../storage/container.js';

export type Joined = 'all' | 'any';

/** Filter of a search. Without types and words, it matches all readable resources. */
export interface Search {
  readonly types: readonly string[];
  readonly joined: Joined;
  /** Words to find in names and texts. With words, at most one type is allowed. */
  readonly words: string;
}

/** Excerpt of a text, with the positions of matching words. */
export interface Snippet {
  readonly text: string;
  readonly matches: readonly (readonly [start: number, end: number])[];
  /** IRI of the subject of a matching literal. */
  readonly subject?: string;
}

export interface SearchHit extends ListedMember {
  readonly snippet?: Snippet | undefined;
}

export interface Hits {
  readonly hits: readonly SearchHit[];
  readonly total: number;
  readonly pages: number;
}

interface Found {
  readonly totalItems: number;
  readonly items: readonly (Listed & { readonly snippet?: Snippet })[];
}

/** Maximum count of types that are read. The user can enter the IRI of any other type. */
const maxFacets = 2000;

/** True for a type that the server assigns. Every resource has one. */
export const isStructural = (type: string): boolean => type.startsWith(lwsNamespace);

/** Returns classes of readable resources, or `undefined` if this storage has no type index. */
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

/** Returns the count of readable resources with a type and words. @throws Refusal with the server's message */
export const countHits = async (type: string, words: string, signal: AbortSignal): Promise<number> =>
  (await searchStorage({ types: [type], joined: 'all', words }, 1, signal))?.total ?? 0;

/** Returns a page of the hits of a search. @throws Refusal with the server's message */
export async function searchStorage(wanted: Search, page: number, signal: AbortSignal): Promise<Hits | undefined> {
  if (wanted.words !== '') return searchWords(wanted, page, signal);
  const endpoint = await serviceEndpoint('TypeSearchService');
  if (!endpoint) return undefined;
  const { found, last } = await ask(`${endpoint}?page=${page}`, wanted, signal);
  const hits = found.items.map((each) => memberOf(each, endpoint));
  // Only the first page shows the page size. A filter that is too long for a URL has no link to the last page.
  const size = (page === 1 || last ? found : (await ask(`${endpoint}?page=1`, wanted, signal)).found).items.length;
  return { hits, total: found.totalItems, pages: last ?? Math.ceil(found.totalItems / Math.max(1, size)) };
}

/**
 * Returns the hits for words. A single word also matches longer words: "river" finds "warming-rivers.md". File names have no
 * language, so the server does not find their word forms.
 */
async function searchWords(wanted: Search, page: number, signal: AbortSignal): Promise<Hits | undefined> {
  if (!/^[\p{L}\p{N}]{3,}$/u.test(wanted.words)) return searchText(wanted, page, signal);
  const [first, longer] = await Promise.all([
    searchText(wanted, 1, signal),
    searchText({ ...wanted, words: `${wanted.words}*` }, 1, signal).catch((error: unknown) => {
      // The server rejects a prefix that is too short, or that too many words begin with.
      if (error instanceof Refusal && error.status === 400) return undefined;
      throw error;
    }),
  ]);
  if (!first || !longer) return page === 1 ? first : searchText(wanted, page, signal);
  if (first.pages <= 1 && longer.pages <= 1)
    return page === 1 ? joined(first, longer) : searchText(wanted, page, signal);
  // The pages of two results cannot be joined, so the larger result is shown.
  const isLonger = longer.total > first.total;
  if (page === 1) return isLonger ? longer : first;
  return searchText(isLonger ? { ...wanted, words: `${wanted.words}*` } : wanted, page, signal);
}

/** Returns the hits of a word, then the other hits of its prefix. The excerpts of the prefix search mark all word forms. */
function joined(first: Hits, longer: Hits): Hits {
  const marked = new Map(longer.hits.map((hit) => [hit.iri, hit]));
  const own = new Set(first.hits.map(({ iri }) => iri));
  const hits = [
    ...first.hits.map((hit) => marked.get(hit.iri) ?? hit),
    ...longer.hits.filter(({ iri }) => !own.has(iri)),
  ];
  return { hits, total: hits.length, pages: 1 };
}

async function searchText({ words, types }: Search, page: number, signal: AbortSignal): Promise<Hits | undefined> {
  const endpoint = await serviceEndpoint('TextSearchService');
  if (!endpoint) return undefined;
  const parameters = [['q', words], ['page', String(page)], ...types.slice(0, 1).map((type) => ['type', type])];
  const url = `${endpoint}?${new URLSearchParams(parameters)}`;
  const response = await succeed('GET', url, { headers: { Accept: 'application/lws+json' }, signal });
  const { found, last = 1 } = await pageOf(response, url);
  const hits = found.items.map((each) => ({ ...memberOf(each, endpoint), snippet: each.snippet }));
  return { hits, total: found.totalItems, pages: last };
}

async function ask(url: string, { types, joined }: Search, signal: AbortSignal) {
  // The types are in the body, since an IRI may contain commas, and many types do not fit a URL.
  const response = await succeed('QUERY', url, {
    headers: { 'Content-Type': 'application/lws-query+json', Accept: 'application/lws+json' },
    body: JSON.stringify(types.length === 0 ? {} : { type: joined === 'any' ? [types] : types }),
    signal,
  });
  return pageOf(response, url);
}

async function pageOf(response: Response, url: string) {
  const last = linkTarget(response, 'last', url);
  const lastPage = last === undefined ? undefined : Number(new URL(last).searchParams.get('page') ?? 1);
  return { found: (await response.json()) as Found, last: lastPage };
}

/** Maximum length of all IRIs in a query, in characters. The endpoint accepts 64 KiB. */
const maxCharacters = 40_000;

/**
 * Returns the types of resources and of their fragments, by IRI of the resource. Each type has one subject with this type.
 * @throws Refusal with the server's message
 */
export async function readTypes(
  iris: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const types = new Map<string, Map<string, string>>();
  for (const some of batches(iris))
    for (const { r, type, first } of (await select(queryFor(some), signal)) ?? []) {
      const things = types.get(r!.value as string) ?? new Map<string, string>();
      types.set(r!.value as string, things.set(type!.value as string, first!.value as string));
    }
  return types;
}

const queryFor = (iris: readonly string[]): string => `SELECT ?r ?type (MIN(?thing) AS ?first) {
  VALUES ?r { ${iris.map((iri) => `<${iri}>`).join(' ')} }
  GRAPH ?r { ?thing a ?type }
  FILTER(ISIRI(?type) && (?thing = ?r || STRSTARTS(STR(?thing), CONCAT(STR(?r), "#"))))
} GROUP BY ?r ?type`;

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
