/** State of a request, set by the middleware. */
import type Koa from 'koa';
import type { Access } from '../authorization/principal.js';
import type { Trace } from '../tools/fields/traceparent.js';
import type { Fields, Reply } from './reply.js';

export interface Exchange {
  /** Request ID, a `urn:uuid:`, in the log and in problem documents. */
  readonly id: string;
  readonly startedAt: number;
  /** Path of the request target. It may belong to no storage. */
  readonly path: string;
  /** Class of the route for metrics, set by the middleware that handles the request. */
  route: string;
  /** Trace context of the request, if any. */
  readonly trace: Trace | undefined;
  /** Caller of the request. One object per request, because access decisions are cached on it. */
  access: Access;
  /** Reply, set by the middleware that handles the request. */
  reply: Reply | undefined;
  /** Error thrown by the middleware. */
  failure: unknown;
  /** CORS fields of the response. */
  cors: Fields | undefined;
}

export interface State {
  exchange: Exchange;
}

/** Middleware function. It returns the result of `next` if nothing follows, since an async function takes time. */
export type Step = Koa.Middleware<State>;
