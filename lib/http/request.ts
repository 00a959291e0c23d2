/** Parses the header section and body of a request. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { type RequestBody, tooLarge } from '../resources/body.js';
import type { Preconditions } from '../resources/preconditions.js';
import { LwsError } from '../tools/errors.js';
import { parseHttpDate } from '../tools/fields/date.js';
import { parseDigests } from '../tools/fields/digest.js';
import { type EntityTag, parseEntityTags } from '../tools/fields/etag.js';
import { type Link, parseLinks } from '../tools/fields/link.js';
import { longestEcho, parseMediaType } from '../tools/fields/media-type.js';
import { type Preference, parsePrefer } from '../tools/fields/prefer.js';
import { type BodySender, codingOf, decodedBody } from './coded-body.js';
import { hasBody, isCancelled, isHttp2, onClosed } from './http2.js';

/** Returns the value of a field. A repeated field is joined to one list (RFC 9110 5.2). */
export function field(req: IncomingMessage, name: string): string | undefined {
  const value = req.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/**
 * Returns the preconditions of a request. For a write, a malformed tag list is an error, since ignoring it would make the write
 * unconditional. For reads, and for malformed dates, the field is ignored (RFC 9110 13.1.3).
 * @throws LwsError `bad-request`
 */
export function preconditions(req: IncomingMessage): Preconditions {
  const { headers } = req;
  const isRead = req.method === 'GET' || req.method === 'HEAD';
  const tags = (name: 'if-match' | 'if-none-match'): '*' | readonly EntityTag[] | undefined => {
    const value = headers[name];
    if (value === undefined) return undefined;
    const parsed = parseEntityTags(value);
    if (!parsed && !isRead)
      throw new LwsError('bad-request', `${name} must be * or a list of entity tags in quotes: "x".`);
    return parsed;
  };
  const date = (value: string | undefined): number | undefined =>
    value === undefined ? undefined : parseHttpDate(value);
  return {
    ifMatch: tags('if-match'),
    ifNoneMatch: tags('if-none-match'),
    ifModifiedSince: date(headers['if-modified-since']),
    ifUnmodifiedSince: date(headers['if-unmodified-since']),
  };
}

/** Returns the links of the request's Link fields. @throws LwsError `bad-request` for a malformed field */
export function requestLinks(req: IncomingMessage): readonly Link[] {
  const value = field(req, 'link');
  const links = value === undefined ? [] : parseLinks(value);
  if (!links) throw new LwsError('bad-request', 'The Link field is malformed (RFC 8288).');
  return links;
}

/** Returns the preferences of the request (RFC 7240). */
export const preferences = (req: IncomingMessage): ReadonlyMap<string, Preference> =>
  parsePrefer(field(req, 'prefer') ?? '');

/**
 * Returns the unread body of a request.
 * @param sender `idleMs` is its maximum pause; `caller` is called for bodies with a content coding
 * @throws LwsError `bad-request` for a malformed Content-Type, `unsupported-media-type` for a content coding that is not supported,
 * `digest-mismatch` for a malformed Content-Digest
 */
export function requestBody(
  req: IncomingMessage,
  res: ServerResponse,
  { idleMs, caller }: Pick<BodySender, 'caller'> & { readonly idleMs: number },
): RequestBody {
  const contentType = req.headers['content-type'] ?? 'application/octet-stream';
  const parsed = parseMediaType(contentType);
  if (!parsed || parsed.essence.includes('*')) throw new LwsError('bad-request', 'The Content-Type is malformed.');
  assertReadable('Content-Type', contentType);
  const coding = codingOf(req);
  const digestField = field(req, 'content-digest');
  const digests = digestField === undefined ? new Map() : parseDigests(digestField);
  if (!digests) throw new LwsError('digest-mismatch', 'The Content-Digest field is malformed (RFC 9530).');
  const length = req.headers['content-length'];
  const body = {
    length: length !== undefined ? Number(length) : hasBody(req) ? undefined : 0,
    mediaType: parsed.essence,
    contentType,
    digests,
    chunks: () => chunks(req, res, idleMs, coding ? (idleMs / 1000) * minRate : 1),
    collect: (limit: number, setting?: string) => collect(req, res, { idleMs, limit, setting }),
  } satisfies RequestBody;
  if (!coding) return body;
  return decodedBody(body, coding, { caller, onEnd: (done) => void res.once('close', done) });
}

/** Asserts that a value can be repeated in a response. @throws LwsError `bad-request` if clients could not read the response */
export function assertReadable(name: string, value: string): void {
  if (value.length > longestEcho)
    throw new LwsError('bad-request', `The value of ${name} is too long. The limit is ${longestEcho} characters.`);
}

/** Maximum size of bodies with a total time limit, in bytes, and the time limit in milliseconds. */
const [smallBody, smallBodyMs] = [256 << 10, 30_000];

/** Errors of interrupted requests, and functions that reject a running read of a body. */
const interrupted = new WeakMap<IncomingMessage, LwsError>();
const readings = new WeakMap<IncomingMessage, (error: LwsError) => void>();

/** Rejects the read of a request body, now or when it starts. */
export function interruptBody(req: IncomingMessage, error: LwsError): void {
  interrupted.set(req, error);
  readings.get(req)?.(error);
}

/**
 * Count of received bytes from which the body is collected in a buffer of its Content-Length. A client cannot reserve this
 * memory without sending data.
 */
const longBody = 1 << 20;

interface Collecting {
  readonly idleMs: number;
  readonly limit: number;
  readonly setting: string | undefined;
}

/** Reads the complete body. Faster than `chunks`, since it needs no iterator and no timer per chunk. */
function collect(req: IncomingMessage, res: ServerResponse, { idleMs, limit, setting }: Collecting): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    assertWanted(req);
    askFor(req, res);
    // A small body usually arrives with the header section. Reading it without listeners and timers saves 10 µs.
    if (req.complete && !isHttp2(req)) {
      const bytes: Buffer = req.read() ?? Buffer.alloc(0);
      if (bytes.length > limit) reject(tooLarge(limit, setting));
      else resolve(bytes);
      return;
    }
    let received: Buffer[] = [];
    let size = 0;
    let whole: Buffer | undefined;
    const fail = (error: LwsError): void => settle(() => reject(error));
    readings.set(req, fail);
    const timer = setTimeout(() => fail(tooSlow(idleMs)), idleMs);
    const deadline = limit <= smallBody ? setTimeout(() => fail(tooLate()), smallBodyMs) : undefined;
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      timer.refresh();
      if (size > limit) {
        fail(tooLarge(limit, setting));
        return;
      }
      received.push(chunk);
      if (!whole && (size < longBody || req.headers['content-length'] === undefined)) return;
      // Chunks of a long body are copied to one buffer on arrival, so that memory contains the body only once.
      whole ??= Buffer.allocUnsafeSlow(Number(req.headers['content-length']));
      let at = size;
      for (const piece of received.reverse()) {
        at -= piece.length;
        whole.set(piece, at);
      }
      received = [];
    };
    const onEnd = (): void => {
      if (isCancelled(req)) onGone();
      else settle(() => resolve(whole ?? (received.length === 1 ? received[0]! : Buffer.concat(received))));
    };
    const onGone = (cause?: unknown): void => settle(() => reject(new ClientGone(cause)));
    const settle = (finish: () => void): void => {
      clearTimeout(timer);
      clearTimeout(deadline);
      readings.delete(req);
      req.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
      // Later errors of the connection are ignored.
      req.on('error', () => {});
      finish();
    };
    req.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
  });
}

