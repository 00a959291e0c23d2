/** The HTTP application: one request from its first byte to its log line. It must not know any component. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import Router from '@koa/router';
import Koa from 'koa';
import type { Authenticator } from '../authentication/authenticate.js';
import type { ChallengePolicy } from '../authentication/challenge.js';
import { requireAccess } from '../authorization/guard.js';
import type { Access } from '../authorization/principal.js';
import { LwsError } from '../errors.js';
import { formatLink } from '../fields/link.js';
import type { Log } from '../log.js';
import { lws } from '../rdf/vocabulary.js';
import { readTarget, type Target } from '../resources/names.js';
import type { Storage } from '../resources/storage.js';
import { reservedName } from '../resources/write.js';
import { type CorsPolicy, corsFields, preflightReply } from './cors.js';
import { withDigests } from './digests.js';
import { problemReply } from './problem.js';
import { ClientGone, field, requestBody } from './request.js';
import { addressOf, type Exchange, forwarded, logRequest } from './request-log.js';
import { resourceReply } from './resource-routes.js';
import { type Fields, type Reply, respond } from './respond.js';
import type { ResourceQuery, Route } from './route.js';
import type { StorageDescription } from './storage-description.js';

export interface Site {
  readonly storage: Storage;
  readonly authenticator: Authenticator;
  readonly description: StorageDescription;
  readonly routes: readonly Route[];
  readonly resourceQuery: ResourceQuery | undefined;
  readonly cors: CorsPolicy;
  readonly challenge: ChallengePolicy;
  /** Refuse requests that did not come over TLS (to the proxy, when there is one). */
  readonly requireHttps: boolean;
  /** 0: no Strict-Transport-Security. */
  readonly hstsSeconds: number;
  /** Believe X-Forwarded-For and X-Forwarded-Proto. */
  readonly behindProxy: boolean;
  /** Milliseconds that a client may pause within a body. */
  readonly idleMs: number;
  /** The base URI's scheme and authority. */
  readonly origin: string;
  readonly log: Log;
}

/** Makes the application, as a listener for requests. */
export function createApp(site: Site): RequestListener {
  const route = fixedRoutes(site);
  const common = commonFields(site);
  const serve = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const exchange: Exchange = { id: `urn:uuid:${randomUUID()}`, startedAt: performance.now(), access: {} };
    let reply: Reply;
    let failure: unknown;
    try {
      reply = withDigests(req, await answer(site, route, req, res, exchange));
    } catch (error) {
      failure = error;
      reply = problemReply(error, exchange.id, site.challenge);
    }
    if (failure instanceof ClientGone) res.destroy();
    else {
      try {
        await respond(req, res, reply, common(req));
      } catch (error) {
        failure = error;
        res.destroy();
      }
    }
    logRequest(site, req, reply.status, exchange, failure);
  };
  return (req, res) => void serve(req, res);
}

interface RouteFinder {
  (req: IncomingMessage, res: ServerResponse, access: Access): Promise<Reply | undefined>;
  /** Paths of routes that do not lie below the storage. */
  readonly elsewhere: ReadonlySet<string>;
}

async function answer(
  site: Site,
  route: RouteFinder,
  req: IncomingMessage,
  res: ServerResponse,
  exchange: Exchange,
): Promise<Reply> {
  const preflight = preflightReply(site.cors, req);
  if (preflight) return preflight;
  if (site.requireHttps && !isHttps(site, req))
    throw new LwsError('https-required', 'This server answers over HTTPS only.');
  // RFC 9112 3.2
  if (req.headers.host === undefined && req.httpVersion === '1.1')
    throw new LwsError('bad-request', 'The request has no Host field.');
  if (req.method === 'TRACE')
    throw new LwsError('method-not-allowed', 'TRACE is not supported.', { fields: { Allow: 'GET, HEAD, OPTIONS' } });
  if (req.method === 'OPTIONS' && req.url === '*')
    return { status: 204, fields: { Allow: 'GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE' } };
  const path = pathOf(req);
  const { origin, 'lws-purpose': purpose } = req.headers;
  const asked = await site.authenticator.authenticate({
    authorization: req.headers.authorization,
    proof: field(req, 'dpop'),
    method: req.method ?? 'GET',
    url: site.origin + path,
    address: addressOf(site, req) ?? '',
  });
  // One object per request: what it is asked of is remembered with it.
  exchange.access = {
    ...asked,
    ...(origin === undefined ? {} : { origin }),
    ...(purpose === undefined ? {} : { purpose: String(purpose) }),
  };
  if (route.elsewhere.has(path)) {
    const reply = await route(req, res, exchange.access);
    if (reply) return reply;
  }
  const target: Target = readTarget(req.url ?? '/', site.storage.storage);
  const { storage, idleMs, description, resourceQuery } = site;
  return (
    (isSystemPath(storage, target.iri) ? await route(req, res, exchange.access) : undefined) ??
    resourceReply({
      storage,
      description,
      resourceQuery,
      req,
      res,
      access: exchange.access,
      address: addressOf(site, req) ?? '',
      target,
      idleMs,
    })
  );
}

