/** The endpoints of access requests and access grants (open-points 9). It must not know how grants are used. */
import { createHash, randomUUID } from 'node:crypto';
import type { View } from '../../lib/authorization/authorizer.js';
import type { Access } from '../../lib/authorization/principal.js';
import type { House } from '../../lib/component.js';
import { LwsError } from '../../lib/errors.js';
import { formatHttpDate } from '../../lib/fields/date.js';
import { formatEntityTag } from '../../lib/fields/etag.js';
import { formatLink } from '../../lib/fields/link.js';
import { lwsJson } from '../../lib/http/negotiate.js';
import { pageLinks, pageOf } from '../../lib/http/paging.js';
import type { Reply } from '../../lib/http/reply.js';
import { preconditions } from '../../lib/http/request.js';
import type { Route, RouteRequest } from '../../lib/http/route.js';
import { decodeUtf8, parseJson } from '../../lib/json/json.js';
import { lwsContext } from '../../lib/rdf/contexts.js';
import { lws } from '../../lib/rdf/vocabulary.js';
import { readBody } from '../../lib/resources/body.js';
import { isNotModified } from '../../lib/resources/preconditions.js';
import type { Transaction } from '../../lib/storage/transaction.js';
import { requestFulfils } from './constraints.js';
import { type AccessDocument, acceptDocument, type DocumentType, policiesOf } from './documents.js';
import { allKept, type KeptDocument, keyOf, readKept, type Space } from './kept-documents.js';

export interface Endpoint {
  readonly house: House;
  readonly space: Space;
  readonly type: DocumentType;
  /** Told of every document. */
  readonly controllerInbox: string | null;
}

const longestDocument = 256 << 10;
const pageSize = 1000;

export const endpointUrl = ({ house, space }: Pick<Endpoint, 'house' | 'space'>): string =>
  `${house.baseUri}${house.systemPrefix}/${space}`;

export function documentRoutes(endpoint: Endpoint): readonly Route[] {
  const path = `{prefix}/${endpoint.space}`;
  const route = (methods: readonly string[], of: string, handle: Route['handle']): Route => ({
    methods,
    path: of,
    access: 'authenticated',
    handle,
  });
  return [
    route(['GET', 'HEAD'], path, (request) => listing(endpoint, request)),
    route(['POST'], path, (request) => post(endpoint, request)),
    route(['GET', 'HEAD'], `${path}/:name`, (request) => read(endpoint, request)),
    route(['DELETE'], `${path}/:name`, (request) => remove(endpoint, request)),
    route(['OPTIONS'], `${path}/:name`, async (request) => {
      await visible(endpoint, request);
      return { status: 204, fields: { Allow: 'GET, HEAD, DELETE, OPTIONS' } };
    }),
  ];
}

const controls = async ({ authorizer, store, storage }: House, access: Access, view: View = store): Promise<boolean> =>
  authorizer.allows({ view, access, mode: 'control', iri: storage });

/** Who sees a document: controllers, its creator, and of a grant its assignees (unless it is bound to another client). */
function isParty({ house, space }: Endpoint, access: Access, { document, creator }: KeptDocument): boolean {
  const { subject } = access.principal!;
  if (creator === subject) return true;
  return (
    space === 'access-grants' &&
    policiesOf(document, house.storage).some(
      ({ assignees, constraints }) =>
        (assignees.includes(subject) || assignees.includes('http://xmlns.com/foaf/0.1/Agent')) &&
        constraints
          .filter(({ leftOperand }) => leftOperand === 'client')
          .every((bound) => requestFulfils(bound, access, 0)),
    )
  );
}

async function listing(endpoint: Endpoint, { access, query }: RouteRequest): Promise<Reply> {
  const { house, space, type } = endpoint;
  const controller = await controls(house, access);
  const url = endpointUrl(endpoint);
  const found: object[] = [];
  for await (const [, kept] of allKept(house.store, space))
    if (controller || isParty(endpoint, access, kept))
      found.push({
        id: kept.document.id,
        type: ['DataResource', type],
        format: lwsJson,
        size: bytesOf(kept).length,
        modified: new Date(kept.created).toISOString(),
      });
  const page = pageOf(query.toString()) ?? 1;
  const last = Math.max(1, Math.ceil(found.length / pageSize));
  if (page > last) throw new LwsError('page-not-found', `The listing has ${last} pages.`);
  const items = found.slice((page - 1) * pageSize, page * pageSize);
  const document = { '@context': lwsContext, id: url, type: 'Container', totalItems: found.length, items };
  const Link = [formatLink(house.storage, lws.storage), pageLinks(url, page, last)].join(', ');
  return { status: 200, fields: { ...documentFields, Link }, body: Buffer.from(JSON.stringify(document)) };
}