/** Minimum rate of bodies that occupy a decoder, in bytes per second. */
const minRate = 1024;

/** Yields the chunks of a body. @param minBytes bytes that must arrive within `idleMs`, unless the body ends */
async function* chunks(
  req: IncomingMessage,
  res: ServerResponse,
  idleMs: number,
  minBytes: number,
): AsyncGenerator<Uint8Array> {
  askFor(req, res);
  // If an error ended the loop, the default iterator would destroy the socket, and no response could be sent.
  const iterator = req.iterator({ destroyOnReturn: false });
  // One timer for all chunks. It does not include the time in which the consumer handles a chunk.
  let fail = (_error: LwsError): void => {};
  const timer = setTimeout(() => fail(tooSlow(idleMs)), idleMs);
  readings.set(req, (error) => fail(error));
  const inTime = (): Promise<IteratorResult<Buffer>> =>
    new Promise((resolve, reject) => {
      fail = reject;
      timer.refresh();
      (iterator.next() as Promise<IteratorResult<Buffer>>).then(resolve, reject);
    });
  let [waited, received] = [0, 0];
  try {
    for (;;) {
      assertWanted(req);
      const began = performance.now();
      const next = await inTime();
      waited += performance.now() - began;
      received += next.value?.length ?? 0;
      if (received >= minBytes) [waited, received] = [0, 0];
      else if (waited > idleMs && !next.done) throw tooFew(minBytes, idleMs);
      if (next.done && isCancelled(req)) throw new ClientGone(undefined);
      if (next.done) return;
      yield next.value;
    }
  } catch (error) {
    if (error instanceof LwsError || error instanceof ClientGone) throw error;
    throw new ClientGone(error);
  } finally {
    clearTimeout(timer);
    readings.delete(req);
    // Not awaited: if no further chunk arrives, the promise never resolves.
    iterator.return?.().catch(() => {});
  }
}

/** Asserts that the request was not interrupted. @throws LwsError the error passed to `interruptBody` */
function assertWanted(req: IncomingMessage): void {
  const error = interrupted.get(req);
  if (error) throw error;
}

/** Sends 100 (Continue) if the client waits for it before sending the body (RFC 9110 10.1.1). */
function askFor(req: IncomingMessage, res: ServerResponse): void {
  if (req.readableDidRead)
    throw new Error('The body was read before the request reached the storage. Remove body parsers in front of it.');
  if (expectsContinue(req)) res.writeContinue();
}

/** True if the client waits for 100 (Continue). Other expectations, and HTTP/1.0, are ignored (RFC 9110 10.1.1). */
export const expectsContinue = ({ headers, httpVersion }: IncomingMessage): boolean =>
  httpVersion !== '1.0' && /\b100-continue\b/i.test(headers.expect ?? '');

const tooSlow = (idleMs: number): LwsError =>
  new LwsError(
    'request-timeout',
    `The request body timed out: no data for ${idleMs / 1000} s (lws.request-idle-seconds).`,
  );
const tooFew = (minBytes: number, idleMs: number): LwsError =>
  new LwsError(
    'request-timeout',
    `The compressed request body timed out: fewer than ${minBytes} bytes in ${idleMs / 1000} s. Send it faster, or unencoded.`,
  );
const tooLate = (): LwsError =>
  new LwsError('request-timeout', `The request body timed out: it is not complete after ${smallBodyMs / 1000} s.`);

/** Returns a signal that aborts with `ClientGone` on disconnect. Release it, since connections outlive requests. */
export function whenGone(req: IncomingMessage): { readonly signal: AbortSignal; readonly release: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, release: onClosed(req, () => controller.abort(new ClientGone(undefined))) };
}

/** Error if the client closed the connection before its request was complete. */
export class ClientGone extends Error {
  constructor(cause: unknown) {
    super('The client disconnected before its request was complete.', { cause });
  }
}
