/** Guarded fetch for untrusted URLs. Every hop passes the admission check and then connects to the admitted addresses only. */
import { setMaxListeners } from 'node:events';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Gate } from '../gate.js';
import { type AdmissionOptions, createAdmission, type OutboundAdmission } from './admission.js';
import { type Answer, exchange } from './connection.js';
import { OutboundError } from './outbound-error.js';
import { type Hop, nextHop } from './redirect.js';

export interface GuardedFetchOptions extends AdmissionOptions {
  /** Trusted certificates (PEM) instead of the certificates of Node.js. */
  readonly ca?: string;
  /** Limits concurrent requests. Default: no limit. */
  readonly gate?: Gate;
}

export interface OutboundRequest {
  /** Method. Default: GET. */
  readonly method?: 'GET' | 'POST';
  /** Header fields for the first origin only. Fields of the connection (Host, Content-Length, Cookie …) are dropped. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Request body, only with POST. */
  readonly body?: Buffer;
  /** `Accept` field. Unlike other fields, it is sent to other origins too. Default: any type. */
  readonly accept?: string;
  /** Maximum size of the response body, in bytes. */
  readonly maxBytes: number;
  /** Time limit for all hops together, in milliseconds, from the first name lookup to the last byte. */
  readonly timeoutMs: number;
  /** Time limit for TCP and TLS of one hop, in milliseconds. Default: `timeoutMs`. */
  readonly connectTimeoutMs?: number;
  /** Maximum number of redirects to follow. If it is 0, a redirect is the response. */
  readonly maxRedirects: number;
  readonly signal?: AbortSignal;
  /** True if only the status matters: at most `maxBytes` of the body are discarded, and no body causes an error. */
  readonly discardBody?: boolean;
  /** Client the request is queued for (round robin between clients). */
  readonly client?: string | undefined;
}

export interface OutboundResponse {
  /** Final status. No status is treated as an error. */
  readonly status: number;
  /** Fields by lower-case name. Repeated fields are joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** URL of the last hop, without fragment. */
  readonly url: string;
  /** Body as received. Empty with `discardBody`. */
  readonly body: Buffer;
}

/** Fetches an untrusted URL. @throws OutboundError for every failure */
export type GuardedFetch = (url: string | URL, request: OutboundRequest) => Promise<OutboundResponse>;

/** Returns a guarded fetch under another address policy. */
export type FetchUnder = (policy: Pick<AdmissionOptions, 'blockPrivateAddresses' | 'allowedHosts'>) => GuardedFetch;

/** Creates a fetch function that keeps no open connections. @throws TypeError for a malformed entry of `allowedHosts` */
export function createGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const admit = createAdmission(options);
  // Parse the certificates once, because that takes some milliseconds.
  const secureContext = options.ca === undefined ? undefined : createSecureContext({ ca: options.ca });
  const means: Means = { admit, secureContext, gate: options.gate };
  return async (url, request) => {
    const hop = firstHop(url, request);
    const deadline = new AbortController();
    // Each hop adds a listener until its socket is closed, possibly some hops later.
    setMaxListeners(0, deadline.signal);
    const late = new OutboundError('timeout', `${hop.url.host} did not finish within ${request.timeoutMs} ms.`);
    const timer = setTimeout(() => deadline.abort(late), request.timeoutMs);
    const end = (): void =>
      deadline.abort(new OutboundError('timeout', `The request to ${hop.url.host} was cancelled.`));
    request.signal?.addEventListener('abort', end, { once: true });
    if (request.signal?.aborted) end();
    try {
      return await follow(hop, request, deadline.signal, means);
    } finally {
      clearTimeout(timer);
      request.signal?.removeEventListener('abort', end);
    }
  };
}

function firstHop(given: string | URL, request: OutboundRequest): Hop {
  if (!URL.canParse(String(given))) throw new OutboundError('scheme', 'The URL is not absolute.');
  const fields = Object.entries(request.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  const headers: Record<string, string> = Object.fromEntries(fields);
  return {
    url: new URL(given),
    method: request.method ?? 'GET',
    accept: request.accept ?? headers['accept'] ?? '*/*',
    headers,
    body: request.method === 'POST' ? (request.body ?? Buffer.alloc(0)) : undefined,
  };
}

interface Means {
  readonly admit: OutboundAdmission;
  readonly secureContext: SecureContext | undefined;
  readonly gate: Gate | undefined;
}

async function follow(
  first: Hop,
  request: OutboundRequest,
  signal: AbortSignal,
  { admit, secureContext, gate }: Means,
): Promise<OutboundResponse> {
  let hop = first;
  const connectTimeoutMs = request.connectTimeoutMs ?? request.timeoutMs;
  for (let left = request.maxRedirects; ; left--) {
    const { host } = hop.url;
    const leave = await gate?.enter({ host, client: request.client }, signal);
    let answer: Answer | undefined;
    try {
      const addresses = await admit(hop.url, signal);
      answer = await exchange(hop, { addresses, connectTimeoutMs, signal, secureContext });
      const next = request.maxRedirects === 0 ? undefined : nextHop(hop, answer.status, answer.headers['location']);
      if (!next) return await responseOf(answer, hop.url, request);
      if (left === 0)
        throw new OutboundError('redirects', `${first.url.host} redirected more than ${request.maxRedirects} times.`);
      hop = next;
    } finally {
      answer?.close();
      leave?.();
    }
  }
}

async function responseOf(answer: Answer, from: URL, request: OutboundRequest): Promise<OutboundResponse> {
  const { status, headers } = answer;
  const url = new URL(from);
  url.hash = '';
  if (!request.discardBody) return { status, headers, url: url.href, body: await answer.read(request.maxBytes) };
  await answer.discard(request.maxBytes);
  return { status, headers, url: url.href, body: Buffer.alloc(0) };
}
