/** Endpoints of access requests and access grants (rule 17.1). */
import { randomUUID } from 'node:crypto';
import type { View } from '../../lib/authorization/authorizer.js';
import { controls, notFound } from '../../lib/authorization/guard.js';
import type { Platform } from '../../lib/component/contract.js';
import { lwsJson } from '../../lib/http/negotiate.js';
import type { Reply } from '../../lib/http/reply.js';
import { preconditions } from '../../lib/http/request.js';
import { type Route, type RouteRequest, route } from '../../lib/http/route.js';
import {
  assertMemberState,
  memberFields,
  type SystemMember,
  systemContainerReply,
  systemMemberReply,
} from '../../lib/http/system-container.js';
import { readBody } from '../../lib/resources/body.js';
import type { Transaction } from '../../lib/storage/transactions/transaction.js';
import { LwsError } from '../../lib/tools/errors.js';
import { digestOfClient } from '../../lib/tools/fields/client-address.js';
import { decodeUtf8, parseJson } from '../../lib/tools/json/json.js';
import { type AccessDocument, acceptDocument, type DocumentType } from './access-documents.js';
import {
  bytesOfKept,
  type DocumentLimits,
  type KeptDocument,
  type KeptIndex,
  keyOf,
  partyOf,
  readKept,
  type Space,
} from './kept-index.js';

export interface DocumentsEndpoint {
  readonly platform: Platform;
  readonly space: Space;
  readonly type: DocumentType;
  /** Inbox of the controllers, which is notified of every document. */
  readonly controllerInbox: string | null;
  readonly index: KeptIndex;
  /** Maximum size of a document, in bytes. */
  readonly longest: number;
  readonly requests: DocumentLimits;
}

export const documentsUrl = ({ platform, space }: Pick<DocumentsEndpoint, 'platform' | 'space'>): string =>
  `${platform.baseUri}${platform.systemPrefix}/${space}`;

export function documentRoutes(endpoint: DocumentsEndpoint): readonly Route[] {
  const path = `{prefix}/${endpoint.space}`;
  return [
    route('authenticated', `GET HEAD ${path}`, (request) => listing(endpoint, request)),
    route('authenticated', `POST ${path}`, (request) => post(endpoint, request)),
    route('authenticated', `GET HEAD ${path}/:name`, (request) => read(endpoint, request)),
    route('authenticated', `DELETE ${path}/:name`, (request) => remove(endpoint, request)),
    route('authenticated', `OPTIONS ${path}/:name`, async (request) => {
      await visible(endpoint, request);
      return { status: 204, fields: { Allow: 'GET, HEAD, DELETE, OPTIONS' } };
    }),
  ];
}

async function listing(endpoint: DocumentsEndpoint, request: RouteRequest): Promise<Reply> {
  const { platform, index } = endpoint;
  const members = index.seenBy(request.access, await controls(platform, platform.store, request.access));
  return systemContainerReply(platform.storage, request, { iri: documentsUrl(endpoint), members, acceptPost: lwsJson });
}

type Caller = Pick<RouteRequest, 'access' | 'address'>;

async function post(endpoint: DocumentsEndpoint, request: RouteRequest): Promise<Reply> {
  const { platform, type, longest } = endpoint;
  await assertMayPost(endpoint, platform.store, request);
  const body = request.body();
  if (body.mediaType !== lwsJson)
    throw new LwsError('unsupported-media-type', `Send the ${type} as ${lwsJson}.`, {
      fields: { 'Accept-Post': lwsJson },
    });
  const kept = await accept(endpoint, request, parseJson(decodeUtf8(await readBody(body, longest))));
  return {
    status: 201,
    fields: { ...memberFields(platform.rootIri, memberOf(endpoint, kept)), Location: kept.document.id },
    body: bytesOfKept(kept),
  };
}

async function assertMayPost(endpoint: DocumentsEndpoint, view: View, { access, address }: Caller): Promise<void> {
  const { platform, type, index, requests } = endpoint;
  const [creator, from] = [access.principal!.subject, digestOfClient(address)];
  if (type === 'AccessRequest') index.assertRoom({ creator, from }, requests);
  else if (!(await controls(platform, view, access)))
    throw new LwsError('forbidden', 'Granting access requires control of the storage.', {
      reason: 'no control of the root',
    });
}

