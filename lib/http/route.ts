/** A fixed route, as the house and its components declare it. */
import type { IncomingMessage } from 'node:http';
import type { Access } from '../authorization/principal.js';
import type { RequestBody } from '../resources/body.js';
import type { ResourceRecord } from '../storage/keys/records.js';
import type { Reply } from './reply.js';

/**
 * Who may call a route. `public`: anybody. `authenticated`: any principal. `controller`: who has control on the root.
 * `filtered`: anybody, and the handler answers over what the caller may read.
 */
export type RouteAccess = 'public' | 'authenticated' | 'controller' | 'filtered';

export interface RouteRequest {
  readonly req: IncomingMessage;
  readonly access: Access;
  /** The client's address. */
  readonly address: string;
  readonly query: URLSearchParams;
  /** The body, to be read or not. @throws LwsError `bad-request` for a malformed Content-Type */
  readonly body: () => RequestBody;
  /** The values of the path's parameters. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** A query that is a resource, which the caller may read, and how it is to be run. */
export interface StoredQuestion extends Pick<RouteRequest, 'access' | 'address' | 'req'> {
  readonly record: ResourceRecord;
  /** Those of the target, `run` among them. */
  readonly parameters: URLSearchParams;
  /** The content of a resource that is no RDF; `undefined` when it was replaced meanwhile. */
  readonly bytes: () => Promise<Buffer | undefined>;
  /** Asks again whether the caller may read it, after it was read. @throws LwsError as the caller may learn */
  readonly guard: () => Promise<unknown>;
}

/** The method QUERY on resources (rule 14.8): a component answers it, after the guard let the caller read. */
export interface ResourceQuery {
  /** The value of `Accept-Query`. */
  readonly mediaType: string;
  ask(
    question: Pick<RouteRequest, 'access' | 'address' | 'req'> & {
      readonly accept: string | undefined;
      readonly body: RequestBody;
      readonly hasContentType: boolean;
      readonly iri: string;
    },
  ): Promise<Reply>;
  /** Answers `GET <resource>?run`. @throws LwsError `bad-request` when the resource is no query */
  run(question: StoredQuestion): Promise<Reply>;
}

export interface Route {
  readonly methods: readonly string[];
  /** `origin`: the path is below the origin of the base URI and not below its path (RFC 8414 3.1). */
  readonly place?: 'origin';
  /** Below the base URI; `{prefix}` stands for the system prefix: `{prefix}/jwks`. */
  readonly path: string;
  readonly access: RouteAccess;
  handle(request: RouteRequest): Promise<Reply> | Reply;
}

/** Declares a route by its methods and its path, with a blank between them: `GET HEAD {prefix}/status`. */
export function route(access: RouteAccess, methodsAndPath: string, handle: Route['handle']): Route {
  const words = methodsAndPath.split(' ');
  return { methods: words.slice(0, -1), path: words.at(-1)!, access, handle };
}
