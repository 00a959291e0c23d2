/** The HTTP application: the way of a request from its id to its answer, as one list of steps. It must not know any component. */
import type Koa from 'koa';
import { authentication } from './authentication.js';
import { BareKoa } from './bare-koa.js';
import { cors } from './cors.js';
import type { State } from './exchange.js';
import { fixedRoutes, pathsElsewhere } from './fixed-routes.js';
import { graphStore } from './graph-store.js';
import { openMode } from './open-mode.js';
import { problems } from './problem.js';
import { logged, pathOf } from './request-log.js';
import { resources } from './resources.js';
import { answered } from './respond.js';
import type { Site } from './site.js';
import { Traffic } from './traffic.js';
import { transportRules } from './transport-rules.js';

export interface Application {
  /** Answers every request. */
  readonly koa: Koa<State>;
  /** For an application of somebody else: what is not below the base URI is left to those after it. */
  readonly middleware: Koa.Middleware;
  /** Refuses what comes from here on; resolves when what is under way has ended, or so much time has gone. */
  close(maxMs: number): Promise<void>;
}

export function createApp(site: Site): Application {
  const traffic = new Traffic();
  const koa = new BareKoa<State>((error) => site.log.error({ err: error }, 'a request was not answered'))
    .use(logged(site, traffic)) // its id; at the end its line in the log
    .use(answered(site)) // writes the answer that the steps below come to
    .use(problems(site.challenge)) // what they throw is a problem document
    .use(cors(site)) // fields for other origins, and preflights
    .use(transportRules(site, traffic)) // HTTPS, Host, OPTIONS *
    .use(openMode(site)) // other sites stay out of what everybody may write
    .use(authentication(site)) // who asks
    .use(graphStore(site)) // RDF resources by the address of their graphs
    .use(fixedRoutes(site)) // the endpoints of the house and its components
    .use(resources(site)); // everything else
  return { koa, middleware: mountable(koa, site), close: (maxMs) => traffic.close(maxMs) };
}

function mountable(koa: Koa<State>, { routes, storage }: Site): Koa.Middleware {
  const answer = koa.callback();
  const basePath = new URL(storage.storage).pathname;
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
