/** Writing answers to the wire. It knows Node's response. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { formatLink } from '../fields/link.js';
import { lws } from '../rdf/vocabulary.js';
import { interruptedRead } from '../storage/level/durable-level.js';
import type { AppContext } from './app-context.js';
import { withDigests } from './digests.js';
import type { Step } from './exchange.js';
import { breakOff, endUnread, hangUp, hasBody, isHttp2 } from './http2.js';
import { problemPage, problemReply } from './problem.js';
import type { Fields, Reply } from './reply.js';
import { ClientGone, expectsContinue } from './request.js';

/**
 * Writes the answer that the later steps came to, or the problem document of what they throw, with the fields of every answer. koa
 * writes nothing.
 */
export function replyWriter({
  storage,
  hstsSeconds,
  idleMs,
  challenge,
  hasPages = false,
}: Pick<AppContext, 'hstsSeconds' | 'idleMs' | 'challenge'> & {
  /** Absent: no storage is asked. */
  readonly storage?: Pick<AppContext['storage'], 'rootIri'> | undefined;
  /** Browsers get problems as HTML: there is no console that could show them. */
  readonly hasPages?: boolean;
}): Step {
  const fixed = {
    // rule 10.2: every answer says which storage it is of; those of resources say more in their own Link.
    ...(storage ? { Link: formatLink(storage.rootIri, lws.storage) } : {}),
    ...(hstsSeconds > 0 ? { 'Strict-Transport-Security': `max-age=${hstsSeconds}` } : {}),
  };
  return async (ctx, next) => {
    const { req, res } = ctx;
    const { exchange } = ctx.state;
    ctx.respond = false;
    try {
      await next();
      exchange.reply = withDigests(req, exchange.reply!);
    } catch (error) {
      exchange.failure = interruptedRead(error);
      const problem = problemReply(exchange.failure, exchange.id, challenge);
      exchange.reply = hasPages ? problemPage(problem, req.headers.accept) : problem;
    }
    if (exchange.failure instanceof ClientGone) return void res.destroy();
    endUnread(res, idleMs);
    try {
      const streaming = respond(req, res, exchange.reply!, exchange.cors ? { ...fixed, ...exchange.cors } : fixed);
      if (streaming) await streaming;
    } catch (error) {
      exchange.failure = error;
      res.destroy();
    }
  };
}

/** Milliseconds that a refused upload may continue arriving, so that the client gets to read the answer. */
const lingerMs = 5_000;

const onePieceBytes = 16 << 10;

/**
 * Writes a reply. A client that went away is not an error.
 * @returns what resolves when a stream is handed over; anything else is
 */
function respond(req: IncomingMessage, res: ServerResponse, reply: Reply, common: Fields): Promise<void> | undefined {
  const { status, body } = reply;
  const isStream = body !== undefined && !Buffer.isBuffer(body);
  let fields = allFields(reply, common);
  if (!req.complete && hasBody(req)) {
    // Without a 100 (Continue) the client need not send the body, and what comes next would be taken for it.
    if (expectsContinue(req) && !isHttp2(req)) fields = { ...fields, Connection: 'close' };
    endUnreadBody(req, res);
  }
  res.writeHead(status, fields as Record<string, string | string[]>);
  if (req.method === 'HEAD' || body === undefined) {
    if (isStream) (body as Readable).destroy();
    res.end();
  } else if (isStream) return streamBody(body as Readable, res);
  // As a string of one byte a character it goes out in one piece with the header, which a Buffer does not.
  else if (body.length <= onePieceBytes) res.end((body as Buffer).toString('latin1'), 'latin1');
  else res.end(body);
  return undefined;
}

/** Answers that are made once per state are put together with the fields of every answer once, too. */
const combined = new WeakMap<Reply, { common: Fields; fields: Fields }>();

function allFields(reply: Reply, common: Fields): Fields {
  const { status, body } = reply;
  const isKept = status === 304 || (status === 200 && Buffer.isBuffer(body));
  const known = isKept ? combined.get(reply) : undefined;
  if (known?.common === common) return known.fields;
  const fields: Record<string, string | readonly string[]> = { ...common, ...reply.fields };
  if (common['Vary'] !== undefined && reply.fields['Vary'] !== undefined)
    fields['Vary'] = `${reply.fields['Vary']}, ${common['Vary']}`;
  if ((body === undefined || Buffer.isBuffer(body)) && status !== 204 && status !== 304)
    fields['Content-Length'] ??= String(body?.length ?? 0);
  if (isKept) combined.set(reply, { common, fields });
  return fields;
}

/** The answer comes before the end of the request's body: let the rest arrive for a while, then hang up. */
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
  // It may have broken off before anybody listened.
  if (body.errored) reset();
  try {
    await pipeline(body, res);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE') return;
    throw error;
  }
}
