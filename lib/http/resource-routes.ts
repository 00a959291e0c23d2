/** Handles the methods of resources: parses the request, calls the operation and returns the reply. */
import type { IncomingMessage } from 'node:http';
import { requireAccess } from '../authorization/guard.js';
import type { Access } from '../authorization/principal.js';
import { create } from '../resources/create.js';
import { remove } from '../resources/delete.js';
import { jsonListing } from '../resources/membership.js';
import { acceptedPatches, acceptPost, allowedMethods } from '../resources/methods.js';
import { move } from '../resources/move.js';
import { controlledBy, counterpart, describedBy } from '../resources/names.js';
import { patch } from '../resources/patch.js';
import { assertPreconditions } from '../resources/preconditions.js';
import { blobBytes } from '../resources/read.js';
import { replace } from '../resources/replace.js';
import { stateOf } from '../resources/seen-state.js';
import type { Storage } from '../resources/storage.js';
import { requestedModel } from '../resources/types.js';
import { assertUnreserved } from '../resources/write.js';
import { isContainerIri, type ResourceRecord } from '../storage/keys/records.js';
import { LwsError, tooBusy } from '../tools/errors.js';
import { formatHttpDate } from '../tools/fields/date.js';
import { formatEntityTag } from '../tools/fields/etag.js';
import { aclReply } from './acl-routes.js';
import { wantContentDigest } from './digests.js';
import { hasBody } from './http2.js';
import { linksetReply } from './linkset-routes.js';
import { destinationOf, isDeep, overwrites } from './move-fields.js';
import { prefersDescription } from './negotiate.js';
import { pageOf } from './paging.js';
import type { Reply } from './reply.js';
import { representContainer, representData } from './represent.js';
import { field, preferences, requestLinks } from './request.js';
import { preconditionsOf, type ResourceExchange } from './resource-exchange.js';
import { tagOfData } from './resource-facts.js';
import { creationHints, resourceLinks, wacAllow } from './state-fields.js';
import { assertStates } from './state-lists.js';
import { descriptionReply } from './storage-description.js';

const methods: Readonly<Record<string, (exchange: ResourceExchange) => Promise<Reply>>> = {
  GET: read,
  HEAD: read,
  POST: post,
  PUT: put,
  PATCH: patchResource,
  DELETE: deleteResource,
  MOVE: moveResource,
  COPY: moveResource,
  OPTIONS: (exchange) => options(exchange).catch((error: unknown) => creationHints(exchange, error)),
  QUERY: query,
};

/** Responds to a request for a resource. @throws LwsError */
export function resourceReply(exchange: ResourceExchange): Promise<Reply> {
  const { storage, req, access, target } = exchange;
  const isWrite = isWriting(req);
  const described = describedBy(target.iri);
  // `X.meta` below the root is the linkset of X. A linkset is not a resource.
  if (described?.startsWith(storage.rootIri))
    return exchange.earlierStates?.reply(exchange, described) ?? linksetReply(exchange, described);
  const controlled = storage.acls && controlledBy(target.iri);
  if (storage.acls && controlled?.startsWith(storage.rootIri)) return aclReply(exchange, storage.acls, controlled);
  if (isRun(exchange)) return runReply(exchange);
  const earlier = exchange.earlierStates?.reply(exchange);
  if (earlier) return earlier.catch((error: unknown) => creationHints(exchange, error));
  const method = Object.hasOwn(methods, req.method ?? '') ? methods[req.method!] : addedMethod(exchange);
  if (!method) return unsupportedMethod(storage, access, target.iri);
  // Rule 1.3: reserved names are rejected before all other checks.
  if (req.method === 'PUT' || req.method === 'PATCH') assertUnreserved(storage, target.iri);
  if (isWrite && target.query !== undefined)
    throw new LwsError('bad-request', 'Write a resource at its own IRI, without a query.');
  if (storage.profile?.requiresContentType && isUntyped(req))
    throw new LwsError('bad-request', 'The body needs a Content-Type.');
  return method(exchange);
}

