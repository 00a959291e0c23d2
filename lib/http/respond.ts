/** Writes responses to Node's response object. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { lws } from '../rdf/vocabulary.js';
import { interruptedRead } from '../storage/level/durable-level.js';
import { formatLink } from '../tools/fields/link.js';
import type { AppContext } from './app-context.js';
import { withCoding } from './content-coding.js';
import { withDigests } from './digests.js';
import type { Step } from './exchange.js';
import { breakOff, endUnread, hangUp, hasBody, isHttp2 } from './http2.js';
import { prefersPage } from './negotiate.js';
import { describedProblem, problemReply } from './problem.js';
import { problemPage } from './problem-page.js';
import type { Fields, Reply } from './reply.js';
import { ClientGone, expectsContinue } from './request.js';

/**
 * Writes the reply of the downstream middleware, or a problem document if it threw, with the fields of every response. Replaces
 * koa's response handling.
 */
export function replyWriter({
  storage,
  hstsSeconds,
  idleMs,
  challenge,
  pages,
  hasPages = pages !== undefined,
}: Pick<AppContext, 'hstsSeconds' | 'idleMs' | 'challenge' | 'pages'> & {
  /** Storage of the request. Absent if the request belongs to no storage. */
  readonly storage?: Pick<AppContext['storage'], 'rootIri' | 'keepsVersions'> | undefined;
  /** True to send problems to browsers as HTML. Default: true if there are pages to link to. */
  readonly hasPages?: boolean;
}): Step {
  const fixed = {
    // Rule 10.2: every response links to its storage. Responses for resources have other Link values.
    ...(storage ? { Link: formatLink(storage.rootIri, lws.storage) } : {}),
    ...(hstsSeconds > 0 ? { 'Strict-Transport-Security': `max-age=${hstsSeconds}` } : {}),
  };
  // RFC 7089 2.1.2. Nonexistent resources have the field, too: their responses must equal those of masked resources.
  const varying = Object.assign({}, fixed, { Vary: 'Accept-Datetime' });
  return async (ctx, next) => {
    const { req, res } = ctx;
    const { exchange } = ctx.state;
    ctx.respond = false;
    try {
      await next();
      const coded = withCoding(req, exchange.reply!);
      exchange.reply = withDigests(req, coded instanceof Promise ? await coded : coded);
    } catch (error) {
      exchange.failure = interruptedRead(error);
      const problem = problemReply(exchange.failure, exchange.id, challenge);
      const described = describedProblem(problem, exchange.failure, req.headers.accept);
      const isPage = hasPages && prefersPage(req, [String(described.fields['Content-Type'])]);
      exchange.reply = isPage
        ? problemPage(problem, storage && pages && { pages, rootIri: storage.rootIri, path: exchange.path })
        : described;
    }
    if (exchange.failure instanceof ClientGone) return void res.destroy();
    try {
      const common = storage?.keepsVersions?.() ? varying : fixed;
      const streaming = respond(req, res, exchange.reply!, exchange.cors ? merged(exchange.cors, common) : common);
      // Most responses over HTTP/1.1 are already sent here.
      endUnread(res, idleMs);
      if (streaming) await streaming;
    } catch (error) {
      exchange.failure = error;
      res.destroy();
    }
  };
}

/** Time during which a rejected upload may continue, in milliseconds, so that the client reads the response. */
const lingerMs = 5_000;

/** Maximum size of a body sent together with the fields, and of the pieces that show progress over HTTP/2, in bytes. */
const [onePieceBytes, pieceBytes] = [16 << 10, 64 << 10];

function* piecesOf(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += pieceBytes) yield body.subarray(at, at + pieceBytes);
}

/** Writes a reply. A disconnected client is not an error. @returns a promise that resolves when a stream is handed over, undefined otherwise */
function respond(req: IncomingMessage, res: ServerResponse, reply: Reply, common: Fields): Promise<void> | undefined {
  const { status, body } = reply;
  const isStream = body !== undefined && !Buffer.isBuffer(body);
  let fields = allFields(reply, common);
  if (!req.complete && hasBody(req)) {
    // Without 100 (Continue), the client may not send the body, and the server would read the next request as the body.
    if (expectsContinue(req) && !isHttp2(req)) fields = { ...fields, Connection: 'close' };
    endUnreadBody(req, res);
  }
  res.writeHead(status, fields as Record<string, string | string[]>);
  if (req.method === 'HEAD' || body === undefined) {
    if (isStream) (body as Readable).destroy();
    res.end();
  } else if (isStream) return streamBody(body as Readable, res);
  // Node sends a latin1 string together with the header section, but a Buffer separately.
  else if (body.length <= onePieceBytes) res.end((body as Buffer).toString('latin1'), 'latin1');
  else if (isHttp2(req) && body.length > pieceBytes) return streamBody(Readable.from(piecesOf(body)), res);
  else res.end(body);
  return undefined;
}

/** Merges fields with common fields. Fields of the reply take precedence, but both values of `Vary` are kept. */
function merged(own: Fields, common: Fields): Record<string, string | readonly string[]> {
  const fields: Record<string, string | readonly string[]> = Object.assign({}, common, own);
  if (common['Vary'] !== undefined && own['Vary'] !== undefined) fields['Vary'] = `${own['Vary']}, ${common['Vary']}`;
  return fields;
}

/** Merged fields of cached replies. */
const combined = new WeakMap<Reply, { common: Fields; fields: Fields }>();

function allFields(reply: Reply, common: Fields): Fields {
  const { status, body } = reply;
  const isKept = status === 304 || (status === 200 && Buffer.isBuffer(body));
  const known = isKept ? combined.get(reply) : undefined;
  if (known?.common === common) return known.fields;
  // Spreads would create a hidden class for each object (CONTRIBUTING.md).
  const fields = merged(reply.fields, common);
  const isOfUnknownLength = body === undefined && fields['Content-Encoding'] !== undefined; // HEAD of a coded stream
  if ((body === undefined || Buffer.isBuffer(body)) && status !== 204 && status !== 304 && !isOfUnknownLength)
    fields['Content-Length'] ??= String(body?.length ?? 0);
  if (isKept) combined.set(reply, { common, fields });
  return fields;
}

/** If the response ends before the request body, accepts the rest for a while, then closes the connection. */
function endUnreadBody(req: IncomingMessage, res: ServerResponse): void {
  res.once('finish', () => {
    if (req.complete) return;
    const timer = setTimeout(() => hangUp(req), lingerMs);
    timer.unref();
    req.once('close', () => clearTimeout(timer));
  });
}

async function streamBody(body: Readable, res: ServerResponse): Promise<void> {
  const reset = (): void => breakOff(res);
  body.once('error', reset);
  // The body may have failed before the listener was added.
  if (body.errored) reset();
  try {
    await pipeline(body, res);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE') return;
    throw error;
  }
}
