/** Fixed routes of the server and its components, with @koa/router. */
import type { IncomingMessage } from 'node:http';
import Router from '@koa/router';
import type { ParameterizedContext } from 'koa';
import { clientFor } from '../authorization/client.js';
import { requireAccess } from '../authorization/guard.js';
import { readTarget } from '../resources/names.js';
import { reservedName } from '../resources/write.js';
import { LwsError } from '../tools/errors.js';
import type { AppContext } from './app-context.js';
import type { State, Step } from './exchange.js';
import { requestBody } from './request.js';
import { addressOf } from './request-log.js';
import type { Route } from './route.js';

/** Returns the paths of routes outside of the base URI. */
export const pathsElsewhere = (routes: readonly Route[]): ReadonlySet<string> =>
  new Set(routes.flatMap(({ place, path }) => (place === 'origin' ? path : [])));

export function fixedRoutes(appContext: AppContext): Step {
  const { storage } = appContext;
  const basePath = new URL(storage.rootIri).pathname.slice(0, -1);
  const places = [`${basePath}${storage.systemPrefix}/`, `${basePath}/.well-known/`, `${basePath}/app/`];
  let router: Router<State> | undefined;
  let dispatch: ReturnType<Router<State>['routes']> | undefined;
  /** Handlers of routes without parameters, by method and path. The router would compare the path with every route. */
  const direct = new Map<string, (ctx: ParameterizedContext<State>) => Promise<void>>();
  const elsewhere = new Set([...pathsElsewhere(appContext.routes), `${basePath}/app`, `${basePath}/callback`]);
  return (ctx, next) => {
    const { path } = ctx.state.exchange;
    if (!elsewhere.has(path)) {
      // Resources match no route, so the router is skipped: it takes a third of the time of a request.
      if (!places.some((place) => path.startsWith(place))) return next();
      readTarget(ctx.req.url ?? '/', storage.rootIri);
    }
    const name = `${ctx.req.method} ${path}`;
    const known = direct.get(name);
    if (known) return known(ctx);
    // The router gets the path as sent, because koa changes some paths.
    Object.assign(ctx, { newRouterPath: path });
    // The router is created at the first use, because its regular expressions take more memory than an idle storage.
    router ??= routerOf(appContext, basePath);
    const [layer] = router.match(path, ctx.req.method ?? 'GET').pathAndMethod;
    if (layer?.path === path) direct.set(name, layer.stack[0] as never);
    dispatch ??= router.routes();
    return dispatch(ctx as never, () => missed(router!, ctx, next));
  };
}

function routerOf(appContext: AppContext, basePath: string): Router<State> {
  // A document has one IRI, so paths are case-sensitive and have no trailing slash.
  const router = new Router<State>({ sensitive: true, strict: true });
  for (const route of appContext.routes) {
    const path =
      route.place === 'origin'
        ? route.path
        : basePath + route.path.replace('{prefix}', appContext.storage.systemPrefix);
    router.register(path, [...route.methods], handlerOf(appContext, route));
  }
  return router;
}

function handlerOf(appContext: AppContext, { access: needed, handle, path }: Route) {
  const { storage } = appContext;
  const name = path
    .replace('{prefix}/', '')
    .split('/')
    .find((part) => part !== '')!;
  return async (ctx: ParameterizedContext<State>): Promise<void> => {
    const { req, res } = ctx;
    const { exchange } = ctx.state;
    const { access } = exchange;
    exchange.route = name;
    if (needed === 'authenticated' && !access.principal)
      throw new LwsError('unauthenticated', 'This request requires a credential. Send an Authorization header field.');
    if (needed === 'controller') await requireAccess(storage, storage.store, access, 'control', storage.rootIri);
    const address = addressOf(appContext, req) ?? '';
    const caller = () => clientFor(storage, access, address);
    exchange.reply = await handle({
      req,
      access,
      address,
      query: queryOf(req),
      body: () => requestBody(req, res, { idleMs: appContext.idleMs, caller }),
      parameters: ctx['params'] ?? {},
    });
  };
}

function queryOf({ url = '' }: IncomingMessage): URLSearchParams {
  const start = url.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : url.slice(start + 1));
}

/** Handles a request whose path and method match no route. */
function missed(router: Router<State>, { req, state }: ParameterizedContext<State>, next: () => Promise<void>) {
  const { method = 'GET' } = req;
  const methods = new Set(router.match(state.exchange.path, method).path.flatMap((layer) => layer.methods));
  if (methods.size === 0) return next();
  if (method === 'PUT') throw reservedName();
  const Allow = [...methods.add('OPTIONS')].join(', ');
  if (method !== 'OPTIONS')
    throw new LwsError('method-not-allowed', 'The method is not supported here.', { fields: { Allow } });
  state.exchange.reply = { status: 204, fields: { Allow } };
  return Promise.resolve();
}