/** Returns the function that handles a method added by a component, or `undefined`. */
function addedMethod(exchange: ResourceExchange) {
  const { resourceMethods, req, access, address, target, body } = exchange;
  const { handlers = {} } = resourceMethods ?? {};
  const handle = Object.hasOwn(handlers, req.method ?? '') ? handlers[req.method!] : undefined;
  const query = new URLSearchParams(target.query);
  return (
    handle &&
    (async () => {
      await assertStates(exchange);
      return handle({ req, access, address, query, body, parameters: { iri: target.iri } });
    })
  );
}

const writes = new Set(['PUT', 'PATCH', 'DELETE', 'POST', 'MOVE', 'COPY']);
const isWriting = ({ method = '' }: IncomingMessage): boolean => writes.has(method);

/** Returns true for a request with a body but without Content-Type (rule 20.8). */
const isUntyped = (req: IncomingMessage): boolean =>
  req.method !== 'DELETE' &&
  req.headers['content-type'] === undefined &&
  req.headers['content-length'] !== '0' &&
  hasBody(req);

async function unsupportedMethod(storage: Storage, access: Access, iri: string): Promise<never> {
  const record = await requireAccess(storage, storage.store, access, 'read', iri);
  throw new LwsError('method-not-allowed', 'The method is not supported.', {
    fields: { Allow: allowedMethods(record, storage).join(', ') },
  });
}

type Reading = Pick<ResourceExchange, 'storage' | 'description' | 'req' | 'access' | 'target' | 'webDav'>;

/** Responds to GET and HEAD. Available values are not awaited, because each await slows down a small GET. @throws LwsError */
export async function read(exchange: Reading): Promise<Reply> {
  const { storage, description, req, access, target } = exchange;
  try {
    if (target.iri === storage.rootIri && pageOf(target.query) === undefined && prefersDescription(req.headers.accept))
      return descriptionReply(req, storage, description);
    // If the resource was replaced while its content was located, it is read again.
    for (let attempt = 0; attempt < 5; attempt++) {
      const granted = requireAccess(storage, storage.store, access, 'read', target.iri);
      const record = granted instanceof Promise ? await granted : granted;
      const { headers } = req;
      if (
        headers['if-match'] !== undefined ||
        headers['if-unmodified-since'] !== undefined ||
        exchange.webDav?.stateLists
      )
        await assertReadable(exchange, record);
      const found =
        record.kind === 'container'
          ? representContainer(storage, req, access, record, target.query)
          : representData(storage, req, record);
      const reply = found instanceof Promise ? await found : found;
      if (!reply) continue;
      // If the revision changed after authorization, the new revision is authorized before the reply.
      if (storage.store.record(target.iri)?.revision !== record.revision) await assertStillReadable(exchange, reply);
      const links = storage.linksOf?.(access, target.iri);
      if (!storage.acls && !links) return reply;
      const fields: Record<string, string | readonly string[]> = Object.assign({}, reply.fields);
      if (storage.acls) fields['WAC-Allow'] = await wacAllow(storage, access, record);
      if (links) fields['Link'] = [fields['Link'], ...(await links)].join(', ');
      return Object.assign({}, reply, { fields });
    }
    throw tooBusy('The resource is being replaced again and again. Retry in a second.', 1);
  } catch (error) {
    return creationHints(exchange, error);
  }
}

async function assertStillReadable({ storage, access, target }: Reading, { body }: Reply): Promise<void> {
  try {
    await requireAccess(storage, storage.store, access, 'read', target.iri);
  } catch (error) {
    if (body && !Buffer.isBuffer(body)) body.destroy();
    throw error;
  }
}

/** Checks If-Match and If-Unmodified-Since, which apply to reads too (RFC 9110 13.2.2). */
async function assertReadable(exchange: Reading, record: ResourceRecord): Promise<void> {
  const { storage, access } = exchange;
  const seen = await stateOf(storage, storage.store, access, record);
  assertPreconditions({ ...preconditionsOf(exchange), ifNoneMatch: undefined }, seen, seen.state);
}

/** Returns options that all writes have. @throws LwsError as `preconditions` */
export const writeOf = (exchange: ResourceExchange) =>
  ({
    iri: exchange.target.iri,
    access: exchange.access,
    preconditions: preconditionsOf(exchange),
    model: undefined,
  }) as const;

