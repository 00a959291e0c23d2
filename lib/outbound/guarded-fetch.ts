/**
 * The guarded fetch: how the server asks for a URL that somebody else chose. Every hop passes admission and then connects to exactly what
 * was admitted.
 */
import { setMaxListeners } from 'node:events';
import { createSecureContext, type SecureContext } from 'node:tls';
import { type Admission, type AdmissionOptions, createAdmission } from './admission.js';
import { type Answer, exchange } from './connection.js';
import type { Gate } from './gate.js';
import { OutboundError } from './outbound-error.js';
import { type Hop, nextHop } from './redirect.js';

export interface GuardedFetchOptions extends AdmissionOptions {
  /** Certificates to trust in place of the system's, as PEM. */
  readonly ca?: string;
  /** Bounds what is under way at once; absent: nothing does. */
  readonly gate?: Gate;
}

export interface OutboundRequest {
  /** GET when absent. */
  readonly method?: 'GET' | 'POST';
  /** For the first origin only. Those that belong to the connection (Host, Content-Length, Cookie ...) are left out. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Only with POST. */
  readonly body?: Buffer;
  /** The Accept field; unlike the others it goes along across origins. Any type when absent. */
  readonly accept?: string;
  /** The cap on the body of the answer. */
  readonly maxBytes: number;
  /** For everything together: all hops, from resolving the first name to the last byte of the last body. */
  readonly timeoutMs: number;
  /** For TCP and TLS of one hop, within the time for everything; that alone when absent. */
  readonly connectTimeoutMs?: number;
  /** With 0, redirects are not followed but returned. */
  readonly maxRedirects: number;
  /** Ends the exchange early, as the time for everything does. */
  readonly signal?: AbortSignal;
  /** The status is all that matters: at most `maxBytes` are read, nothing is kept, and no body is an error. */
  readonly discardBody?: boolean;
  /** On whose word it is made; clients take turns. */
  readonly client?: string | undefined;
}

export interface OutboundResponse {
  /** Any final status; none is an error. */
  readonly status: number;
  /** By lower-case name; what is repeated is joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of the last hop, without a fragment. */
  readonly url: string;
  /** As sent; empty with `discardBody`. */
  readonly body: Buffer;
}

/** @throws OutboundError whatever keeps the exchange from an answer */
export type GuardedFetch = (url: string | URL, request: OutboundRequest) => Promise<OutboundResponse>;

/**
 * Makes the fetch for one policy. It holds no connections.
 * @throws TypeError for an entry of `allowedHosts` that is malformed
 */
export function createGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const admit = createAdmission(options);
  // Reading all certificates takes some milliseconds.
  const secureContext = options.ca === undefined ? undefined : createSecureContext({ ca: options.ca });
  const means: Means = { admit, secureContext, gate: options.gate };
  return async (url, request) => {
    const hop = firstHop(url, request);
    const deadline = new AbortController();
    // Each hop listens until its socket is closed, which may be some hops later.
    setMaxListeners(0, deadline.signal);
    const late = new OutboundError('timeout', `${hop.url.host} took longer than ${request.timeoutMs} ms.`);
    const timer = setTimeout(() => deadline.abort(late), request.timeoutMs);
    const end = (): void =>
      deadline.abort(new OutboundError('timeout', `The request to ${hop.url.host} was called off.`));
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
  if (!URL.canParse(String(given))) throw new OutboundError('scheme', 'What is to be fetched is no absolute URL.');
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
  readonly admit: Admission;
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
        throw new OutboundError('redirects', `${first.url.host} redirects more than ${request.maxRedirects} times.`);
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
