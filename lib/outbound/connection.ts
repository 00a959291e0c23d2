/**
 * One exchange: a connection to given addresses, one request, one answer, and the connection is gone. It has no resolver, no proxy, no
 * cookies and no cache.
 */
import { isIP, type LookupFunction, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { buildConnector, Client, type Dispatcher } from 'undici';
import { errorCode, OutboundError } from './outbound-error.js';
import type { Hop } from './redirect.js';

interface ExchangeOptions {
  /** The addresses that may be connected to, tried in turn. */
  readonly addresses: readonly string[];
  /** For TCP and TLS together. */
  readonly connectTimeoutMs: number;
  /** Ends everything; its reason is what is thrown. */
  readonly signal: AbortSignal;
  /** Whom to trust; absent: the system's authorities. */
  readonly secureContext: SecureContext | undefined;
}

/** Bytes of status line and fields, trailers too; also the default of Node. */
const maxHeaderSize = 16_384;
/** Interim answers (1xx) that a final one may have before it. */
const maxInterim = 16;
/** How long one of several addresses is tried before the next one, in milliseconds. */
const attemptTimeout = 1000;

// Fields that belong to the connection or to the client, not to the caller.
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
 * Sends one request and waits for the fields of the answer; the caller closes the answer.
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
    return answerOf(answer, { place, refuse, close });
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
    // A client that is destroyed leaves a socket alone that is still connecting.
    const abort = (): void => void socket.destroy(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => clearTimeout(timer));
    socket.once('close', () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    });
  };
  // No pipelining means `Connection: close`: what was checked for one request serves no other one.
  return new Client(url.origin, { connect, pipelining: 0, maxHeaderSize, headersTimeout: 0, bodyTimeout: 0 });
}

/** A resolver for the socket that knows only what has been checked. */
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
    // Nothing is ever decoded, so the cap on bytes cannot be passed by a small body that unpacks to a large one.
    headers: {
      'user-agent': 'Quadpod',
      ...Object.fromEntries(given),
      accept: hop.accept,
      'accept-encoding': 'identity',
    },
    body: hop.body ?? null,
    signal,
    onInfo: () => {
      if (++interim > maxInterim) throw new OutboundError('protocol', `${place} sends interim answers without end.`);
    },
  };
}

/** The package's error as one of ours; a mistake of the caller (a header field with a line break) stays what it is. */
function refusal(error: unknown, place: string, connected: boolean): unknown {
  if (error instanceof OutboundError) return error;
  const code = errorCode(error);
  if (code === 'UND_ERR_INVALID_ARG') return error;
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return new OutboundError('too-large', `The fields of ${place} are larger than ${maxHeaderSize} bytes.`);
  return connected
    ? new OutboundError('protocol', `${place} does not answer in HTTP, or breaks off (${code}).`)
    : new OutboundError('connect', `${place} cannot be connected to (${code}).`);
}

/** An answer whose body is still on its way. */
export interface Answer {
  readonly status: number;
  /** By lower-case name; what is repeated is joined by commas (RFC 9110 5.3). */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The whole body.
   * @throws OutboundError `too-large`, `timeout`, and `protocol` when it is broken off or encoded
   */
  read(maxBytes: number): Promise<Buffer>;
  /** Reads up to so many bytes and forgets them; never throws. */
  discard(maxBytes: number): Promise<void>;
  /** Drops the connection, whatever is still to come. */
  close(): void;
}

/** What an answer has from its connection. */
interface AnswerSource {
  /** The host and its addresses, for messages. */
  readonly place: string;
  /** Turns the package's errors into ours. */
  readonly refuse: (error: unknown) => unknown;
  readonly close: () => void;
}

function answerOf(data: Dispatcher.ResponseData, { place, refuse, close }: AnswerSource): Answer {
  const headers = fieldsOf(data);
  const body: AsyncIterable<Buffer> = data.body;
  // A body that nobody reads may fail too, and nobody would catch that.
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
  // Without a prototype: the names are the other side's choice, `__proto__` among them.
  const fields: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) fields[name] = Array.isArray(value) ? value.join(', ') : value;
  return fields;
}

/** RFC 9110 12.5.3: we accept `identity` alone, so a coding is a mistake, or a small body that unpacks to a large one. */
function requireIdentity(headers: Readonly<Record<string, string>>, place: string): void {
  const coding = headers['content-encoding']?.trim().toLowerCase() || 'identity';
  if (coding !== 'identity') throw new OutboundError('protocol', `${place} encodes its answer though asked not to.`);
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
    // The status has been given; how the body ends does not matter.
  }
}

const tooLarge = (place: string, maxBytes: number): OutboundError =>
  new OutboundError('too-large', `The answer of ${place} is larger than ${maxBytes} bytes.`);
