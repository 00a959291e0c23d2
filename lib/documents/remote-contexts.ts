/**
 * JSON-LD contexts of other servers, from the hosts of `lws.jsonld.allowed-context-hosts` alone: fetched through the outbound guard and
 * kept for an hour.
 */
import { LRUCache } from 'lru-cache';
import { LwsError } from '../errors.js';
import { decodeUtf8, parseJson } from '../json/json.js';
import { isAllowedHost, parseAllowedHost } from '../outbound/address-policy.js';
import type { GuardedFetch } from '../outbound/guarded-fetch.js';

export interface RemoteContextOptions {
  /** `host` or `host:port`. */
  readonly hosts: readonly string[];
  readonly fetch: GuardedFetch;
}

/** The text of a context; `undefined` when its host is not listed. @throws LwsError `malformed-body` when it cannot be had */
export type RemoteContexts = (iri: string) => Promise<string | undefined>;

const keptBytes = 16 << 20;
const keptMs = 3_600_000;
const failureKeptMs = 30_000;
const maxHops = 5;
const request = {
  maxBytes: 1 << 20,
  timeoutMs: 10_000,
  // A redirect leads to a listed host too, which is asked for by us.
  maxRedirects: 0,
  accept: 'application/ld+json, application/json;q=0.9',
} as const;

/** What was answered, or why there is nothing. */
type Known = { readonly text: string } | { readonly failure: string };

export function remoteContexts({ hosts, fetch }: RemoteContextOptions): RemoteContexts {
  const listed = hosts.flatMap((entry) => parseAllowedHost(entry) ?? []);
  const get = async (iri: string): Promise<string> => {
    let url = new URL(iri);
    for (let hop = 0; hop <= maxHops; hop++) {
      if (!isAllowedHost(url, listed)) throw new Error('it redirects to a host that is not listed');
      const { status, headers, body } = await fetch(url, request);
      const { location } = headers;
      if (status === 200) {
        const text = decodeUtf8(body);
        parseJson(text);
        return text;
      }
      if (status < 300 || status > 399 || location === undefined || !URL.canParse(location, url.href))
        throw new Error(`its server answers ${status}`);
      url = new URL(location, url);
    }
    throw new Error('it redirects too often');
  };
  // One request for however many documents name the context meanwhile.
  const known = new LRUCache<string, Known>({
    maxSize: keptBytes,
    sizeCalculation: (found) => ('text' in found ? found.text.length : found.failure.length) + 500,
    // One that others push out of the cache is awaited all the same.
    ignoreFetchAbort: true,
    async fetchMethod(iri, _old, { options }) {
      const found = await get(iri).then(
        (text): Known => ({ text }),
        (error: unknown): Known => ({ failure: (error as Error).message }),
      );
      options.ttl = 'text' in found ? keptMs : failureKeptMs;
      return found;
    },
  });
  return async (iri) => {
    if (!URL.canParse(iri) || !isAllowedHost(new URL(iri), listed)) return undefined;
    const found = (await known.fetch(iri))!;
    if ('text' in found) return found.text;
    throw new LwsError('malformed-body', `The JSON-LD context ${iri.slice(0, 500)} cannot be had from its server.`, {
      reason: found.failure,
    });
  };
}
