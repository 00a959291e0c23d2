/** Endpoints of the type index and the type search (rules 13.1, 13.3). */

import type { Platform } from '../../lib/component/contract.js';
import { LwsError } from '../../lib/errors.js';
import { parseAccept, qualityOf } from '../../lib/fields/accept.js';
import { formatLink } from '../../lib/fields/link.js';
import { chooseListing, lwsJson } from '../../lib/http/negotiate.js';
import { pageLinks } from '../../lib/http/paging.js';
import type { Reply } from '../../lib/http/reply.js';
import { type Route, type RouteRequest, route } from '../../lib/http/route.js';
import { decodeUtf8, parseJson } from '../../lib/json/json.js';
import { lwsContext } from '../../lib/rdf/contexts.js';
import { lws } from '../../lib/rdf/vocabulary.js';
import { readBody } from '../../lib/resources/body.js';
import { item } from '../../lib/resources/listing-documents.js';
import { seenItem } from '../../lib/resources/seen-state.js';
import { type Filter, filterOfDocument, filterOfQuery, queryOfFilter } from './filter.js';
import type { PostingLists } from './posting-lists.js';
import { typesOf } from './readable-types.js';

export const lwsQuery = 'application/lws-query+json';
const indexPath = '{prefix}/type-index';
const searchPath = '{prefix}/type-search';

/** Maximum size of a filter in a body, in bytes. 256 IRIs of maximum length do not fit into a request target. */
const longestFilter = 1 << 20;

export const endpointOf = ({ baseUri, systemPrefix }: Platform, path: string): string =>
  baseUri + path.replace('{prefix}', systemPrefix);
export const indexEndpoint = (platform: Platform): string => endpointOf(platform, indexPath);
export const searchEndpoint = (platform: Platform): string => endpointOf(platform, searchPath);

/** Context of the endpoints. */
export interface SearchEndpoints {
  readonly platform: Platform;
  readonly lists: PostingLists;
  readonly pageSize: number;
}

export const searchRoutes = (endpoints: SearchEndpoints): readonly Route[] => [
  route('filtered', `GET HEAD ${indexPath}`, (request) => answerIndex(endpoints, request)),
  route('filtered', `GET HEAD ${searchPath}`, (request) =>
    answerSearch(endpoints, request, filterOfQuery(request.query)),
  ),
  route('filtered', `POST QUERY ${searchPath}`, async (request) =>
    answerSearch(endpoints, request, await filterOfBody(request)),
  ),
  route('filtered', `OPTIONS ${searchPath}`, () => ({
    status: 204,
    fields: { Allow: 'GET, HEAD, POST, QUERY, OPTIONS', 'Accept-Query': lwsQuery, 'Accept-Post': lwsJson },
  })),
];

async function answerIndex({ platform, pageSize }: SearchEndpoints, request: RouteRequest): Promise<Reply> {
  const types = await typesOf(platform, request.access);
  const page = pageNumber(request.query);
  const items = types.slice((page - 1) * pageSize, page * pageSize).map((id) => ({ id }));
  const document = { '@context': lwsContext, type: 'TypeIndex', totalItems: types.length, items };
  return pageReply(platform, request, document, indexEndpoint(platform), page, pageSize);
}

async function answerSearch(
  { platform, lists, pageSize }: SearchEndpoints,
  request: RouteRequest,
  filter: Filter,
): Promise<Reply> {
  const page = pageNumber(request.query);
  // The query engine is loaded by the first search.
  const { search } = await import('./search.js');
  const { items, total } = await search({ platform, lists, access: request.access }, filter, {
    from: (page - 1) * pageSize,
    count: pageSize,
  });
  const seen = await Promise.all(items.map((record) => seenItem(platform, request.access, record)));
  const document = { '@context': lwsContext, type: 'ContainerPage', totalItems: total, items: seen.map(item) };
  const query = queryOfFilter(filter);
  const url = query === undefined ? undefined : `${searchEndpoint(platform)}${query === '' ? '' : `?${query}`}`;
  return pageReply(platform, request, document, url, page, pageSize);
}

/** @throws LwsError `page-not-found`, also if the page is not a number (rule 13.1) */
function pageNumber(query: URLSearchParams): number {
  const values = query.getAll('page');
  if (values.length === 0) return 1;
  if (values.length > 1 || !/^[1-9]\d{0,8}$/.test(values[0]!)) throw noSuchPage();
  return Number(values[0]);
}

const noSuchPage = (): LwsError => new LwsError('page-not-found', 'This page does not exist.');

/** @param url URL of the response without a page. `undefined` if no GET can express it. Then there are no links. */
function pageReply(
  { rootIri: storage }: Platform,
  { req }: RouteRequest,
  document: { readonly totalItems: number },
  url: string | undefined,
  page: number,
  pageSize: number,
): Reply {
  const last = Math.max(1, Math.ceil(document.totalItems / pageSize));
  if (page > last) throw noSuchPage();
  const listing = chooseListing(req.headers.accept);
  return {
    status: 200,
    fields: {
      'Content-Type': listing.as === 'json' ? listing.contentType : lwsJson,
      'Cache-Control': 'private, no-store',
      Vary: 'Accept, Authorization',
      Link: [formatLink(storage, lws.storage), url === undefined ? '' : pageLinks(url, page, last)]
        .filter(Boolean)
        .join(', '),
      'X-Content-Type-Options': 'nosniff',
    },
    body: Buffer.from(JSON.stringify(document)),
    isCodable: true,
  };
}

/** Parses the filter of a POST or QUERY. @throws LwsError by rule 13.6 */
async function filterOfBody({ req, body: open }: RouteRequest): Promise<Filter> {
  const isQuery = req.method === 'QUERY';
  if (isQuery && req.headers['content-type'] === undefined)
    throw new LwsError('bad-request', `The Content-Type is missing. Send ${lwsQuery}.`);
  const body = open();
  const accepted = isQuery ? [lwsQuery, lwsJson] : [lwsJson];
  if (!accepted.includes(body.mediaType))
    throw new LwsError('unsupported-media-type', `Send the filter as ${accepted.join(' or ')}.`, {
      fields: isQuery ? { 'Accept-Query': lwsQuery } : { 'Accept-Post': lwsJson },
    });
  if (isQuery && !isAcceptable(req.headers.accept))
    throw new LwsError(
      'not-acceptable',
      `The response is available as ${lwsJson}, application/ld+json or application/json.`,
    );
  const bytes = await readBody(body, longestFilter);
  return filterOfDocument(parseJson(decodeUtf8(bytes)), isQuery ? 'too-complex' : 'malformed-filter');
}

function isAcceptable(accept: string | undefined): boolean {
  const ranges = accept === undefined ? undefined : parseAccept(accept);
  return !ranges || [lwsJson, 'application/ld+json', 'application/json'].some((type) => qualityOf(ranges, type) > 0);
}
