/** Requests to the storage as whoever is signed in. */
import { authorizationFor, storageUri, takeNonce } from '../session/session.js';
import { once } from './once.js';

/** A refusal, in the server's own words. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    /** The stable code of the problem type, such as `precondition-failed`; empty for none. */
    readonly code: string,
    detail: string,
  ) {
    super(detail);
  }
}

export interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: BodyInit | null;
  readonly signal?: AbortSignal | undefined;
}

/** What a request has that sends JSON. */
export const jsonBody = (body: object, type = 'application/json') => ({
  headers: { 'Content-Type': type },
  body: JSON.stringify(body),
});

/**
 * Any request, signed in or not, whatever its answer. Without any, the window has an event `unreachable`.
 * @param url absolute, of this storage
 * @throws TypeError when the server cannot be reached
 * @throws Error for an address elsewhere, which anybody can put into a link to the console: no token is made for it
 */
export async function request(method: string, url: string, options: RequestOptions = {}): Promise<Response> {
  if (!url.startsWith(storageUri)) throw new Error('This is no address in this storage.');
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

/** The answer to a request that succeeded. @throws Refusal for any that did not */
export async function succeed(method: string, url: string, options?: RequestOptions): Promise<Response> {
  const response = await request(method, url, options);
  if (!response.ok) throw await refusalOf(response);
  return response;
}

/** What a problem document says (RFC 9457). */
export async function refusalOf(response: Pick<Response, 'status' | 'text'>): Promise<Refusal> {
  const text = await response.text().catch(() => '');
  return refusalFrom(response.status, text);
}

export function refusalFrom(status: number, text: string): Refusal {
  try {
    const { detail, title, type } = JSON.parse(text) as Record<string, string | undefined>;
    const code = type?.replace(/^.*[/#:]/, '') ?? '';
    // The server speaks of header fields here, which no reader of a page can send.
    const said = code === 'unauthenticated' ? 'You are not signed in, and this is not public.' : (detail ?? title);
    return new Refusal(status, code, said ?? `The server answered ${status}.`);
  } catch {
    return new Refusal(status, '', `The server answered ${status}.`);
  }
}

const isUnreachable = (error: unknown): boolean => error instanceof TypeError && /fetch|network/i.test(error.message);

/** What went wrong, in a sentence for people. */
export function messageOf(error: unknown): string {
  if (isUnreachable(error)) return 'The server cannot be reached. Is it running?';
  return error instanceof Error ? error.message : String(error);
}

export const json = async <T>(url: string, options: RequestOptions = {}): Promise<T> =>
  (
    await succeed('GET', url, { ...options, headers: { Accept: 'application/json', ...options.headers } })
  ).json() as Promise<T>;

/** The media type of an answer, without parameters. */
export const essenceOf = ({ headers }: Pick<Response, 'headers'>): string =>
  (headers.get('Content-Type') ?? '').replace(/;.*/, '').trim().toLowerCase();

/** The target of the first link of a relation. @param base what it is relative to */
export function linkTarget({ headers }: Pick<Response, 'headers'>, relation: string, base: string): string | undefined {
  for (const [, target = '', parameters = ''] of (headers.get('Link') ?? '').matchAll(
    /<([^>]*)>((?:\s*;\s*[\w*]+\s*=\s*(?:"[^"]*"|[^\s;,"]+))*)/g,
  ))
    if (new RegExp(`;\\s*rel\\s*=\\s*"?(?:[^"]* )?${relation}(?: [^"]*)?"?(?:;|$|\\s)`, 'i').test(parameters))
      return new URL(target, base).href;
  return undefined;
}

/** A service of the storage, by its type in the storage description; its address is on this origin. */
export interface Service {
  readonly type: string;
  readonly serviceEndpoint: string;
}

export const services = once(async (): Promise<readonly Service[]> => {
  // The root's answer names it, also a refusal.
  const root = await request('HEAD', storageUri);
  const link = linkTarget(root, 'https://www.w3.org/ns/lws#storageDescription', storageUri);
  return (await json<{ service?: readonly Service[] }>(link ?? `${storageUri}.lws/storage-description`)).service ?? [];
});

/** Where a service is; `undefined` when this storage does not have it. */
export const serviceEndpoint = async (type: string): Promise<string | undefined> =>
  (await services()).find((each) => [each.type].flat().includes(type))?.serviceEndpoint;

/** The rows of a SELECT; `undefined` where this storage answers no queries. @throws Refusal in the server's words */
export async function select(
  query: string,
  signal?: AbortSignal,
): Promise<readonly Readonly<Record<string, { readonly type: string; readonly value: string }>>[] | undefined> {
  const endpoint = await serviceEndpoint('SparqlQueryService');
  if (endpoint === undefined) return undefined;
  const response = await succeed('POST', endpoint, {
    headers: { 'Content-Type': 'application/sparql-query', Accept: 'application/sparql-results+json' },
    body: query,
    signal,
  });
  return ((await response.json()) as { results: { bindings: [] } }).results.bindings;
}

const known = ['TypeIndexService', 'AccessGrantService', 'NotificationService', 'SparqlQueryService'];

/** @param name such as `owners` */
export async function systemUrl(name: string): Promise<string> {
  const own = (await services()).find(({ type }) => [type].flat().some((each) => known.includes(each)));
  // The default of `lws.system-prefix`, where every service is switched off.
  return new URL(name, own?.serviceEndpoint ?? `${storageUri}.lws/`).href;
}
