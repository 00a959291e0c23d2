/**
 * Redirects: the request that follows a response (RFC 9110 15.4), and the fields that it may carry. Does not check addresses and
 * does not count hops.
 */
import { OutboundError } from './outbound-error.js';

/** One request of an exchange. */
export interface Hop {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly accept: string;
  /** Other header fields of the caller, with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Returns the next hop, or undefined if the response is not a redirect or has no Location.
 * @throws OutboundError `protocol` for an invalid Location, `downgrade`, and `redirects` for a body that would go to another
 * origin
 */
export function nextHop(hop: Hop, status: number, location: string | undefined): Hop | undefined {
  if (!redirects.has(status) || location === undefined) return undefined;
  const url = targetOf(hop.url, location);
  const kept = keepsMethod(hop, status) ? hop : withoutBody(hop);
  if (url.origin === hop.url.origin) return { ...kept, url };
  if (kept.body !== undefined)
    throw new OutboundError('redirects', `${hop.url.host} redirects a request body to another origin, ${url.host}.`);
  // The caller's fields are for the origin that the caller named: any field may contain tokens, signatures or keys.
  return { ...kept, url, headers: {} };
}

function targetOf(from: URL, location: string): URL {
  if (!URL.canParse(location, from.href))
    throw new OutboundError('protocol', `${from.host} redirects to an invalid URL.`);
  const url = new URL(location, from);
  if (from.protocol === 'https:' && url.protocol === 'http:')
    throw new OutboundError('downgrade', `${from.host} redirects from https to http, to ${url.host}.`);
  return url;
}

/** Returns false if the method becomes GET: by 301 and 302 for POST (RFC 9110 15.4.2, 15.4.3), by 303 always. */
function keepsMethod(hop: Hop, status: number): boolean {
  return hop.method === 'GET' ? status !== 303 : status === 307 || status === 308;
}

/** Returns the hop as a GET without body, and without fields that describe the body (RFC 9110 15.4). */
function withoutBody(hop: Hop): Hop {
  const headers = Object.entries(hop.headers).filter(([name]) => !name.startsWith('content-'));
  return { ...hop, method: 'GET', body: undefined, headers: Object.fromEntries(headers) };
}
