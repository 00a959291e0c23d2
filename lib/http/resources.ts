/** Last middleware: handles requests for resources, which match no fixed route. Other endpoints also call these functions. */
import type { IncomingMessage } from 'node:http';
import { clientFor, priorityOf } from '../authorization/client.js';
import type { Access } from '../authorization/principal.js';
import type { RequestBody } from '../resources/body.js';
import { counterpart, readTarget, type Target } from '../resources/names.js';
import type { Storage } from '../resources/storage.js';
import { isContainerIri } from '../storage/keys/records.js';
import { LwsError } from '../tools/errors.js';
import { parseMediaType } from '../tools/fields/media-type.js';
import type { AppContext } from './app-context.js';
import type { Step } from './exchange.js';
import { prefersPage } from './negotiate.js';
import type { Reply } from './reply.js';
import { requestBody } from './request.js';
import { addressOf } from './request-log.js';
import type { ResourceExchange } from './resource-exchange.js';
import { resourceReply } from './resource-routes.js';
import type { RouteRequest } from './route.js';
import { stateListsOf } from './state-lists.js';

export const resources =
  (appContext: AppContext): Step =>
  async (ctx) => {
    const { exchange } = ctx.state;
    exchange.route = routeOf(exchange.path);
    const target = readTarget(ctx.req.url ?? '/', appContext.storage.rootIri);
    exchange.reply = pageReply(appContext, ctx.req, target);
    if (exchange.reply) return;
    const sent = exchangeOf(appContext, ctx, target);
    exchange.reply = await (sent.resourceMethods?.isWebDav ? webDavReply(sent) : resourceReply(sent));
  };

/** Redirects a browser to the page of a container (rule 7.3), even if the container does not exist or is not readable. */
function pageReply({ pages }: AppContext, req: IncomingMessage, { iri, query }: Target): Reply | undefined {
  if (!pages || !isContainerIri(iri) || query !== undefined || !prefersPage(req)) return undefined;
  return {
    status: 303,
    fields: { Location: pages.viewOf(iri), 'Cache-Control': 'no-store', Vary: 'Accept, Authorization' },
  };
}

const toContainers = new Set(['DELETE', 'MOVE', 'COPY']);

/** Responds to a request for a resource if WebDAV is on. @throws LwsError as `resourceReply`; `bad-request` for a bad `If` */
async function webDavReply(sent: ResourceExchange): Promise<Reply> {
  const { req, target, storage } = sent;
  const isMissing = !isContainerIri(target.iri) && target.query === undefined && !storage.store.record(target.iri);
  const container = counterpart(target.iri);
  const isContainer = isMissing && toContainers.has(req.method ?? '') && storage.store.record(container) !== undefined;
  const exchange = isContainer ? { ...sent, target: { iri: container, query: undefined } } : sent;
  const reply = await resourceReply({ ...exchange, webDav: { stateLists: await stateListsOf(exchange) } });
  return isContainer ? { ...reply, fields: { ...reply.fields, 'Content-Location': container } } : reply;
}

/** Returns the exchange of a request for a resource. */
export function exchangeOf(
  appContext: AppContext,
  { req, res, state }: Parameters<Step>[0],
  target: Target,
): ResourceExchange {
  const { idleMs, description, resourceQuery, resourceMethods, earlierStates } = appContext;
  const { access } = state.exchange;
  const address = addressOf(appContext, req) ?? '';
  const storage = isWrite(req) ? sentBy(appContext.storage, access, address) : appContext.storage;
  const caller = () => clientFor(appContext.storage, access, address);
  const body = () => requestBody(req, res, { idleMs, caller });
  return { storage, description, resourceQuery, resourceMethods, earlierStates, req, access, address, target, body };
}

/** Request for a resource that another endpoint makes for its caller. */
export interface InnerRequest {
  readonly method: string;
  /** IRI of the target, which may have a query. */
  readonly target: string;
  /** Header fields by lower-case name, instead of the fields of the caller's request. */
  readonly fields: Readonly<Record<string, string>>;
  readonly content?: Buffer;
}

/** Responds to a request of another endpoint, with the same checks and results as over HTTP. @throws LwsError */
export async function innerReply(
  { storage, description, resourceQuery, earlierStates }: AppContext,
  { req: outer, access, address }: Pick<RouteRequest, 'req' | 'access' | 'address'>,
  { method, target, fields, content }: InnerRequest,
): Promise<Reply> {
  const req: IncomingMessage = Object.create(outer, { method: { value: method }, headers: { value: fields } });
  return resourceReply({
    storage: isWrite(req) ? sentBy(storage, access, address) : storage,
    ...{ description, resourceQuery, earlierStates, req, access, address },
    target: readTarget(target, storage.rootIri),
    body: () => bodyOf(content ?? Buffer.alloc(0), fields['content-type'] ?? 'application/octet-stream'),
  });
}

function bodyOf(bytes: Buffer, contentType: string): RequestBody {
  const mediaType = parseMediaType(contentType)?.essence;
  if (mediaType === undefined || mediaType.includes('*'))
    throw new LwsError('bad-request', 'The media type is malformed.');
  async function* chunks(): AsyncGenerator<Uint8Array> {
    if (bytes.length > 0) yield bytes;
  }
  return { length: bytes.length, mediaType, contentType, digests: new Map(), chunks, collect: async () => bytes };
}

const routeOf = (path: string): string =>
  path.endsWith('.meta') ? 'linkset' : path.endsWith('.acl') ? 'acl' : 'resource';

const isWrite = ({ method }: IncomingMessage): boolean => method === 'PUT' || method === 'POST' || method === 'PATCH';

/** Returns the storage with a `documents` that queues work on large bodies by client. */
function sentBy(storage: Storage, access: Access, address: string): Storage {
  const sender = async () => {
    const { client, callerClass } = await clientFor(storage, access, address);
    return { client, rank: priorityOf(callerClass) };
  };
  // A prototype is used, because copying all fields, or a property descriptor, takes as long as looking up the resource.
  const sent = Object.create(storage) as { -readonly [Name in keyof Storage]: Storage[Name] };
  sent.documents = storage.documents.sentBy(sender);
  return sent;
}
