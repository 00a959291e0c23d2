/** Endpoints of the text search and of labels (rules 13.8 to 13.11). */
import type { Platform } from '../../../lib/component/contract.js';
import type { Reply } from '../../../lib/http/reply.js';
import { pageNumber, pageReply } from '../../../lib/http/result-pages.js';
import { type Route, type RouteRequest, route, urlOfRoute } from '../../../lib/http/route.js';
import { lwsContext } from '../../../lib/rdf/contexts.js';
import { isAbsoluteIri } from '../../../lib/rdf/iri.js';
import { lws } from '../../../lib/rdf/vocabulary.js';
import { item } from '../../../lib/resources/listing-documents.js';
import { seenItem } from '../../../lib/resources/seen-state.js';
import type { StoreSnapshot } from '../../../lib/storage/graphs/snapshot.js';
import { completeIndex, indexStateKey } from '../../../lib/storage/level/owned-entries.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { acceptedLanguages } from '../../../lib/tools/fields/accept-language.js';
import { formatLink } from '../../../lib/tools/fields/link.js';
import type { BackgroundRebuild } from '../postings/background-rebuild.js';
import type { PostingLists } from '../postings/posting-lists.js';
import { labelsOf, labelsWith } from './labels.js';
import { assertComplete } from './rebuild-job.js';
import { type Found, search, type TextSearch } from './search.js';
import { snippetOf } from './snippets.js';
import { parseTerms } from './terms.js';

const searchPath = '{prefix}/text-search';
const labelsPath = '{prefix}/labels';

export const textSearchEndpoint = (platform: Platform): string => urlOfRoute(platform, searchPath);
export const labelsEndpoint = (platform: Platform): string => urlOfRoute(platform, labelsPath);

/** Context of the endpoints. */
export interface TextEndpoints {
  readonly platform: Platform;
  readonly texts: PostingLists;
  readonly documents: PostingLists;
  readonly pageSize: number;
  readonly index: BackgroundRebuild;
}

export const textRoutes = (endpoints: TextEndpoints): readonly Route[] => [
  route('filtered', `GET HEAD ${searchPath}`, (request) => answerSearch(endpoints, request)),
  route('filtered', `GET HEAD ${labelsPath}`, (request) => answerLabels(endpoints, request)),
  ...[searchPath, labelsPath].map((path) =>
    route('filtered', `OPTIONS ${path}`, () => ({ status: 204, fields: { Allow: 'GET, HEAD, OPTIONS' } })),
  ),
];

/** Maximum results that can be reached by paging. */
const deepest = 10_000;

const bad = (detail: string): LwsError => new LwsError('bad-request', detail);

/** Returns the parameters of a request, each at most once. @throws LwsError `bad-request` */
function parametersOf(query: URLSearchParams, known: readonly string[]): Readonly<Record<string, string>> {
  const found = new Map<string, string>();
  for (const [name, value] of query) {
    if (!known.includes(name))
      throw bad(`The parameter "${name.slice(0, 100)}" is not known. Parameters: ${known.join(', ')}.`);
    if (found.has(name)) throw bad(`The parameter "${name}" is repeated.`);
    found.set(name, value);
  }
  return Object.fromEntries(found);
}

/** Returns a language tag in lower case. @throws LwsError `bad-request` */
function languageOf(tag: string): string {
  if (!/^[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8}){0,8}$/.test(tag))
    throw bad(`"${tag.slice(0, 100)}" is not a language tag.`);
  return tag.toLowerCase();
}

/** Parses the parameters of a search. @throws LwsError `bad-request` */
function searchOf({ rootIri, store }: Platform, query: URLSearchParams): TextSearch & { readonly query: string } {
  const paged = new URLSearchParams([...query].filter(([name]) => name !== 'page'));
  const { q, lang, type, in: within } = parametersOf(paged, ['q', 'lang', 'type', 'in']);
  if (q === undefined) throw bad('The parameter "q" is missing: the words to search for.');
  if (type !== undefined && !isAbsoluteIri(type)) throw bad('The parameter "type" must be an absolute IRI.');
  if (type !== undefined && store.entry(indexStateKey) !== completeIndex)
    throw bad('The parameter "type" requires the type index (lws.search-index.enabled).');
  if (within !== undefined && !(within.startsWith(rootIri) && within.endsWith('/') && isAbsoluteIri(within)))
    throw bad(`The parameter "in" must be the IRI of a container of ${rootIri}.`);
  const language = lang === undefined ? {} : { lang: languageOf(lang) };
  return { terms: parseTerms(q), ...language, type, within, query: String(paged) };
}

