/** Middleware before the response: authentication, requests without a credential, freshness, and requirements on the connection. */
import type { IncomingMessage } from 'node:http';
import { noteConnection } from '../authorization/client.js';
import type { Access } from '../authorization/principal.js';
import { LwsError } from '../tools/errors.js';
import { yieldInLine } from '../tools/event-loop.js';
import type { AppContext } from './app-context.js';
import type { Step } from './exchange.js';
import type { Reply } from './reply.js';
import { field, whenGone } from './request.js';
import { addressOf, forwarded, hostOf } from './request-log.js';
import { Traffic } from './traffic.js';

/** Count of pending requests up to which requests of unprivileged callers are not delayed. */
const fewPending = 16;

/** Delays the request of an unprivileged caller behind other requests, so that many such requests do not delay a controller. */
async function inTurn({ storage: { authorizer, store } }: AppContext, access: Access): Promise<void> {
  if ((await authorizer.callerClass(store, access)) === 'stranger') await yieldInLine();
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export const authentication =
  (appContext: AppContext): Step =>
  (ctx, next) => {
    const { req } = ctx;
    const { exchange } = ctx.state;
    const { origin, 'lws-purpose': purpose } = req.headers;
    const address = addressOf(appContext, req) ?? '';
    const establish = (asked: Access): Promise<void> => {
      const access: Mutable<Access> = Object.assign({}, asked);
      if (exchange.trace !== undefined) access.trace = exchange.trace;
      if (origin !== undefined) access.origin = origin;
      if (purpose !== undefined) access.purpose = String(purpose);
      noteConnection(access, { address, whenGone: () => whenGone(req) });
      exchange.access = access;
      appContext.onCaller?.(req, access);
      return Traffic.pending > fewPending && !appContext.isOpen ? inTurn(appContext, access).then(next) : next();
    };
    const asked = appContext.authenticator.authenticate({
      authorization: req.headers.authorization,
      proof: field(req, 'dpop'),
      method: req.method ?? 'GET',
      url: appContext.origin + exchange.path,
      address,
    });
    // Fast path without a promise: the caller is known synchronously.
    return asked instanceof Promise ? asked.then(establish) : establish(asked);
  };

/*
 * Protection of an open storage against other web sites: a page in a developer's browser can reach it too. DNS rebinding would
 * give a site the same origin, and a form needs no response to do harm.
 */

const loopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
const safe = new Set(['GET', 'HEAD', 'OPTIONS', 'QUERY']);

/** Rejects requests for another host, and cross-site writes except from listed origins. */
export function openMode({ isOpen, origin, cors }: AppContext): Step {
  if (!isOpen) return (_ctx, next) => next();
  const { host, hostname, protocol } = new URL(origin);
  // The last host is cached: nearly every request has the same host, and parsing takes as long as a middleware.
  let last = host;
  const isOurs = (asked: string): boolean => {
    if (asked === last) return true;
    const found = URL.canParse(`${protocol}//${asked}`) ? new URL(`${protocol}//${asked}`) : undefined;
    if (found === undefined || (found.host !== host && !loopback.test(found.hostname))) return false;
    last = asked;
    return true;
  };
  const isListed = (from: string): boolean => cors.allowedOrigins.includes('*') || cors.allowedOrigins.includes(from);
  return ({ req }, next) => {
    if (!isOurs(req.headers.host ?? host))
      throw new LwsError('misdirected-request', `This storage is open to all callers, but only at ${origin}.`);
    if (!safe.has(req.method!) && !(req.headers.origin && isListed(req.headers.origin)) && isOfOtherSite(req, hostname))
      throw new LwsError(
        'forbidden',
        'This storage is open, but not to pages of other sites. List their origins in lws.cors.allowed-origins.',
      );
    return next();
  };
}

/** Returns true if a browser sends the request for a page of another site. Other clients send none of these fields. */
function isOfOtherSite({ headers }: IncomingMessage, hostname: string): boolean {
  const appContext = headers['sec-fetch-site'];
  if (appContext !== undefined) return appContext === 'cross-site';
  const { origin } = headers;
  return origin !== undefined && !(URL.canParse(origin) && new URL(origin).hostname === hostname);
}

export function freshness({ storage: { store, rootIri, systemPrefix } }: AppContext): Step {
  // The liveness check does not depend on the database.
  const live = `${new URL(rootIri).pathname.slice(0, -1)}${systemPrefix}/health/live`;
  return ({ state }, next) => {
    const fresh = state.exchange.path === live ? undefined : store.coordination.freshen();
    return fresh ? fresh.then(next) : next();
  };
}

/** Rejects invalid requests and answers `OPTIONS *`. */
export const transportRules =
  (appContext: AppContext, traffic: Traffic): Step =>
  (ctx, next) => {
    const { req } = ctx;
    if (traffic.isClosed) throw new LwsError('too-busy', 'The storage is closing.');
    if (appContext.requireHttps && !isHttps(appContext, req))
      throw new LwsError('https-required', 'This server requires HTTPS.');
    assertFields(req);
    if (req.method !== 'OPTIONS' || req.url !== '*') {
      const { store } = appContext.storage;
      return store.isOpen ? next() : store.opened().then(next);
    }
    ctx.state.exchange.reply = optionsOfServer;
    return undefined;
  };

/** Asserts that fields are not repeated (RFC 9112 3.2, 6.1 and RFC 9110 11.6.2): Node would use the first value. */
function assertFields(req: IncomingMessage): void {
  const { headers, httpVersion, rawHeaders } = req;
  const authority = headers[':authority'];
  if (authority !== undefined) {
    // RFC 9113 8.3.1: Host and :authority must be equal. Otherwise, a proxy may have used the other value.
    if (headers.host !== undefined && headers.host !== authority)
      throw new LwsError('bad-request', 'The Host field differs from :authority.');
    headers.host = String(authority);
  }
  // Callers with write access can store scripts. A service worker script would intercept all requests of this origin's pages.
  if (headers['service-worker'] !== undefined)
    throw new LwsError('forbidden', 'Resources of this storage cannot be service worker scripts.');
  if (headers.host === undefined && httpVersion !== '1.0')
    throw new LwsError('bad-request', 'The request has no Host field.');
  for (const name of ['host', 'authorization'] as const) {
    let count = 0;
    for (let at = 0; at < rawHeaders.length; at += 2)
      if (rawHeaders[at]!.length === name.length && rawHeaders[at]!.toLowerCase() === name) count++;
    if (count > 1) throw new LwsError('bad-request', `The request has more than one ${name} field.`);
  }
  // Later middleware reads `headers.host`, so the host of an absolute-form target replaces it.
  const host = hostOf(req);
  if (host !== '') headers.host = host;
  if (host.includes('@'))
    throw new LwsError('bad-request', 'The request target contains user information. Send "http://host/path".');
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    throw new LwsError('not-implemented', 'The only supported transfer coding is chunked.');
}

const optionsOfServer: Reply = {
  status: 204,
  fields: { Allow: 'GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE, MOVE, COPY' },
};

const isHttps = ({ behindProxy }: AppContext, req: IncomingMessage): boolean =>
  (behindProxy && forwarded(req, 'x-forwarded-proto') === 'https') || 'encrypted' in req.socket;