async function post(exchange: ResourceExchange): Promise<Reply> {
  const { storage, req, target } = exchange;
  const links = requestLinks(req);
  const { iri, access, preconditions } = writeOf(exchange);
  const { record } = await create(storage, {
    iri,
    access,
    preconditions,
    model: exchange.model ?? requestedModel(links, target.iri),
    // Rule 6.4: the links of a POST that creates a resource are its first metadata.
    links: links.length > 0 ? links : undefined,
    // Rule 6.2: a longer value is cut.
    slug: field(req, 'slug')?.slice(0, 1_000),
    body: exchange.body(),
  });
  const fields = await writtenFields(exchange, record);
  fields['Location'] = record.iri;
  return { status: 201, fields };
}

async function put(exchange: ResourceExchange): Promise<Reply> {
  const { storage, req, target } = exchange;
  // RFC 9110 14.5: partial content must not be stored as complete content.
  if (req.headers['content-range'] !== undefined)
    throw new LwsError('bad-request', 'Partial PUT is not supported. Send the whole content without Content-Range.');
  const links = requestLinks(req);
  const { iri, access, preconditions } = writeOf(exchange);
  const { record, created } = await replace(storage, {
    iri,
    access,
    preconditions,
    model: exchange.model ?? requestedModel(links, target.iri),
    links: setsLinkset(req) ? links : undefined,
    body: exchange.body(),
  });
  return written(exchange, record, created);
}

async function patchResource(exchange: ResourceExchange): Promise<Reply> {
  const { storage, req } = exchange;
  const own = { links: setsLinkset(req) ? requestLinks(req) : undefined, body: exchange.body() };
  const { record, created } = await patch(storage, Object.assign(writeOf(exchange), own));
  return written(exchange, record, created);
}

/** Returns the response to a write. */
export async function written(exchange: ResourceExchange, record: ResourceRecord, created: boolean): Promise<Reply> {
  const fields = await writtenFields(exchange, record);
  const { storage, req, access } = exchange;
  const { iri } = record;
  // Rule 6.13: tag and date would reveal to a caller without read access whether its patch changed anything.
  const isMasked =
    !created &&
    req.method !== 'PUT' &&
    !(await storage.authorizer.allows({ view: storage.store, access, mode: 'read', iri, record }));
  if (isMasked) for (const name of ['ETag', 'Last-Modified']) delete fields[name];
  if (created) fields['Location'] = iri;
  return { status: created ? 201 : 204, fields };
}

async function deleteResource(exchange: ResourceExchange): Promise<Reply> {
  const { storage, req, webDav } = exchange;
  const own = {
    // Depth of DELETE: RFC 4918 9.6.1, 10.2. Other values are ignored (rules 6.20, 25.10).
    recursive: (field(req, 'depth') ?? (webDav ? 'infinity' : '')).trim().toLowerCase() === 'infinity',
    // The body of a DELETE has no meaning (RFC 9110 9.3.5). It is read only to check a digest.
    body: req.headers['content-digest'] === undefined ? undefined : exchange.body(),
  };
  await remove(storage, Object.assign(writeOf(exchange), own));
  return { status: 204, fields: { 'Want-Content-Digest': wantContentDigest } };
}

/** Handles MOVE and COPY (rule 6.23). */
async function moveResource(exchange: ResourceExchange): Promise<Reply> {
  const { storage, req, target, webDav } = exchange;
  const copies = req.method === 'COPY';
  const destination = destinationOf(storage, req);
  const { record, created } = await move(storage, {
    ...writeOf(exchange),
    ...{ copies, overwrites: overwrites(req), replacesOtherKind: webDav !== undefined },
    destination:
      webDav && isContainerIri(destination) !== isContainerIri(target.iri) ? counterpart(destination) : destination,
    isDeep: isDeep(req, copies),
    rewrites: preferences(req).has('rewrite-links'),
  }).catch((error: unknown) => {
    // WebDAV requires 409 if the parent does not exist (RFC 4918 9.8.5, 9.9.4).
    const isOrphan = webDav && error instanceof LwsError && error.code === 'parent-not-found';
    throw isOrphan ? new LwsError('conflict', error.message) : error;
  });
  const reply = await written(exchange, record, created);
  if (!preferences(req).has('rewrite-links')) return reply;
  return { ...reply, fields: { ...reply.fields, 'Preference-Applied': 'rewrite-links' } };
}

