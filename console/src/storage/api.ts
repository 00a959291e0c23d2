/** Requests to the storage with the current session. */
import { authorizationFor, storageUri, takeNonce } from '../session/session.js';
import { once } from './once.js';

/** Error response with the server's message. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    /** Code of the problem type, such as `precondition-failed`. Empty without a problem type. */
    readonly code: string,
    detail: string,
    /** Members of the problem document. */
    readonly problem: Readonly<Record<string, unknown>> = {},
  ) {
    super(detail);
  }
}

export interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: BodyInit | null;
  readonly signal?: AbortSignal | undefined;
}

/** Options of a request with a JSON body. */
export const jsonBody = (body: object, type = 'application/json') => ({
  headers: { 'Content-Type': type },
  body: JSON.stringify(body),
});

/**
 * Sends a request, signed in or not, and returns any response. Without a response, the window fires `unreachable`.
 * @param url absolute URL inside this storage
 * @throws TypeError if the server cannot be reached
 * @throws Error for other URLs, which a link could contain: no token is created for them
 */
export async function request(method: string, url: string, options: RequestOptions = {}): Promise<Response> {
  if (!url.startsWith(storageUri)) throw new Error('This URL is not in this storage.');
  const once = async (): Promise<Response> =>
    fetch(url, {
      method,
      headers: { ...options.headers, ...(await authorizationFor(method, url)) },
      cache: 'no-store',
      ...(options.body === undefined ? {} : { body: options.body }),
      ...(options.signal ? { signal: options.signal } : {}),
    });
  const response = await once().catch((error: unknown) => {
    if (isUnreachable(error)) dispatchEvent(new Event('unreachable'));
    throw error;
  });
  return takeNonce(response.status, response.headers.get('DPoP-Nonce')) ? once() : response;
}

/** Returns a successful response. @throws Refusal for any other response */
export async function succeed(method: string, url: string, options?: RequestOptions): Promise<Response> {
  const response = await request(method, url, options);
  if (!response.ok) throw await refusalFrom(response);
  return response;
}

/** Returns the error in a problem document (RFC 9457). */
export async function refusalFrom(response: Pick<Response, 'status' | 'text'>): Promise<Refusal> {
  const text = await response.text().catch(() => '');
  return refusalIn(response.status, text);
}

export function refusalIn(status: number, text: string): Refusal {
  try {
    const problem = JSON.parse(text) as Record<string, string | undefined>;
    const { detail, title, type } = problem;
    const code = type?.replace(/^.*[/#:]/, '') ?? '';
    // The server's message names header fields, which users of a page cannot set.
    const said = code === 'unauthenticated' ? 'You are not signed in, and this is not public.' : (detail ?? title);
    return new Refusal(status, code, said ?? `The server returned ${status}.`, problem);
  } catch {
    return new Refusal(status, '', `The server returned ${status}.`);
  }
}

const isUnreachable = (error: unknown): boolean => error instanceof TypeError && /fetch|network/i.test(error.message);

/** Returns the message of an error for users. */
export function messageOf(error: unknown): string {
  if (isUnreachable(error)) return 'The server cannot be reached. Is it running?';
  return error instanceof Error ? error.message : String(error);
}

export const json = async <T>(url: string, options: RequestOptions = {}): Promise<T> =>
  (
    await succeed('GET', url, { ...options, headers: { Accept: 'application/json', ...options.headers } })
  ).json() as Promise<T>;

/** Returns the media type of a response without parameters. */
export const essenceOf = ({ headers }: Pick<Response, 'headers'>): string =>
  (headers.get('Content-Type') ?? '').replace(/;.*/, '').trim().toLowerCase();

/** Returns the targets of the links with a relation. @param base base URL of relative targets */
export function linkTargets({ headers }: Pick<Response, 'headers'>, relation: string, base: string): string[] {
  const links = (headers.get('Link') ?? '').matchAll(/<([^>]*)>((?:\s*;\s*[\w*]+\s*=\s*(?:"[^"]*"|[^\s;,"]+))*)/g);
  const wanted = new RegExp(`;\\s*rel\\s*=\\s*"?(?:[^"]* )?${relation}(?: [^"]*)?"?(?:;|$|\\s)`, 'i');
  return [...links].flatMap(([, target = '', parameters = '']) =>
    wanted.test(parameters) ? new URL(target, base).href : [],
  );
}

/** Returns the target of the first link with a relation, or `undefined`. */
export const linkTarget = (...of: Parameters<typeof linkTargets>): string | undefined => linkTargets(...of)[0];

/** Service of the storage, as in the storage description. Its URL has this origin. */
export interface Service {
  readonly type: string;
  readonly serviceEndpoint: string;
  /** For the trash: time after which items are deleted, in days. */
  readonly days?: number;
}

export const services = once(async (): Promise<readonly Service[]> => {
  // Every response for the root, also an error, has a link to the storage description.
  const root = await request('HEAD', storageUri);
  const link = linkTarget(root, 'https://www.w3.org/ns/lws#storageDescription', storageUri);
  return (await json<{ service?: readonly Service[] }>(link ?? `${storageUri}.lws/storage-description`)).service ?? [];
});

export const lwsNamespace = 'https://www.w3.org/ns/lws#';

/** Returns the URL of a service, or `undefined` if this storage does not offer it. @param type name in the LWS vocabulary */
export const serviceEndpoint = async (type: string): Promise<string | undefined> =>
  (await services()).find((each) => [each.type].flat().some((own) => own === type || own === lwsNamespace + type))
    ?.serviceEndpoint;

/** Term in a result (SPARQL 1.2 Query Results JSON Format). The value of a triple term is an object with its terms. */
export interface Binding {
  readonly type: string;
  readonly value: string | Readonly<Record<'subject' | 'predicate' | 'object', Binding>>;
  readonly 'xml:lang'?: string;
  readonly 'its:dir'?: string;
  readonly datatype?: string;
}

/** Returns the language tag of a literal, with `--` and the base direction if there is one. */
export const tagOfBinding = ({ 'xml:lang': language = '', 'its:dir': direction }: Binding): string =>
  direction ? `${language}--${direction}` : language;

/**
 * Returns the rows of a SELECT, or `undefined` if this storage has no endpoint.
 * @param seconds time limit
 * @throws Refusal with the server's message
 */
export async function select(
  query: string,
  signal?: AbortSignal,
  seconds?: number,
): Promise<readonly Readonly<Record<string, Binding>>[] | undefined> {
  const endpoint = await serviceEndpoint('SparqlQueryService');
  if (endpoint === undefined) return undefined;
  const response = await succeed('POST', seconds === undefined ? endpoint : `${endpoint}?timeout=${seconds}`, {
    headers: { 'Content-Type': 'application/sparql-query', Accept: 'application/sparql-results+json' },
    body: query,
    signal,
  });
  return ((await response.json()) as { results: { bindings: [] } }).results.bindings;
}

const known = ['TypeIndexService', 'AccessGrantService', 'NotificationService', 'SparqlQueryService'];

/** Returns the URL of a system resource. @param name for example `owners` */
export async function systemUrl(name: string): Promise<string> {
  const own = (await services()).find(({ type }) => [type].flat().some((each) => known.includes(each)));
  // If all services are off, the default of `lws.system-prefix` is used.
  return new URL(name, own?.serviceEndpoint ?? `${storageUri}.lws/`).href;
}
