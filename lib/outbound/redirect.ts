/**
 * Redirects: the request that follows from an answer (RFC 9110 15.4), and what of the first one it may carry.
 * It is pure and must not know the address policy, nor count hops.
 */
import { OutboundError } from './outbound-error.js';

/** One request of an exchange. */
export interface Hop {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly accept: string;
  /** The caller's other fields, with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * The next hop; undefined when the answer is no redirect or names no place to go.
 * @throws OutboundError `protocol` for a Location that cannot be read, `downgrade`, and `redirects` for a body that
 * would go to another origin
 */
export function nextHop(hop: Hop, status: number, location: string | undefined): Hop | undefined {
  if (!redirects.has(status) || location === undefined) return undefined;
  const url = targetOf(hop.url, location);
  const kept = keepsMethod(hop, status) ? hop : withoutBody(hop);
  if (url.origin === hop.url.origin) return { ...kept, url };
  if (kept.body !== undefined)
    throw new OutboundError('redirects', `${hop.url.host} redirects a body to another origin, ${url.host}.`);
  // Whatever the caller said was for the origin that it named: tokens, signatures, keys under any field name.
  return { ...kept, url, headers: {} };
}

function targetOf(from: URL, location: string): URL {
  if (!URL.canParse(location, from.href))
    throw new OutboundError('protocol', `${from.host} redirects to what is no URL.`);
  const url = new URL(location, from);
  if (from.protocol === 'https:' && url.protocol === 'http:')
    throw new OutboundError('downgrade', `${from.host} redirects from https to http, to ${url.host}.`);
  return url;
}

/** 301 and 302 turn POST into GET as they do in every browser (RFC 9110 15.4.2, 15.4.3); 303 always does. */
function keepsMethod(hop: Hop, status: number): boolean {
  return hop.method === 'GET' ? status !== 303 : status === 307 || status === 308;
}

/** RFC 9110 15.4: without the body, the fields that describe it go too. */
function withoutBody(hop: Hop): Hop {
  const headers = Object.entries(hop.headers).filter(([name]) => !name.startsWith('content-'));
  return { ...hop, method: 'GET', body: undefined, headers: Object.fromEntries(headers) };
}
