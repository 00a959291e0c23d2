/** Request forms of the SPARQL 1.1 Protocol and of the QUERY method (rule 14.1): query, dataset and formats. */

import { acceptedRanges } from '../../../lib/http/negotiate.js';
import type { Parameters } from '../../../lib/query/parse/parameters.js';
import { type RdfFormat, rdfFormats } from '../../../lib/rdf/formats.js';
import { type RequestBody, readBody } from '../../../lib/resources/body.js';
import { sparqlUpdate } from '../../../lib/resources/methods.js';
import { lruCache } from '../../../lib/tools/caches.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { chooseMediaType } from '../../../lib/tools/fields/accept.js';
import { decodeUtf8 } from '../../../lib/tools/json/json.js';

export const sparqlQuery = 'application/sparql-query';
const form = 'application/x-www-form-urlencoded';

export const resultFormats = [
  'application/sparql-results+json',
  'application/sparql-results+xml',
  'text/csv',
  'text/tab-separated-values',
] as const;
export type ResultFormat = (typeof resultFormats)[number];

/** Short names of formats that tools send. */
const aliases: Readonly<Record<string, ResultFormat>> = {
  'application/json': 'application/sparql-results+json',
  'application/xml': 'application/sparql-results+xml',
  'text/xml': 'application/sparql-results+xml',
};

export interface SparqlRequest {
  readonly query: string;
  /** Dataset of the request, which overrides FROM and FROM NAMED of the query. */
  readonly defaultGraphs?: readonly string[];
  readonly namedGraphs?: readonly string[];
  readonly isUpdate?: boolean;
  /** Values of the query's variables. */
  readonly parameters?: Parameters;
  /** Timeout requested by the client, in milliseconds, if shorter than the setting. */
  readonly timeoutMs?: number;
  /** Requests the plan of a query instead of its result: estimated, or measured in a run. */
  readonly explain?: Explain;
}

const explains = ['plan', 'run'] as const;
export type Explain = (typeof explains)[number];

export interface RequestLimits {
  /** Maximum size of a query, in bytes. */
  readonly maxBytes: number;
  /** Maximum size of an update, in bytes. Absent: updates are off. */
  readonly maxUpdateBytes?: number | undefined;
}

const request = (
  query: string,
  parameters: URLSearchParams,
  [byDefault, named]: readonly [string, string] = ['default-graph-uri', 'named-graph-uri'],
): SparqlRequest => {
  const graphs = (name: string): readonly string[] | undefined =>
    parameters.has(name) ? parameters.getAll(name) : undefined;
  const [defaultGraphs, namedGraphs] = [graphs(byDefault), graphs(named)];
  return {
    query,
    ...(defaultGraphs ? { defaultGraphs } : {}),
    ...(namedGraphs ? { namedGraphs } : {}),
    ...(parameters.has('explain') ? { explain: explainOf(parameters.getAll('explain')) } : {}),
    ...timeoutOf(parameters),
  };
};

/** Returns the value of the parameter `explain`. @throws LwsError `bad-request` */
function explainOf([text, ...others]: readonly string[]): Explain {
  const found = explains.find((each) => each === text);
  if (others.length > 0 || !found)
    throw new LwsError(
      'bad-request',
      'The parameter explain must be given once, as plan (does not run the query) or run (reports rows and times of a run).',
    );
  return found;
}

/** Parses a timeout in seconds. Empty texts and 0, as in forms of Virtuoso, count as absent. @throws LwsError `bad-request` */
function timeoutOf(parameters: URLSearchParams): Pick<SparqlRequest, 'timeoutMs'> {
  const [text = '', ...others] = parameters.getAll('timeout');
  if (others.length > 0 || !/^(?:\d{1,9}(?:\.\d{1,9})?)?$/.test(text))
    throw new LwsError(
      'bad-request',
      `The parameter timeout is ${others.length > 0 ? 'repeated' : JSON.stringify(text.slice(0, 60))}; expected seconds, such as 2.5.`,
    );
  const timeoutMs = Math.ceil(Number(text) * 1000);
  return timeoutMs === 0 ? {} : { timeoutMs };
}

/** Parses `GET ?query=`. Returns `undefined` without a query. @throws LwsError `bad-request`, `too-large` */
export function requestOfUrl(parameters: URLSearchParams, maxBytes: number): SparqlRequest | undefined {
  if (parameters.has('update'))
    throw new LwsError(
      'bad-request',
      'GET and forms do not accept updates here. PATCH a resource, or switch on lws.sparql.endpoint.update.',
    );
  const queries = parameters.getAll('query');
  if (queries.length === 0) return undefined;
  if (queries.length > 1) throw new LwsError('bad-request', 'The parameter query is repeated.');
  assertLength(Buffer.byteLength(queries[0]!), maxBytes);
  return request(queries[0]!, parameters);
}

const graphParameters = ['default-graph-uri', 'named-graph-uri', 'using-graph-uri', 'using-named-graph-uri'];

