/** What is known of a request on its way through the steps, which fill it in. */
import type Koa from 'koa';
import type { Access } from '../authorization/principal.js';
import type { Trace } from '../fields/traceparent.js';
import type { Fields, Reply } from './reply.js';

export interface Exchange {
  /** A `urn:uuid:`, in the log and in problem documents. */
  readonly id: string;
  readonly startedAt: number;
  /** The path of the request target, which need not be one of this storage. */
  readonly path: string;
  /** The class of the route, for measures; set by the step that answers. */
  route: string;
  /** The trace that the request belongs to, if it says so. */
  readonly trace: Trace | undefined;
  /** One object per request: what it is asked of is remembered with it. */
  access: Access;
  /** Set by the step that answers. */
  reply: Reply | undefined;
  /** What was thrown on the way. */
  failure: unknown;
  /** Fields of CORS, for this answer whatever it is. */
  cors: Fields | undefined;
}

export interface State {
  exchange: Exchange;
}

/** A step of the way. One that only looks before the others returns what `next` returns: an async function costs. */
export type Step = Koa.Middleware<State>;
