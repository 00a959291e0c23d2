/** Handles requests for ACLs, with Web Access Control (rule 3.7). */
import type { AclDocument } from '../authorization/acl.js';
import type { AclIndex } from '../authorization/acl-index.js';
import { type RdfFormat, rdfFormats, turtle } from '../rdf/formats.js';
import { deleteAcl, noAcl, patchAcl, putAcl, requireControl } from '../resources/acl-resource.js';
import { rdfPatches } from '../resources/methods.js';
import { aclOf } from '../resources/names.js';
import { assertPreconditions, isNotModified } from '../resources/preconditions.js';
import { variantOf } from '../resources/variants.js';
import { LwsError } from '../tools/errors.js';
import { formatHttpDate } from '../tools/fields/date.js';
import { formatEntityTag } from '../tools/fields/etag.js';
import { wantContentDigest } from './digests.js';
import { chooseRdfFormat } from './negotiate.js';
import type { Reply } from './reply.js';
import { preconditionsOf, type ResourceExchange } from './resource-exchange.js';
import { documentLinks } from './state-fields.js';

const allowed = 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS';

/** Responds to an ACL request. @throws LwsError as for a nonexistent resource if the caller can neither control nor read it */
export async function aclReply(exchange: ResourceExchange, index: AclIndex, iri: string): Promise<Reply> {
  const { storage, req, access, target } = exchange;
  const { method } = req;
  const fixed = { Allow: allowed, 'Accept-Patch': rdfPatches(storage).join(', '), Link: documentLinks(iri, storage) };
  if (method === 'GET' || method === 'HEAD') return read(exchange, iri, fixed);
  if (target.query !== undefined && (method === 'PUT' || method === 'PATCH' || method === 'DELETE')) {
    await requireControl(storage, storage.store, access, iri);
    throw new LwsError('bad-request', 'Write an ACL at its own IRI, without a query.');
  }
  const request = { iri, access, preconditions: preconditionsOf(exchange) };
  if (method === 'PUT' || method === 'PATCH') {
    const write = method === 'PUT' ? putAcl : patchAcl;
    const { acl, created } = await write(storage, index, { ...request, body: exchange.body() });
    const fields = { ...fixed, ...validators(acl, turtle), 'Want-Content-Digest': wantContentDigest };
    return created ? { status: 201, fields: { ...fields, Location: aclOf(iri) } } : { status: 204, fields };
  }
  if (method === 'DELETE') {
    await deleteAcl(storage, request);
    return { status: 204, fields: { ...fixed, 'Want-Content-Digest': wantContentDigest } };
  }
  await requireControl(storage, storage.store, access, iri);
  if (method === 'OPTIONS') return { status: 204, fields: { ...fixed, 'Accept-Put': rdfFormats.join(', ') } };
  throw new LwsError(
    'method-not-allowed',
    'This method is not allowed on an ACL. Allowed: GET, HEAD, PUT, PATCH, DELETE.',
    {
      fields: { Allow: allowed },
    },
  );
}

const validators = ({ revision, modified }: AclDocument, format: RdfFormat): Record<string, string> => ({
  ETag: formatEntityTag(`${revision}.${variantOf(format)}`),
  'Last-Modified': formatHttpDate(modified),
});

/** Base IRI without relative references. An ACL's references are relative to its resource, but clients would use the ACL. */
const nowhere = 'urn:x-quadpod:nowhere';

async function read(exchange: ResourceExchange, iri: string, fixed: Record<string, string>): Promise<Reply> {
  const { storage, req, access } = exchange;
  const { acl } = await requireControl(storage, storage.store, access, iri);
  if (!acl) throw noAcl();
  const wanted = chooseRdfFormat(req.headers.accept);
  const rendered = await storage.documents.render(acl.keys, wanted, nowhere, acl.prefixes);
  const format = rendered ? wanted : turtle;
  const bytes = rendered ?? (await storage.documents.render(acl.keys, turtle, nowhere, acl.prefixes))!;
  const conditions = preconditionsOf(exchange);
  assertPreconditions({ ...conditions, ifNoneMatch: undefined }, acl, acl.revision);
  const fields = {
    ...fixed,
    ...validators(acl, format),
    'Content-Type': format,
    Vary: 'Accept',
    'Cache-Control': 'private, no-cache',
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "sandbox; default-src 'none'",
  };
  if (isNotModified(conditions, `${acl.revision}.${variantOf(format)}`, acl))
    return { status: 304, fields, isCodable: true };
  return { status: 200, fields, body: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), isCodable: true };
}
