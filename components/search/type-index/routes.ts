/** Endpoints of the type index and the type search (rules 13.1, 13.3). */

import type { Platform } from '../../../lib/component/contract.js';
import { lwsJson } from '../../../lib/http/negotiate.js';
import type { Reply } from '../../../lib/http/reply.js';
import { pageNumber, pageReply } from '../../../lib/http/result-pages.js';
import { type Route, type RouteRequest, route, urlOfRoute } from '../../../lib/http/route.js';
import { lwsContext } from '../../../lib/rdf/contexts.js';
import { readBody } from '../../../lib/resources/body.js';
import { item } from '../../../lib/resources/listing-documents.js';
import { seenItem } from '../../../lib/resources/seen-state.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { parseAccept, qualityOf } from '../../../lib/tools/fields/accept.js';
import { decodeUtf8, parseJson } from '../../../lib/tools/json/json.js';
import type { PostingLists } from '../postings/posting-lists.js';
import { type Filter, filterOfDocument, filterOfQuery, queryOfFilter } from './filter.js';
import { typesOf } from './readable-types.js';

const lwsQuery = 'application/lws-query+json';
const indexPath = '{prefix}/type-index';
const searchPath = '{prefix}/type-search';

/** Maximum size of a filter in a body, in bytes. Long filters do not fit into a request target (256 IRIs). */
const longestFilter = 1 << 20;

export const indexEndpoint = (platform: Platform): string => urlOfRoute(platform, indexPath);
export const typeSearchEndpoint = (platform: Platform): string => urlOfRoute(platform, searchPath);

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
  return pageReply(request, document, { storage: platform.rootIri, url: indexEndpoint(platform), page, pageSize });
}

async function answerSearch(
  { platform, lists, pageSize }: SearchEndpoints,
  request: RouteRequest,
  filter: Filter,
): Promise<Reply> {
  const page = pageNumber(request.query);
  // Import the module here, because it loads the query engine.
  const { searchTypes } = await import('./search.js');
  const { items, total } = await searchTypes({ platform, lists, access: request.access }, filter, {
    from: (page - 1) * pageSize,
    count: pageSize,
  });
  const seen = await Promise.all(items.map((record) => seenItem(platform, request.access, record)));
  const document = { '@context': lwsContext, type: 'ContainerPage', totalItems: total, items: seen.map(item) };
  const query = queryOfFilter(filter);
  const url = query === undefined ? undefined : `${typeSearchEndpoint(platform)}${query === '' ? '' : `?${query}`}`;
  return pageReply(request, document, { storage: platform.rootIri, url, page, pageSize });
}

/** Parses the filter in the body of a POST or QUERY. @throws LwsError by rule 13.6 */
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