/** The path of the request target, which may be in absolute form. */
const pathOf = ({ url = '/' }: IncomingMessage): string =>
  (url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/]*/i, '') || '/').split('?', 1)[0]!;

const isSystemPath = ({ storage, systemPrefix }: Storage, iri: string): boolean =>
  iri.startsWith(`${systemPrefix.slice(1)}/`, storage.length) || iri.startsWith('.well-known/', storage.length);

/** The fixed routes, on koa; resources are dispatched by hand, because a router costs a third of a request. */
function fixedRoutes(site: Site): RouteFinder {
  const { storage } = site;
  const basePath = new URL(storage.storage).pathname.replace(/\/$/, '');
  // A document has one IRI: no other case, no slash behind it.
  const router = new Router<{ reply?: Reply; access: Access }>({ sensitive: true, strict: true });
  const fullPath = ({ path, place }: Route): string =>
    place === 'origin' ? path : basePath + path.replace('{prefix}', storage.systemPrefix);
  for (const route of site.routes) {
    const { methods, access: needed, handle } = route;
    router.register(fullPath(route), [...methods], async (ctx) => {
      const { access } = ctx.state;
      if (needed === 'authenticated' && !access.principal)
        throw new LwsError('unauthenticated', 'This needs a credential: send an Authorization header field.');
      if (needed === 'controller') await requireAccess(storage, storage.store, access, 'control', storage.storage);
      const query = new URLSearchParams(ctx.querystring);
      const body = () => requestBody(ctx.req, ctx.res, site.idleMs);
      ctx.state.reply = await handle({
        req: ctx.req,
        access,
        address: addressOf(site, ctx.req) ?? '',
        query,
        body,
        parameters: ctx['params'] ?? {},
      });
    });
  }
  const dispatch = router.routes();
  const known = (path: string, method: string): readonly string[] => [
    ...new Set(router.match(path, method).path.flatMap(({ methods }) => methods)),
  ];
  const koa = new Koa();
  const find = async (req: IncomingMessage, res: ServerResponse, access: Access): Promise<Reply | undefined> => {
    const ctx = koa.createContext(req, res);
    ctx.state = { access };
    await dispatch(ctx as never, async () => {});
    const { reply } = ctx.state as { reply?: Reply };
    if (reply) return reply;
    const methods = known(ctx.path, ctx.method);
    if (methods.length === 0) return undefined;
    if (ctx.method === 'PUT') throw reservedName();
    const Allow = [...new Set([...methods, 'OPTIONS'])].join(', ');
    if (ctx.method === 'OPTIONS') return { status: 204, fields: { Allow } };
    throw new LwsError('method-not-allowed', 'The method is not supported here.', { fields: { Allow } });
  };
  const elsewhere = new Set(site.routes.filter(({ place }) => place === 'origin').map(fullPath));
  return Object.assign(find, { elsewhere });
}

const isHttps = ({ behindProxy }: Site, req: IncomingMessage): boolean =>
  behindProxy && forwarded(req, 'x-forwarded-proto') === 'https';

/** The fields of every answer. */
function commonFields(site: Site): (req: IncomingMessage) => Fields {
  const { storage } = site.storage;
  const fixed = {
    // open-points 2.7: every answer says which storage it is of; those of resources say more in their own Link.
    Link: formatLink(storage, lws.storage),
    ...(site.hstsSeconds > 0 ? { 'Strict-Transport-Security': `max-age=${site.hstsSeconds}` } : {}),
  };
  if (site.cors.allowedOrigins.length === 0) return () => fixed;
  const basePath = new URL(storage).pathname.slice(0, -1);
  return (req) => {
    // open-points 2.9: the console and its callback are for this origin alone, also while nobody serves them.
    const path = (req.url ?? '').slice(basePath.length);
    return /^\/(?:app|callback)(?:[/?]|$)/i.test(path) ? fixed : { ...fixed, ...corsFields(site.cors, req) };
  };
}
