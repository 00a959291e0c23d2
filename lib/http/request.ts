/** Reading a request's head and body into the nouns of the house. It must not decide anything. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { LwsError } from '../errors.js';
import { parseHttpDate } from '../fields/date.js';
import { parseDigests } from '../fields/digest.js';
import { type EntityTag, parseEntityTags } from '../fields/etag.js';
import { type Link, parseLinks } from '../fields/link.js';
import { longestEcho, parseMediaType } from '../fields/media-type.js';
import { type Preference, parsePrefer } from '../fields/prefer.js';
import { type RequestBody, tooLarge } from '../resources/body.js';
import type { Preconditions } from '../resources/preconditions.js';
import { hasBody, isCancelled, onClosed } from './http2.js';

/** A field's value; repeated fields are one list (RFC 9110 5.2). */
export function field(req: IncomingMessage, name: string): string | undefined {
  const value = req.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/**
 * The preconditions of a request. A malformed tag list is refused where it guards a write, since without it the write
 * would be unconditional; on reads, and for malformed dates, the field is ignored (RFC 9110 13.1.3).
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
      throw new LwsError('bad-request', `${name} is neither * nor a list of entity tags, which have quotes: "x".`);
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

/** The links of the request's Link fields. @throws LwsError `bad-request` for a malformed field */
export function requestLinks(req: IncomingMessage): readonly Link[] {
  const value = field(req, 'link');
  const links = value === undefined ? [] : parseLinks(value);
  if (!links) throw new LwsError('bad-request', 'The Link field is malformed (RFC 8288).');
  return links;
}

/** The preferences of the request (RFC 7240). */
export const preferences = (req: IncomingMessage): ReadonlyMap<string, Preference> =>
  parsePrefer(field(req, 'prefer') ?? '');

/**
 * The body of a request, to be read or not.
 * @param idleMs how long the client may send nothing
 * @throws LwsError `bad-request` for a malformed Content-Type, `digest-mismatch` for a malformed Content-Digest
 */
export function requestBody(req: IncomingMessage, res: ServerResponse, idleMs: number): RequestBody {
  const contentType = req.headers['content-type'] ?? 'application/octet-stream';
  const parsed = parseMediaType(contentType);
  if (!parsed || parsed.essence.includes('*')) throw new LwsError('bad-request', 'The Content-Type is malformed.');
  assertReadable('Content-Type', contentType);
  if (req.headers['content-encoding'] !== undefined && req.headers['content-encoding'] !== 'identity')
    throw new LwsError('unsupported-media-type', 'A Content-Encoding is not accepted; send the content as it is.', {
      fields: { 'Accept-Encoding': 'identity' },
    });
  const digestField = field(req, 'content-digest');
  const digests = digestField === undefined ? new Map() : parseDigests(digestField);
  if (!digests) throw new LwsError('digest-mismatch', 'The Content-Digest field is malformed (RFC 9530).');
  const length = req.headers['content-length'];
  return {
    length: length !== undefined ? Number(length) : hasBody(req) ? undefined : 0,
    mediaType: parsed.essence,
    contentType,
    digests,
    chunks: () => chunks(req, res, idleMs),
    collect: (limit, setting) => collect(req, res, { idleMs, limit, setting }),
  };
}

/** @throws LwsError `bad-request` for a value that answers would repeat and clients could not read */
export function assertReadable(name: string, value: string): void {
  if (value.length > longestEcho)
    throw new LwsError('bad-request', `The value of ${name} may be ${longestEcho} characters long.`);
}

/** Longest body, in bytes, whose arrival has a time limit in all, and that limit in milliseconds. */
const [smallBody, smallBodyMs] = [256 << 10, 30_000];

/** Requests whose bodies are not read to their end, and what makes the read of each fail. */
const interrupted = new WeakMap<IncomingMessage, LwsError>();
const readings = new WeakMap<IncomingMessage, (error: LwsError) => void>();

/** Makes the read of a request body fail, now or when it begins. */
export function interruptBody(req: IncomingMessage, error: LwsError): void {
  interrupted.set(req, error);
  readings.get(req)?.(error);
}

/** Whoever sends so much is trusted with the memory for as much as it has announced, within the limit. */
const longBody = 1 << 20;

interface Collecting {
  readonly idleMs: number;
  readonly limit: number;
  readonly setting: string | undefined;
}

/** The whole body, which is what most requests have: without the iterator and the timer per chunk of `chunks`. */
function collect(req: IncomingMessage, res: ServerResponse, { idleMs, limit, setting }: Collecting): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    assertWanted(req);
    askFor(req, res);
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
      // Pieces of a long body are put together as they come, so that it is in memory once.
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
      // Later errors of the connection have nobody to tell.
      req.on('error', () => {});
      finish();
    };
    req.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
  });
}

async function* chunks(req: IncomingMessage, res: ServerResponse, idleMs: number): AsyncGenerator<Uint8Array> {
  askFor(req, res);
  // The default iterator would destroy the socket when a refusal ends the loop, and with it the answer.
  const iterator = req.iterator({ destroyOnReturn: false });
  // One for all chunks; whoever takes them may take longer.
  let fail = (_error: LwsError): void => {};
  const timer = setTimeout(() => fail(tooSlow(idleMs)), idleMs);
  readings.set(req, (error) => fail(error));
  const inTime = (): Promise<IteratorResult<Buffer>> =>
    new Promise((resolve, reject) => {
      fail = reject;
      timer.refresh();
      (iterator.next() as Promise<IteratorResult<Buffer>>).then(resolve, reject);
    });
  try {
    for (;;) {
      assertWanted(req);
      const next = await inTime();
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
    // Not awaited: after a chunk that never comes it would never end.
    iterator.return?.().catch(() => {});
  }
}

/** @throws LwsError after `interruptBody` */
function assertWanted(req: IncomingMessage): void {
  const error = interrupted.get(req);
  if (error) throw error;
}

/** RFC 9110 10.1.1: the client may wait until we have decided that we want the body. */
function askFor(req: IncomingMessage, res: ServerResponse): void {
  if (req.readableDidRead)
    throw new Error(
      'The body was read before the request came here: nothing in front of the storage may parse bodies.',
    );
  if (expectsContinue(req)) res.writeContinue();
}

/** Whether the client waits for a 100 (Continue); other expectations, and all of HTTP/1.0, are ignored (RFC 9110 10.1.1). */
export const expectsContinue = ({ headers, httpVersion }: IncomingMessage): boolean =>
  httpVersion !== '1.0' && /\b100-continue\b/i.test(headers.expect ?? '');

const tooSlow = (idleMs: number): LwsError =>
  new LwsError('request-timeout', `Nothing of the body arrived for ${idleMs / 1000} seconds.`);
const tooLate = (): LwsError =>
  new LwsError('request-timeout', `The request body timed out: it is not complete after ${smallBodyMs / 1000} s.`);

/** Aborts when the client goes away before it has an answer; to be released, since connections outlive requests. */
export function whenGone(req: IncomingMessage): { readonly signal: AbortSignal; readonly release: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, release: onClosed(req, () => controller.abort()) };
}

/** The client closed the connection before its request was complete: there is nobody to answer. */
export class ClientGone extends Error {
  constructor(cause: unknown) {
    super('The client went away before its request was complete.', { cause });
  }
}
