/**
 * One exchange: connects to given addresses, sends one request, reads one response, closes the connection. No resolver, proxy,
 * cookies or cache.
 */
import { isIP, type LookupFunction, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { buildConnector, Client, type Dispatcher } from 'undici';
import { errorCode, OutboundError } from './outbound-error.js';
import type { Hop } from './redirect.js';

interface ExchangeOptions {
  /** Addresses to connect to, tried in order. */
  readonly addresses: readonly string[];
  /** Time limit for TCP and TLS together. */
  readonly connectTimeoutMs: number;
  /** Aborts the exchange, which then throws the reason of the signal. */
  readonly signal: AbortSignal;
  /** Trusted authorities. Default: the authorities of Node.js. */
  readonly secureContext: SecureContext | undefined;
}

/** Maximum bytes of status line and fields, including trailers; also Node's default. */
const maxHeaderSize = 16_384;
/** Maximum number of interim responses (1xx). */
const maxInterim = 16;
/** Time to connect to an address before the next address is tried, in milliseconds. */
const attemptTimeout = 1000;

// Fields of the connection or the client, which a caller cannot set.
const ownFields: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'cookie',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Sends a request and waits for the response header. The caller closes the response.
 * @throws OutboundError `connect`, `timeout`, `protocol`, and `too-large` for fields above 16 KiB
 */
export async function exchange(hop: Hop, options: ExchangeOptions): Promise<Answer> {
  options.signal.throwIfAborted();
  const client = openClient(hop.url, options);
  let connected = false;
  client.once('connect', () => {
    connected = true;
  });
  const place = `${hop.url.host} (${options.addresses.join(', ')})`;
  const refuse = (error: unknown): unknown => refusal(error, place, connected);
  const close = (): void => {
    client.destroy().catch(() => undefined);
  };
  try {
    const answer = await client.request(requestOf(hop, options.signal, place));
    return answerOf(answer, place, refuse, close);
  } catch (error) {
    close();
    throw refuse(error);
  }
}

function openClient(url: URL, { addresses, connectTimeoutMs, signal, secureContext }: ExchangeOptions): Client {
  const open = buildConnector({
    lookup: pinned(addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: attemptTimeout,
    maxCachedSessions: 0,
    timeout: 0,
    ...(secureContext === undefined ? {} : { secureContext }),
  }) as (...given: Parameters<buildConnector.connector>) => Socket;
  const connect: buildConnector.connector = (target, done) => {
    const socket = open(target, done);
    const late = new OutboundError('timeout', `Connecting to ${url.host} took longer than ${connectTimeoutMs} ms.`);
    const timer = setTimeout(() => socket.destroy(late), connectTimeoutMs);
    // A destroyed client does not close a socket that is still connecting.
    const abort = (): void => void socket.destroy(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => clearTimeout(timer));
    socket.once('close', () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    });
  };
  // Without pipelining, undici sends `Connection: close`, so that each request has its own admission check.
  return new Client(url.origin, { connect, pipelining: 0, maxHeaderSize, headersTimeout: 0, bodyTimeout: 0 });
}

/** Creates a resolver that returns the checked addresses only. */
function pinned(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, options, callback) =>
    options.all ? callback(null, all) : callback(null, all[0]!.address, all[0]!.family);
}

function requestOf(hop: Hop, signal: AbortSignal, place: string): Dispatcher.RequestOptions {
  const given = Object.entries(hop.headers).filter(([name]) => !ownFields.has(name));
  let interim = 0;
  return {
    method: hop.method,
    path: hop.url.pathname + hop.url.search,
    // Responses are never decoded, so a small body cannot expand beyond the byte limit.
    headers: {
      'user-agent': 'Quadpod',
      ...Object.fromEntries(given),
      accept: hop.accept,
      'accept-encoding': 'identity',
    },
    body: hop.body ?? null,
    signal,
    onInfo: () => {
      if (++interim > maxInterim) throw new OutboundError('protocol', `${place} sends too many interim responses.`);
    },
  };
}

/** Converts an undici error to an `OutboundError`. A programming error (a field with a line break) is returned unchanged. */
function refusal(error: unknown, place: string, connected: boolean): unknown {
  if (error instanceof OutboundError) return error;
  const code = errorCode(error);
  if (code === 'UND_ERR_INVALID_ARG') return error;
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return new OutboundError('too-large', `The fields of ${place} are larger than ${maxHeaderSize} bytes.`);
  return connected
    ? new OutboundError('protocol', `${place} does not respond in HTTP or closed the connection (${code}).`)
    : new OutboundError('connect', `Cannot connect to ${place} (${code}).`);
}

/** A response with an unread body. */
export interface Answer {
  readonly status: number;
  /** Fields by lower-case name. Repeated fields are joined by commas (RFC 9110 5.3). */
  readonly headers: Readonly<Record<string, string>>;
  /** Reads the whole body. @throws OutboundError `too-large`, `timeout`, and `protocol` if it is incomplete or encoded */
  read(maxBytes: number): Promise<Buffer>;
  /** Reads and discards up to `maxBytes`. Never throws. */
  discard(maxBytes: number): Promise<void>;
  close(): void;
}

/** Returns the response. @param place host and addresses, for messages @param refuse converts undici's errors */
function answerOf(
  data: Dispatcher.ResponseData,
  place: string,
  refuse: (error: unknown) => unknown,
  close: () => void,
): Answer {
  const headers = fieldsOf(data);
  const body: AsyncIterable<Buffer> = data.body;
  // Without this listener, errors of an unread body would be uncaught.
  data.body.on('error', () => undefined);
  return {
    status: data.statusCode,
    headers,
    async read(maxBytes) {
      requireIdentity(headers, place);
      if (Number(headers['content-length']) > maxBytes) throw tooLarge(place, maxBytes);
      try {
        return await collect(body, maxBytes, place);
      } catch (error) {
        throw refuse(error);
      }
    },
    discard: (maxBytes) => forget(body, maxBytes),
    close,
  };
}

function fieldsOf({ headers }: Dispatcher.ResponseData): Record<string, string> {
  // No prototype: the other server chooses the names, for example `__proto__`.
  const fields: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) fields[name] = Array.isArray(value) ? value.join(', ') : value;
  return fields;
}

/** Rejects a content coding other than `identity`, because a small body could expand (RFC 9110 12.5.3). */
function requireIdentity(headers: Readonly<Record<string, string>>, place: string): void {
  const coding = headers['content-encoding']?.trim().toLowerCase() || 'identity';
  if (coding !== 'identity')
    throw new OutboundError('protocol', `${place} sent an encoded response although only identity is accepted.`);
}

async function collect(body: AsyncIterable<Buffer>, maxBytes: number, place: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(place, maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

async function forget(body: AsyncIterable<Buffer>, maxBytes: number): Promise<void> {
  let size = 0;
  try {
    for await (const chunk of body) {
      size += chunk.length;
      if (size >= maxBytes) break;
    }
  } catch {
    // The status is known; errors of the body do not matter.
  }
}

const tooLarge = (place: string, maxBytes: number): OutboundError =>
  new OutboundError('too-large', `The response of ${place} has more than ${maxBytes} bytes.`);