/** Parses a direct POST, a form, or QUERY. @throws LwsError `bad-request` without a Content-Type, `unsupported-media-type`, `too-large` */
export async function requestOfBody(
  body: RequestBody,
  hasContentType: boolean,
  parameters: URLSearchParams,
  limits: RequestLimits,
  isQuery: boolean,
): Promise<SparqlRequest> {
  const { maxBytes, maxUpdateBytes } = limits;
  if (!hasContentType) throw new LwsError('bad-request', `The Content-Type is missing. Send ${sparqlQuery}.`);
  const { mediaType } = body;
  if (mediaType === sparqlUpdate && maxUpdateBytes !== undefined)
    return updateRequest(
      decodeUtf8(await readBody(body, maxUpdateBytes, 'lws.sparql.endpoint.max-update-bytes')),
      parameters,
    );
  if (mediaType !== sparqlQuery && (isQuery || mediaType !== form))
    throw new LwsError(
      'unsupported-media-type',
      `Send the query as ${sparqlQuery}${isQuery ? '' : ` or ${form}`}.` +
        (mediaType === sparqlUpdate && !isQuery ? ' Updates are switched off (lws.sparql.endpoint.update).' : ''),
      { fields: { 'Accept-Query': sparqlQuery } },
    );
  if (mediaType === sparqlQuery)
    return request(decodeUtf8(await readBody(body, maxBytes, 'lws.sparql.endpoint.max-query-bytes')), parameters);
  const misplaced = ['query', 'update', 'timeout', 'explain'].find((name) => parameters.has(name));
  if (misplaced) throw new LwsError('bad-request', `Send the parameter ${misplaced} in the form, not in the URL.`);
  // Percent-encoding makes a form up to three times as long.
  const longest = Math.max(maxBytes, maxUpdateBytes ?? 0) * 3 + 4096;
  const fields = new URLSearchParams(decodeUtf8(await readBody(body, longest, 'lws.sparql.endpoint.max-query-bytes')));
  // The protocol has no dataset parameters in the URL of a form, but its test suite uses them.
  for (const name of graphParameters) for (const value of parameters.getAll(name)) fields.append(name, value);
  if (fields.has('update') && maxUpdateBytes !== undefined) return updateOfForm(fields, maxUpdateBytes);
  const found = requestOfUrl(fields, maxBytes);
  if (!found) throw new LwsError('bad-request', 'The form has no parameter query.');
  return found;
}

/** Parses the update in a form. @throws LwsError `bad-request` unless there is one update and no query, `too-large` */
function updateOfForm(parameters: URLSearchParams, maxBytes: number): SparqlRequest {
  const updates = parameters.getAll('update');
  if (updates.length !== 1 || parameters.has('query'))
    throw new LwsError('bad-request', 'The form must have exactly one parameter update, and no query.');
  assertLength(Buffer.byteLength(updates[0]!), maxBytes, 'update');
  return updateRequest(updates[0]!, parameters);
}

function updateRequest(update: string, parameters: URLSearchParams): SparqlRequest {
  if (parameters.has('query')) throw new LwsError('bad-request', 'Send either a query or an update.');
  const isGiven = { timeout: timeoutOf(parameters).timeoutMs !== undefined, explain: parameters.has('explain') };
  for (const name of ['timeout', 'explain'] as const)
    if (isGiven[name]) throw new LwsError('bad-request', `The parameter ${name} is for queries only.`);
  if (parameters.has('default-graph-uri') || parameters.has('named-graph-uri'))
    throw new LwsError('bad-request', 'Name the dataset of an update with using-graph-uri and using-named-graph-uri.');
  return { ...request(update, parameters, ['using-graph-uri', 'using-named-graph-uri']), isUpdate: true };
}

function assertLength(bytes: number, maxBytes: number, what: 'query' | 'update' = 'query'): void {
  if (bytes > maxBytes)
    throw new LwsError(
      'too-large',
      `The ${what} is longer than ${maxBytes} bytes (lws.sparql.endpoint.max-${what}-bytes).`,
    );
}

/** Accepted formats for each kind of result. Absent if the client accepts no available format. */
export interface AcceptedFormats {
  readonly results?: ResultFormat;
  readonly graph?: RdfFormat;
}

/** Cached results, because clients send the same few `Accept` fields. */
const chosen = [lruCache<AcceptedFormats>(500), lruCache<AcceptedFormats>(500)] as const;

/** Chooses formats. @param strict true to omit the default if the client accepts no format: it then gets 406 (rule 7.1) */
export function acceptedFormats(accept = '', strict = true): AcceptedFormats {
  const known = chosen[strict ? 1 : 0].get(accept);
  if (known) return known;
  const formats = chooseFormats(accept, strict);
  chosen[strict ? 1 : 0].set(accept, formats);
  return formats;
}

function chooseFormats(accept: string, strict: boolean): AcceptedFormats {
  const ranges = accept === '' ? undefined : acceptedRanges(accept);
  const defaults = { results: resultFormats[0], graph: rdfFormats[0] };
  if (!ranges) return defaults;
  const results = chooseMediaType(ranges, [...resultFormats, ...Object.keys(aliases)]);
  const graph = chooseMediaType(ranges, rdfFormats);
  return {
    ...(strict ? {} : defaults),
    ...(results === undefined ? {} : { results: aliases[results] ?? (results as ResultFormat) }),
    ...(graph === undefined ? {} : { graph: graph as RdfFormat }),
  };
}
