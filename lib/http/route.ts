/** Fixed routes, as declared by the server and its components. */
import type { IncomingMessage } from 'node:http';
import type { Access } from '../authorization/principal.js';
import type { RequestBody } from '../resources/body.js';
import type { ResourceRecord } from '../storage/keys/records.js';
import type { Reply } from './reply.js';

/**
 * Required access of a route. `public`: all callers. `authenticated`: any principal. `controller`: callers with control of the
 * root. `filtered`: all callers, and the handler filters by read access.
 */
export type RouteAccess = 'public' | 'authenticated' | 'controller' | 'filtered';

export interface RouteRequest {
  readonly req: IncomingMessage;
  readonly access: Access;
  /** Client address. */
  readonly address: string;
  readonly query: URLSearchParams;
  /** Returns the unread body. @throws LwsError `bad-request` for a malformed Content-Type */
  readonly body: () => RequestBody;
  /** Values of the path parameters. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** Stored query that the caller may read, with parameters. */
export interface StoredQuestion extends Pick<RouteRequest, 'access' | 'address' | 'req'> {
  readonly record: ResourceRecord;
  /** Query parameters of the target, including `run`. */
  readonly parameters: URLSearchParams;
  /** Returns the content of a non-RDF resource, or `undefined` if it was replaced meanwhile. */
  readonly bytes: () => Promise<Buffer | undefined>;
  /** Checks read access again after reading. @throws LwsError as `requireAccess` */
  readonly guard: () => Promise<unknown>;
}

/** Handler of the method QUERY on resources (rule 14.8), called after the read access check. */
export interface ResourceQuery {
  /** Value of `Accept-Query`. */
  readonly mediaType: string;
  /** IRI of the resource that is the default graph in the Graph Store Protocol. */
  readonly defaultGraph?: string | undefined;
  ask(
    question: Pick<RouteRequest, 'access' | 'address' | 'req'> & {
      readonly accept: string | undefined;
      readonly body: RequestBody;
      readonly hasContentType: boolean;
      readonly iri: string;
      /** Query parameters of the target URL. */
      readonly parameters: URLSearchParams;
    },
  ): Promise<Reply>;
  /** Responds to `GET <resource>?run`. @throws LwsError `bad-request` if the resource is not a query */
  run(question: StoredQuestion): Promise<Reply>;
}

/** Methods of resources that a component adds. */
export interface ResourceMethods {
  /** Handlers by method. The parameter `iri` is the target. The handler checks access to the target. */
  readonly handlers: Readonly<Record<string, Route['handle']>>;
  /** Added methods that existing resources support, for `Allow`. */
  readonly allowed: readonly string[];
  /** True if DELETE, MOVE, COPY and the field `If` follow RFC 4918. */
  readonly isWebDav?: true;
  /** Additional fields of responses to OPTIONS. */
  readonly optionsFields: Readonly<Record<string, string>>;
}

export interface Route {
  readonly methods: readonly string[];
  /** `origin`: the path is relative to the origin of the base URI, not to its path (RFC 8414 3.1). */
  readonly place?: 'origin';
  /** Path below the base URI, such as `{prefix}/jwks`. `{prefix}` is the system prefix. */
  readonly path: string;
  readonly access: RouteAccess;
  handle(request: RouteRequest): Promise<Reply> | Reply;
}

/** Declares a route by its methods and path, separated by spaces: `GET HEAD {prefix}/status`. */
export function route(access: RouteAccess, methodsAndPath: string, handle: Route['handle']): Route {
  const words = methodsAndPath.split(' ');
  return { methods: words.slice(0, -1), path: words.at(-1)!, access, handle };
}

/** Returns the URL of a route. @param path as in `route` */
export const urlOfRoute = (
  { baseUri, systemPrefix }: { readonly baseUri: string; readonly systemPrefix: string },
  path: string,
): string => baseUri + path.replace('{prefix}', systemPrefix);
