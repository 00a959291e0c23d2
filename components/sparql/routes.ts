/** The SPARQL Query Service over HTTP (rule 14.1). */

import { clientFor } from '../../lib/authorization/client.js';
import type { Reply } from '../../lib/http/reply.js';
import { whenGone } from '../../lib/http/request.js';
import { type ResourceQuery, type Route, type RouteRequest, route, type StoredQuestion } from '../../lib/http/route.js';
import { sparqlUpdate } from '../../lib/resources/methods.js';
import { LwsError } from '../../lib/tools/errors.js';
import { updateAtEndpoint } from './endpoint-update.js';
import type { QueryTask } from './pool/messages.js';
import { acceptedFormats, requestOfBody, requestOfUrl, type SparqlRequest, sparqlQuery } from './protocol/protocol.js';
import { type Asker, runQueryTask } from './run-task.js';
import { serviceDescription } from './service-description.js';
import { type SparqlEndpoint, sparqlUrl } from './service-endpoint.js';
import { parametersOf, queryOf } from './stored-queries.js';

const path = '{prefix}/sparql';

export const sparqlRoutes = (endpoint: SparqlEndpoint): readonly Route[] => [
  route('filtered', `GET HEAD ${path}`, (request) => {
    const asked = requestOfUrl(request.query, endpoint.maxBytes);
    if (asked) return ask(endpoint, request, asked);
    // Reject other parameters, because a misspelled name must not return the description.
    if (request.query.size > 0)
      throw new LwsError(
        'bad-request',
        'The parameter query is missing. For the service description, send no parameters.',
      );
    return describe(endpoint, request);
  }),
  route('filtered', `POST QUERY ${path}`, async (request) => {
    const { req, query, body } = request;
    const isQuery = req.method === 'QUERY';
    const hasType = req.headers['content-type'] !== undefined;
    const limits = isQuery ? { maxBytes: endpoint.maxBytes } : endpoint;
    const asked = await requestOfBody(body(), hasType, query, limits, isQuery);
    return asked.isUpdate ? updateAtEndpoint(endpoint, request, asked) : ask(endpoint, request, asked);
  }),
  route('filtered', `OPTIONS ${path}`, () => ({
    status: 204,
    fields: {
      Allow: 'GET, HEAD, POST, QUERY, OPTIONS',
      'Accept-Query': sparqlQuery,
      'Accept-Post': [
        sparqlQuery,
        ...(endpoint.maxUpdateBytes === undefined ? [] : [sparqlUpdate]),
        'application/x-www-form-urlencoded',
      ].join(', '),
    },
  })),
];

const ask = (endpoint: SparqlEndpoint, request: RouteRequest, asked: SparqlRequest): Promise<Reply> =>
  answer(endpoint, request, request.req.headers.accept, asked, sparqlUrl(endpoint.platform));

/** Returns the service description, with statistics of the caller's graphs. */
async function describe(endpoint: SparqlEndpoint, { req, access, address }: RouteRequest): Promise<Reply> {
  const client = await clientFor(endpoint.platform, access, address);
  const { signal, release } = whenGone(req);
  const counted = await endpoint.statistics.of({ access, client, gone: signal }).finally(release);
  return serviceDescription(endpoint, req.headers.accept, counted);
}

/** Runs a query on one resource or on a container's subtree, with the parameters of the endpoint (rule 14.8). */
export async function askResource(
  endpoint: SparqlEndpoint,
  { accept, body, hasContentType, iri, parameters, ...asker }: Parameters<ResourceQuery['ask']>[0],
): Promise<Reply> {
  const asked = await requestOfBody(body, hasContentType, parameters, { maxBytes: endpoint.maxBytes }, true);
  const within = iri === endpoint.platform.rootIri ? {} : { within: iri };
  return answer(endpoint, asker, accept, asked, iri, within);
}

/** Runs a stored query over everything that the caller can read. */
export async function runStored(endpoint: SparqlEndpoint, question: StoredQuestion): Promise<Reply> {
  const { record, parameters, req, guard } = question;
  const given = parametersOf([...parameters].filter(([name]) => name !== 'run'));
  const query = await queryOf(endpoint.platform, question, endpoint.maxBytes);
  // The query may have changed after authorization: authorize its new version.
  await guard();
  return answer(endpoint, question, req.headers.accept, { query, parameters: given }, record.iri);
}

async function answer(
  endpoint: SparqlEndpoint,
  asker: Asker,
  accept: string | undefined,
  asked: SparqlRequest,
  base: string,
  within: { readonly within?: string } = {},
): Promise<Reply> {
  const { platform, maxResults, maxAnswerBytes, services } = endpoint;
  const then = platform.offered('pastQueries')[0]?.asked(asker.req.headers['accept-datetime']);
  const own = {
    base,
    formats: acceptedFormats(accept, asker.req.method === 'QUERY'),
    maxResults,
    maxBytes: maxAnswerBytes,
    allowedServices: services.allowed,
    past: then?.task,
    hasTextSearch: platform.offered('searchTexts').length > 0,
  };
  const task: QueryTask = Object.assign(own, asked, within);
  const { mediaType, hint, body } = await runQueryTask(endpoint, asker, task);
  return {
    status: 200,
    fields: {
      'Content-Type':
        mediaType === 'text/csv' || mediaType === 'text/tab-separated-values'
          ? `${mediaType}; charset=utf-8`
          : mediaType,
      'Cache-Control': 'private, no-store',
      Vary: 'Accept, Authorization',
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': "sandbox; default-src 'none'",
      ...then?.fields,
      ...(hint !== undefined && { 'LWS-Hint': hint }),
    },
    body,
    isCodable: true,
  };
}