/** Returns the record, without the declared types if the caller has no read access. */
async function shown(storage: Storage, access: Access, record: ResourceRecord): Promise<ResourceRecord> {
  const { authorizer, store } = storage;
  if (!record.types || (await authorizer.allows({ view: store, access, mode: 'read', iri: record.iri, record })))
    return record;
  const { types: _types, ...rest } = record;
  return rest;
}

/** True for `Prefer: set-linkset`: the links of the request then become metadata (rule 11.10). */
const setsLinkset = (req: IncomingMessage): boolean => preferences(req).has('set-linkset');

const formType = 'application/x-www-form-urlencoded';
const formHint = { 'LWS-Hint': `Stored as ${formType}, the default Content-Type of curl.` };

/** Returns the fields about the new state after a write. The entity tag is the tag of a GET without Accept (rule 8.1). */
async function writtenFields(
  { storage, req, access }: ResourceExchange,
  record: ResourceRecord,
): Promise<Record<string, string>> {
  const { kind, modified } = record;
  const tag = kind === 'container' ? (await jsonListing(storage, access, record, undefined)).tag : tagOfData(record);
  const fields: Record<string, string> = {
    ETag: formatEntityTag(tag),
    'Last-Modified': formatHttpDate(modified),
    Link: resourceLinks(await shown(storage, access, record), storage),
    'Want-Content-Digest': wantContentDigest,
  };
  if (setsLinkset(req)) fields['Preference-Applied'] = 'set-linkset';
  if (kind === 'binary' && req.headers['content-type']?.startsWith(formType)) Object.assign(fields, formHint);
  return fields;
}

/** Runs a query over a resource, or over a container with all descendants (rule 14.8). */
async function query(exchange: ResourceExchange): Promise<Reply> {
  const { storage, resourceQuery, req, access, address, target } = exchange;
  if (!resourceQuery) return unsupportedMethod(storage, access, target.iri);
  const { iri } = await requireAccess(storage, storage.store, access, 'read', target.iri);
  const { accept, 'content-type': type } = req.headers;
  const parameters = new URLSearchParams(target.query);
  const content = { body: exchange.body(), hasContentType: type !== undefined };
  return resourceQuery.ask({ access, address, req, accept, ...content, iri, parameters });
}

async function options({ storage, resourceQuery, resourceMethods, access, target }: ResourceExchange): Promise<Reply> {
  const record = await requireAccess(storage, storage.store, access, 'read', target.iri);
  const patches = acceptedPatches(record, storage);
  return {
    status: 204,
    fields: {
      Allow: allowedMethods(record, storage).join(', '),
      ...(patches.length > 0 ? { 'Accept-Patch': patches.join(', ') } : {}),
      ...(record.kind === 'container' ? { 'Accept-Post': acceptPost } : { 'Accept-Put': acceptPost }),
      ...(resourceQuery ? { 'Accept-Query': resourceQuery.mediaType } : {}),
      ...resourceMethods?.optionsFields,
      Link: resourceLinks(record, storage),
    },
  };
}

/** True if the request is to run a stored query. */
const isRun = ({ req, target, resourceQuery }: ResourceExchange): boolean =>
  resourceQuery !== undefined &&
  (req.method === 'GET' || req.method === 'HEAD') &&
  target.query !== undefined &&
  new URLSearchParams(target.query).has('run');

/** Runs a stored query with the permissions of the caller, who must be able to read the query. @throws LwsError */
async function runReply(exchange: ResourceExchange): Promise<Reply> {
  const { storage, resourceQuery, req, access, address, target } = exchange;
  const guard = async () => requireAccess(storage, storage.store, access, 'read', target.iri);
  const record = await guard();
  return resourceQuery!.run({
    access,
    address,
    req,
    record,
    parameters: new URLSearchParams(target.query),
    bytes: () => blobBytes(storage, record),
    guard,
  });
}