/** Handles a search request. @throws LwsError `bad-request`, `page-not-found` */
export async function answerSearch(
  endpoints: TextEndpoints,
  request: Pick<RouteRequest, 'req' | 'access' | 'query'>,
): Promise<Reply> {
  const { platform, texts, documents, pageSize } = endpoints;
  const { access } = request;
  const asked = searchOf(platform, request.query);
  assertComplete(endpoints.index);
  const page = pageNumber(request.query);
  if (page > Math.ceil(deepest / pageSize))
    throw new LwsError('page-not-found', `Only the first ${deepest} results have pages.`);
  const index = { storage: platform, texts, documents, access };
  const wanted = { from: (page - 1) * pageSize, count: pageSize };
  const document = await search(index, { ...asked, ...wanted }, async ({ items, total }, snapshot) => ({
    '@context': lwsContext,
    type: 'ContainerPage',
    totalItems: total,
    items: await itemsOf(endpoints, { access, terms: asked.terms, items, snapshot }),
  }));
  const url = `${textSearchEndpoint(platform)}?${asked.query}`;
  const last = Math.ceil(deepest / pageSize);
  return pageReply(request, document, { storage: platform.rootIri, url, page, pageSize, deepest: last });
}

interface Page extends Pick<RouteRequest, 'access'>, Pick<TextSearch, 'terms'> {
  readonly items: readonly Found[];
  readonly snapshot: StoreSnapshot;
}

async function itemsOf({ platform }: TextEndpoints, { access, terms, items, snapshot }: Page): Promise<object[]> {
  const { store } = platform;
  const records = await snapshot.records(items.map(({ iri }) => iri));
  const found: object[] = [];
  for (const [at, { score, place }] of items.entries()) {
    const record = records[at];
    if (!record) continue;
    const snippet = await snippetOf({ store, snapshot }, record, { place, terms });
    const seen = item(await seenItem(platform, access, record));
    found.push({ ...seen, score: Number(score.toPrecision(6)), ...(snippet && { snippet }) });
  }
  return found;
}

/** Maximum IRIs in one request for labels. */
const maxIris = 200;

async function answerLabels(endpoints: TextEndpoints, request: RouteRequest): Promise<Reply> {
  const { platform, texts, documents } = endpoints;
  const { query, req, access } = request;
  const index = { storage: platform, texts, documents, access };
  const iris = [...new Set(query.getAll('iri'))];
  const others = new URLSearchParams([...query].filter(([name]) => name !== 'iri'));
  const { prefix, lang } = parametersOf(others, ['prefix', 'lang']);
  const language = lang === undefined ? undefined : languageOf(lang);
  if ((prefix === undefined) === (iris.length === 0)) throw bad('Send either "iri", once or repeated, or "prefix".');
  assertComplete(endpoints.index);
  if (prefix !== undefined) {
    if (prefix.trim() === '' || prefix.length > 500) throw bad('The parameter "prefix" must have 1 to 500 characters.');
    return labelsReply(platform, await labelsWith(index, prefix, language));
  }
  if (iris.length > maxIris) throw bad(`The request names ${iris.length} IRIs. The maximum is ${maxIris}.`);
  const wrong = iris.find((iri) => !isAbsoluteIri(iri));
  if (wrong !== undefined) throw bad(`"${wrong.slice(0, 100)}" is not an absolute IRI.`);
  const languages = language === undefined ? acceptedLanguages(req.headers['accept-language'] ?? '') : [language];
  const found = await labelsOf(index, iris, languages);
  return labelsReply(
    platform,
    found.filter(({ labels }) => labels.length > 0),
  );
}

const labelsReply = ({ rootIri }: Platform, items: readonly object[]): Reply => ({
  status: 200,
  fields: {
    'Content-Type': 'application/json',
    'Cache-Control': 'private, no-store',
    Vary: 'Accept-Language, Authorization',
    Link: formatLink(rootIri, lws.storage),
    'X-Content-Type-Options': 'nosniff',
  },
  body: Buffer.from(JSON.stringify({ items })),
  isCodable: true,
});
