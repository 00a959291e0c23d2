/** The HTTP application: the middleware list that every request passes. */
import type { IncomingMessage, RequestListener } from 'node:http';
import type Koa from 'koa';
import type { AppContext } from './app-context.js';
import { cors } from './cors.js';
import type { State } from './exchange.js';
import { fixedRoutes, pathsElsewhere } from './fixed-routes.js';
import { graphStore } from './graph-store.js';
import { BareKoa } from './koa.js';
import { authentication, freshness, openMode, transportRules } from './middleware.js';
import { pathOf, requestLogger } from './request-log.js';
import { resources } from './resources.js';
import { replyWriter } from './respond.js';
import { Traffic } from './traffic.js';

export interface Application {
  /** Answers every request. */
  readonly koa: Koa<State>;
  /** Middleware for another koa application. Requests outside of the base URI are passed on. */
  readonly middleware: Koa.Middleware;
  /** Rejects new requests. Resolves when the pending requests have ended, or after the timeout. */
  close(maxMs: number): Promise<void>;
}

export function createApp(appContext: AppContext): Application {
  const traffic = new Traffic();
  const koa = new BareKoa<State>((error) => appContext.log.error({ err: error }, 'a request was not answered'))
    .use(requestLogger(appContext, traffic)) // request id, and the log line at the end
    .use(replyWriter(appContext)) // writes the reply of the later middleware, or a problem document
    .use(cors(appContext)) // CORS fields and preflights
    .use(transportRules(appContext, traffic)) // HTTPS, Host, OPTIONS *
    .use(openMode(appContext)) // rejects cross-site writes in open mode (CSRF)
    .use(freshness(appContext)) // waits for commits of other servers
    .use(authentication(appContext)) // resolves the caller
    .use(graphStore(appContext)) // Graph Store Protocol
    .use(fixedRoutes(appContext)) // endpoints of the server and its components
    .use(resources(appContext)); // all other paths
  return { koa, middleware: mountable(koa, appContext), close: (maxMs) => traffic.close(maxMs) };
}

/** Returns a listener that responds with an error to requests that belong to no storage. @param refusalOf returns the error */
export const createRefusal = (
  context: Parameters<typeof replyWriter>[0] & Parameters<typeof requestLogger>[0],
  refusalOf: (req: IncomingMessage) => unknown,
): RequestListener =>
  new BareKoa<State>((error) => context.log.error({ err: error }, 'a request was not answered'))
    .use(requestLogger(context, new Traffic()))
    .use(replyWriter(context))
    .use(({ req }) => Promise.reject(refusalOf(req)))
    .callback();

function mountable(koa: Koa<State>, { routes, storage }: AppContext): Koa.Middleware {
  const answer = koa.callback();
  const basePath = new URL(storage.rootIri).pathname;
  const elsewhere = pathsElsewhere(routes);
  return (ctx, next) => {
    const { req, res, originalUrl } = ctx;
    const path = pathOf({ url: originalUrl });
    if (!path.startsWith(basePath) && !elsewhere.has(path)) return next();
    ctx.respond = false;
    req.url = originalUrl;
    return answer(req, res);
  };
}