/** Validates and stores a document. @throws LwsError `malformed-body`, `forbidden`, `too-many-requests` */
export async function accept(endpoint: DocumentsEndpoint, caller: Caller, sent: unknown): Promise<KeptDocument> {
  const { platform, space, type } = endpoint;
  const [creator, from] = [caller.access.principal!.subject, digestOfClient(caller.address)];
  const name = randomUUID();
  const document = acceptDocument(sent, type, `${documentsUrl(endpoint)}/${name}`, platform.rootIri);
  const { inbox } = document;
  if (typeof inbox === 'string') for (const admit of platform.offered('admitInbox')) await admit(inbox);
  const kept: KeptDocument = { document, creator, created: platform.clock(), from };
  await platform.store.transact(async (tx) => {
    await assertMayPost(endpoint, tx, caller);
    tx.putEntry(keyOf(space, name), JSON.stringify(kept));
    const answered = answeredBy(endpoint, document, tx);
    if (answered) markSeen(tx, answered.key, answered.kept);
    tx.actor = kept.creator;
    tx.announced({
      id: document.id,
      types: ['DataResource', type],
      inboxes: inboxesOf(endpoint, document, answered?.kept),
    });
  });
  return kept;
}

/** Returns the access request that a grant names, or `undefined`. */
function answeredBy(
  { platform, type }: DocumentsEndpoint,
  document: AccessDocument,
  tx: Transaction,
): { readonly key: string; readonly kept: KeptDocument } | undefined {
  const prefix = `${platform.baseUri}${platform.systemPrefix}/access-requests/`;
  const named = document['request'];
  if (type !== 'AccessGrant' || typeof named !== 'string' || !named.startsWith(prefix)) return undefined;
  const key = keyOf('access-requests', named.slice(prefix.length));
  const value = tx.entry(key);
  return value === undefined ? undefined : { key, kept: readKept(value) };
}

function markSeen(tx: Transaction, key: string, kept: KeptDocument): void {
  if (!kept.isSeen) tx.putEntry(key, JSON.stringify({ ...kept, isSeen: true } satisfies KeptDocument));
}

/**
 * Returns the inboxes to notify of a document: the controllers' inbox and, for a grant, the inboxes of the grant and of the
 * answered request. The inbox of a request is untrusted, so the server notifies it only after a grant.
 */
function inboxesOf(
  { controllerInbox, type }: DocumentsEndpoint,
  document: AccessDocument,
  answered: KeptDocument | undefined,
): string[] {
  const own = type === 'AccessGrant' ? [document['inbox'], answered?.document['inbox']] : [];
  return [controllerInbox, ...own].filter((inbox): inbox is string => typeof inbox === 'string');
}

const memberOf = (endpoint: DocumentsEndpoint, kept: KeptDocument): SystemMember => ({
  container: documentsUrl(endpoint),
  type: endpoint.type,
  bytes: bytesOfKept(kept),
  modified: kept.created,
});

/** Returns a document. @throws LwsError `not-found` if the caller cannot see the document */
async function visible(
  endpoint: DocumentsEndpoint,
  { access, parameters }: RouteRequest,
): Promise<KeptDocument & { readonly controller: boolean }> {
  const { platform, space } = endpoint;
  const value = platform.store.entry(keyOf(space, parameters['name']!));
  const kept = value === undefined ? undefined : readKept(value);
  const controller = await controls(platform, platform.store, access);
  if (!kept || !(controller || partyOf(kept, space, platform.rootIri)(access)))
    throw notFound(kept ? 'neither creator, assignee nor controller' : 'absent');
  return { ...kept, controller };
}

async function read(endpoint: DocumentsEndpoint, request: RouteRequest): Promise<Reply> {
  const { controller, ...kept } = await visible(endpoint, request);
  // If a controller reads a request, mark the request as read.
  if (controller && endpoint.type === 'AccessRequest' && !kept.isSeen)
    await saw(endpoint, request).catch((error: unknown) =>
      endpoint.platform.log.error({ err: error }, 'an access request could not be marked as read'),
    );
  return systemMemberReply(endpoint.platform.rootIri, request.req, memberOf(endpoint, kept));
}

function saw({ platform, space }: DocumentsEndpoint, { parameters }: RouteRequest): Promise<void> {
  const key = keyOf(space, parameters['name']!);
  const work = (tx: Transaction): void => {
    const value = tx.entry(key);
    if (value !== undefined) markSeen(tx, key, readKept(value));
  };
  return platform.store.transact(work, { frees: true });
}

async function remove(endpoint: DocumentsEndpoint, request: RouteRequest): Promise<Reply> {
  const { platform, space } = endpoint;
  const { creator, controller } = await visible(endpoint, request);
  if (!controller && creator !== request.access.principal!.subject)
    throw new LwsError('forbidden', 'Only the issuer of a grant or a controller can delete it.', {
      reason: 'an assignee',
    });
  const key = keyOf(space, request.parameters['name']!);
  const conditions = preconditions(request.req);
  const work = (tx: Transaction): void => {
    const value = tx.entry(key);
    if (value === undefined) throw notFound('deleted meanwhile');
    assertMemberState(conditions, memberOf(endpoint, readKept(value)));
    tx.deleteEntry(key);
  };
  await platform.store.transact(work, { frees: true });
  return { status: 204, fields: {} };
}