const documentFields = {
  'Content-Type': lwsJson,
  'Cache-Control': 'private, no-store',
  'X-Content-Type-Options': 'nosniff',
} as const;

const bytesOf = ({ document }: KeptDocument): Buffer => Buffer.from(JSON.stringify(document));

async function post(endpoint: Endpoint, { access, body: open }: RouteRequest): Promise<Reply> {
  const { house, space, type } = endpoint;
  const mayPost = async (view?: View): Promise<void> => {
    if (type === 'AccessGrant' && !(await controls(house, access, view)))
      throw new LwsError('forbidden', 'Only who controls the storage may grant access.', {
        reason: 'no control of the root',
      });
  };
  await mayPost();
  const body = open();
  if (body.mediaType !== lwsJson)
    throw new LwsError('unsupported-media-type', `An ${type} is sent as ${lwsJson}.`, {
      fields: { 'Accept-Post': lwsJson },
    });
  const sent = parseJson(decodeUtf8(await readBody(body, longestDocument)));
  const name = randomUUID();
  const document = acceptDocument(sent, type, `${endpointUrl(endpoint)}/${name}`, house.storage);
  if (typeof document['inbox'] === 'string') await house.admitInbox(document['inbox']);
  const kept: KeptDocument = { document, creator: access.principal!.subject, created: house.clock() };
  await house.store.transact(async (tx) => {
    await mayPost(tx);
    tx.putEntry(keyOf(space, name), JSON.stringify(kept));
    tx.actor = kept.creator;
    tx.announcements.push({
      id: document.id,
      types: ['DataResource', type],
      inboxes: inboxesOf(endpoint, document, tx),
    });
  });
  return {
    status: 201,
    fields: { ...documentFields, ...validators(kept), Location: document.id, Link: links(endpoint) },
    body: bytesOf(kept),
  };
}

/** Who is told of a document: its own inbox, the controllers', and for a grant the inbox of the request that it names. */
function inboxesOf({ house, controllerInbox }: Endpoint, document: AccessDocument, tx: Transaction): string[] {
  const prefix = `${house.baseUri}${house.systemPrefix}/access-requests/`;
  const named = typeof document['request'] === 'string' ? document['request'] : '';
  const value = named.startsWith(prefix) ? tx.entry(keyOf('access-requests', named.slice(prefix.length))) : undefined;
  const requested = value === undefined ? undefined : readKept(value).document['inbox'];
  return [document['inbox'], controllerInbox, requested].filter((inbox): inbox is string => typeof inbox === 'string');
}

const links = (endpoint: Endpoint): string =>
  [formatLink(endpoint.house.storage, lws.storage), formatLink(endpointUrl(endpoint), 'up')].join(', ');

const tagOf = (kept: KeptDocument): string =>
  createHash('sha256').update(bytesOf(kept)).digest('base64url').slice(0, 16);
const validators = (kept: KeptDocument): Record<string, string> => ({
  ETag: formatEntityTag(tagOf(kept)),
  'Last-Modified': formatHttpDate(kept.created),
});

/** The document, for who may see it. @throws LwsError `not-found` for everybody else */
async function visible(
  endpoint: Endpoint,
  { access, parameters }: RouteRequest,
): Promise<KeptDocument & { readonly controller: boolean }> {
  const { house, space } = endpoint;
  const value = house.store.entry(keyOf(space, parameters['name']!));
  const kept = value === undefined ? undefined : readKept(value);
  const controller = await controls(house, access);
  if (!kept || !(controller || isParty(endpoint, access, kept)))
    throw new LwsError('not-found', 'There is nothing here, or nothing that you may see.', {
      reason: kept ? 'neither creator, assignee nor controller' : 'absent',
    });
  return { ...kept, controller };
}

async function read(endpoint: Endpoint, request: RouteRequest): Promise<Reply> {
  const kept = await visible(endpoint, request);
  const fields = { ...documentFields, ...validators(kept), Link: links(endpoint) };
  if (isNotModified(preconditions(request.req), tagOf(kept), kept.created)) return { status: 304, fields };
  return { status: 200, fields, body: bytesOf(kept) };
}

async function remove(endpoint: Endpoint, request: RouteRequest): Promise<Reply> {
  const { house, space } = endpoint;
  const { creator, controller } = await visible(endpoint, request);
  if (!controller && creator !== request.access.principal!.subject)
    throw new LwsError('forbidden', 'Only its issuer and controllers may delete a grant.', { reason: 'an assignee' });
  const key = keyOf(space, request.parameters['name']!);
  await house.store.transact((tx) => tx.deleteEntry(key), { frees: true });
  return { status: 204, fields: {} };
}
