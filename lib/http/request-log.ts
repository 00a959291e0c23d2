/** Writes the log line of a request, which is also the audit log of writes and rejected requests. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { decisionOf } from '../authorization/audit.js';
import { originForm } from '../resources/names.js';
import { LwsError } from '../tools/errors.js';
import { readTraceparent, type Trace } from '../tools/fields/traceparent.js';
import type { AppContext } from './app-context.js';
import type { Exchange, Step } from './exchange.js';
import { statusOf } from './problem.js';
import { ClientGone } from './request.js';
import type { Traffic } from './traffic.js';

type Logged = Pick<AppContext, 'log' | 'behindProxy' | 'onAnswered'>;

/** First middleware: assigns the request ID and writes a log line after the response. */
export const requestLogger =
  (appContext: Logged, traffic: Traffic): Step =>
  async (ctx, next) => {
    const { req } = ctx;
    // A mount (koa-mount, Express) removes its prefix from the target, but IRIs of the storage contain it.
    req.url = (req as { originalUrl?: string }).originalUrl ?? ctx.originalUrl;
    const uuid = randomUUID();
    const exchange: Exchange = {
      id: `urn:uuid:${uuid}`,
      startedAt: performance.now(),
      path: pathOf(req),
      route: 'other',
      trace: traceOf(req, uuid),
      access: {},
      reply: undefined,
      failure: undefined,
      cors: undefined,
    };
    ctx.state.exchange = exchange;
    traffic.begin();
    try {
      await next();
    } finally {
      traffic.end();
      logRequest(appContext, req, exchange);
    }
  };

/** Returns the host of an absolute-form target, otherwise of `:authority` or the Host field (RFC 9112 3.2.2). */
export const hostOf = ({ url = '', headers }: Pick<IncomingMessage, 'url' | 'headers'>): string =>
  String(/^https?:\/\/([^/?]*)/i.exec(url)?.[1] ?? headers[':authority'] ?? headers.host ?? '');

/** Returns the path of the request target, which may be in absolute form. */
export const pathOf = ({ url = '/' }: Pick<IncomingMessage, 'url'>): string => originForm(url).split('?', 1)[0]!;

/** Writes one line per request, without header fields, since these contain credentials. */
function logRequest(appContext: Logged, req: IncomingMessage, exchange: Exchange): void {
  const { id, startedAt, access, failure, reply, route, trace } = exchange;
  const took = performance.now() - startedAt;
  const ms = Math.round(took * 100) / 100;
  // Secrets are removed: tokens (RFC 6750 2.3), download tickets, and channel URLs, which are valid for a minute.
  const path = (req.url ?? '')
    .slice(0, 2000)
    .replace(/([?&](?:access_token|ticket)=|\/WebSocketChannel2023\/)[^&]*/gi, '$1...')
    .slice(0, 500);
  const { subject, client } = access.principal ?? {};
  // Audit log: every write, allowed or rejected, with the deciding rule.
  const line = {
    method: req.method,
    path,
    status: reply?.status,
    ms,
    id,
    subject,
    client,
  };
  Object.assign(line, decisionOf(access), reply?.logged);
  if (trace) Object.assign(line, { traceId: trace.traceId, spanId: trace.spanId, parentSpanId: trace.parentId });
  const status = statusAnswered(exchange);
  for (const tell of appContext.onAnswered) tell({ method: req.method ?? '', route, status, seconds: took / 1000 });
  if (failure === undefined) appContext.log.info(line);
  else if (failure instanceof LwsError)
    // Status 507 is a warning: the storage rejects all writes.
    appContext.log[line.status === 507 ? 'warn' : 'info']({
      ...line,
      status,
      code: failure.code,
      reason: failure.reason ?? failure.message,
      address: addressOf(appContext, req),
    });
  else if (failure instanceof ClientGone) appContext.log.info({ ...line, status, reason: failure.message });
  else appContext.log.error({ ...line, status, err: failure });
}

function statusAnswered({ failure, reply }: Exchange): number {
  // An aborted response is logged as failed, whatever its status.
  if (failure === undefined || (failure instanceof LwsError && (reply?.status ?? 0) >= 400))
    return reply?.status ?? 500;
  return failure instanceof ClientGone ? 499 : statusOf(failure);
}

/** Returns the trace context of a request. The span ID is part of the request ID. */
const traceOf = ({ headers: { traceparent } }: IncomingMessage, uuid: string): Trace | undefined =>
  traceparent === undefined ? undefined : readTraceparent(String(traceparent), uuid.replaceAll('-', '').slice(-16));

/** Returns the client address. */
export function addressOf({ behindProxy }: Pick<Logged, 'behindProxy'>, req: IncomingMessage): string | undefined {
  return (behindProxy && forwarded(req, 'x-forwarded-for')) || req.socket.remoteAddress;
}

/** Returns the last entry of a forwarding field. The proxy of this server adds it. Clients can send earlier entries. */
export const forwarded = (req: IncomingMessage, name: string): string =>
  String(req.headers[name] ?? '')
    .split(',')
    .at(-1)!
    .trim();
