/**
 * The linkset of a resource, `<resource>.meta`: for now the links that the server manages, to be read (service.md,
 * "Linkset resource"). It must not know how links come about.
 */
import { createHash } from 'node:crypto';
import { requireAccess } from '../authorization/guard.js';
import { LwsError } from '../errors.js';
import { formatHttpDate } from '../fields/date.js';
import { formatEntityTag } from '../fields/etag.js';
import { formatLink } from '../fields/link.js';
import { lws } from '../rdf/vocabulary.js';
import { linksetOf } from '../resources/names.js';
import { isNotModified } from '../resources/preconditions.js';
import { structuralType } from '../resources/types.js';
import { reservedName } from '../resources/write.js';
import { parentOf, type ResourceRecord } from '../storage/records.js';
import { preconditions } from './request.js';
import type { ResourceExchange } from './resource-routes.js';
import type { Reply } from './respond.js';

const allowed = 'GET, HEAD, OPTIONS';

/** Answers a request for the linkset of `described`. @throws LwsError as a read of the described resource */
export async function linksetReply(exchange: ResourceExchange, described: string): Promise<Reply> {
  const { storage, req, access } = exchange;
  const record = await requireAccess(storage, storage.store, access, 'read', described);
  if (req.method === 'PUT') throw reservedName();
  const link = formatLink(storage.storage, lws.storage);
  if (req.method === 'OPTIONS') return { status: 204, fields: { Allow: allowed, Link: link } };
  if (req.method !== 'GET' && req.method !== 'HEAD')
    throw new LwsError('method-not-allowed', 'The linkset can be read.', { fields: { Allow: allowed } });
  const bytes = Buffer.from(JSON.stringify(serverManagedLinks(record, storage.storage)));
  const tag = createHash('sha256').update(bytes).digest('base64url').slice(0, 16);
  const fields = {
    'Content-Type': 'application/linkset+json',
    ETag: formatEntityTag(tag),
    'Last-Modified': formatHttpDate(record.modified),
    'Cache-Control': 'private, no-cache',
    Allow: allowed,
    Link: link,
  };
  if (isNotModified(preconditions(req), tag, record.modified)) return { status: 304, fields };
  return { status: 200, fields, body: bytes };
}

function serverManagedLinks(record: ResourceRecord, storage: string): object {
  const links = {
    anchor: record.iri,
    type: [{ href: structuralType(record.kind) }],
    ...(record.iri === storage ? {} : { up: [{ href: parentOf(record.iri) }] }),
    linkset: [{ href: linksetOf(record.iri) }],
    [lws.storage]: [{ href: storage }],
  };
  return { linkset: [links] };
}
