/**
 * Fetches JSON-LD contexts of other servers, only from the hosts in `lws.jsonld.allowed-context-hosts`, with protection against
 * SSRF. Cached for an hour.
 */
import { LRUCache } from 'lru-cache';
import { LwsError } from '../tools/errors.js';
import { decodeUtf8, parseJson } from '../tools/json/json.js';
import { isAllowedHost, parseAllowedHost } from '../tools/outbound/address-policy.js';
import type { GuardedFetch } from '../tools/outbound/guarded-fetch.js';

export interface RemoteContextOptions {
  /** Allowed hosts: `host` or `host:port`. */
  readonly hosts: readonly string[];
  readonly fetch: GuardedFetch;
}

/** Returns a context as text, or `undefined` if its host is not listed. @throws LwsError `malformed-body` if it cannot be fetched */
export type RemoteContexts = (iri: string) => Promise<string | undefined>;

const keptBytes = 16 << 20;
const keptMs = 3_600_000;
const failureKeptMs = 30_000;
const maxHops = 5;
const request = {
  maxBytes: 1 << 20,
  timeoutMs: 10_000,
  // Redirects are followed here, because each target must be an allowed host, too.
  maxRedirects: 0,
  accept: 'application/ld+json, application/json;q=0.9',
} as const;

/** Text of a context, or the reason why it cannot be fetched. */
type Known = { readonly text: string } | { readonly failure: string };

export function remoteContexts({ hosts, fetch }: RemoteContextOptions): RemoteContexts {
  const listed = hosts.flatMap((entry) => parseAllowedHost(entry) ?? []);
  const get = async (iri: string): Promise<string> => {
    let url = new URL(iri);
    for (let hop = 0; hop <= maxHops; hop++) {
      if (!isAllowedHost(url, listed))
        throw new Error('it redirects to a host that is not listed in lws.jsonld.allowed-context-hosts');
      const { status, headers, body } = await fetch(url, request);
      const { location } = headers;
      if (status === 200) {
        const text = decodeUtf8(body);
        parseJson(text);
        return text;
      }
      if (status < 300 || status > 399 || location === undefined || !URL.canParse(location, url.href))
        throw new Error(`the server returned ${status}`);
      url = new URL(location, url);
    }
    throw new Error('too many redirects');
  };
  // Concurrent documents with the same context share one request.
  const known = new LRUCache<string, Known>({
    maxSize: keptBytes,
    sizeCalculation: (found) => ('text' in found ? found.text.length : found.failure.length) + 500,
    // If an entry is evicted during its fetch, the result is still awaited.
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
    throw new LwsError('malformed-body', `Cannot fetch the JSON-LD context ${iri.slice(0, 500)}.`, {
      reason: found.failure,
    });
  };
}
