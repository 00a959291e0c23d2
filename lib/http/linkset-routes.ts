/** Handles requests for the linkset of a resource, `<resource>.meta` (rules 11.1, 11.5). */
import { createHash } from 'node:crypto';
import { requireAccess } from '../authorization/guard.js';
import type { RdfFormat } from '../rdf/formats.js';
import { linksetBytes, linksetGraph, type RelationFilter, relationName } from '../resources/linkset.js';
import { type LinksetState, linksetState, writeLinkset } from '../resources/linkset-write.js';
import { hasDescription, linksetJson, linksetPatches } from '../resources/methods.js';
import { linksetOf } from '../resources/names.js';
import { assertPreconditions, type Dated, isNotModified } from '../resources/preconditions.js';
import { variantOf } from '../resources/variants.js';
import type { ResourceRecord } from '../storage/keys/records.js';
import { LwsError } from '../tools/errors.js';
import { formatHttpDate } from '../tools/fields/date.js';
import { formatEntityTag } from '../tools/fields/etag.js';
import { wantContentDigest } from './digests.js';
import { chooseDescription } from './negotiate.js';
import type { Reply } from './reply.js';
import { assertReadable, preferences } from './request.js';
import { preconditionsOf, type ResourceExchange } from './resource-exchange.js';
import { documentLinks } from './state-fields.js';

const allowed = 'GET, HEAD, PUT, PATCH, OPTIONS';

/** Responds to a request for the linkset of `described`. @throws LwsError as a read or write of the described resource */
export async function linksetReply(exchange: ResourceExchange, described: string): Promise<Reply> {
  const { storage, req, access, target } = exchange;
  const isWrite = req.method === 'PUT' || req.method === 'PATCH';
  if (isWrite && target.query === undefined) {
    const isLenient = preferences(req).get('handling')?.value === 'lenient';
    const request = {
      iri: described,
      access,
      preconditions: preconditionsOf(exchange),
      body: exchange.body(),
      isLenient,
    };
    const written = await writeLinkset(storage, request, req.method === 'PUT');
    return { status: 204, fields: { ...commonFields(exchange, written), 'Want-Content-Digest': wantContentDigest } };
  }
  const record = await requireAccess(storage, storage.store, access, 'read', described);
  if (isWrite) throw new LwsError('bad-request', 'Write a linkset at its own IRI, without a query.');
  const state = linksetState(storage, storage.store, record);
  if (req.method === 'OPTIONS') return { status: 204, fields: optionsFields(exchange, record) };
  if (req.method !== 'GET' && req.method !== 'HEAD')
    throw new LwsError(
      'method-not-allowed',
      'This method is not allowed on a linkset. Allowed: GET, HEAD, PUT, PATCH.',
      {
        fields: { Allow: allowed },
      },
    );
  return readLinksetState(exchange, state);
}

const optionsFields = ({ storage }: ResourceExchange, { iri }: ResourceRecord): Record<string, string> => ({
  Allow: allowed,
  'Accept-Patch': linksetPatches(iri, storage).join(', '),
  Link: documentLinks(iri, storage),
});

const commonFields = (exchange: ResourceExchange, { record, tag, isBlind }: LinksetState): Record<string, string> => ({
  ...optionsFields(exchange, record),
  ...(isBlind ? {} : { ETag: formatEntityTag(tag), 'Last-Modified': formatHttpDate(dateOf(record).modified) }),
});

/** Returns the date of a linkset: the last write of the client-managed links, or the creation of the resource. */
const dateOf = ({ linked, linkedSharesSecond: sharesSecond, created }: ResourceRecord): Dated => ({
  modified: linked ?? created,
  sharesSecond,
});

interface Description {
  readonly format: RdfFormat;
  readonly bytes: Uint8Array;
}

/** Returns the client-managed links in RDF if the client prefers RDF to a linkset document (rule 20.12). */
async function descriptionOf(
  { storage, req }: ResourceExchange,
  { record: { iri }, links }: LinksetState,
): Promise<Description | undefined> {
  const format = hasDescription(iri, storage) ? chooseDescription(req.headers.accept) : undefined;
  const bytes = format && (await storage.documents.render(linksetGraph(links, iri), format, linksetOf(iri), {}));
  return bytes && { format, bytes };
}

/** Responds to GET and HEAD with a state of a linkset. @throws LwsError `precondition-failed` */
export async function readLinksetState(exchange: ResourceExchange, state: LinksetState): Promise<Reply> {
  const { storage } = exchange;
  const { record, links } = state;
  const description = await descriptionOf(exchange, state);
  const { filter, applied } = description ? { filter: {}, applied: '' } : wantedRelations(exchange);
  const conditions = preconditionsOf(exchange);
  assertPreconditions({ ...conditions, ifNoneMatch: undefined }, dateOf(record), state.tag);
  const ofLinkset = () => (applied === '' ? state.bytes : linksetBytes(record, links, storage.rootIri, filter));
  const bytes = description ? Buffer.from(description.bytes) : ofLinkset();
  // A filtered or RDF variant has a separate tag, which also satisfies If-Match (rules 8.1, 11.9).
  const variant = description ? variantOf(description.format) : hashOf(applied);
  const tag = description || applied !== '' ? `${state.tag}.${variant}` : state.tag;
  const fields = {
    ...commonFields(exchange, { ...state, tag }),
    'Content-Type': description?.format ?? linksetJson,
    Vary: hasDescription(record.iri, storage) ? 'Accept, Prefer' : 'Prefer',
    'Cache-Control': 'private, no-cache',
    'X-Content-Type-Options': 'nosniff',
    ...(applied === '' ? {} : { 'Preference-Applied': applied }),
  };
  if (isNotModified(conditions, tag, dateOf(record))) return { status: 304, fields, isCodable: true };
  return { status: 200, fields, body: bytes, isCodable: true };
}

/** Parses `Prefer: include="..."` and `omit="..."` (rule 11.9). Returns the filter, and the applied preferences. */
function wantedRelations({ req }: ResourceExchange): { filter: RelationFilter; applied: string } {
  const asked = preferences(req);
  const named = (['include', 'omit'] as const).flatMap((preference) => {
    const value = asked.get(preference)?.value;
    return value === undefined ? [] : [{ preference, names: value.split(/\s+/).filter(Boolean) }];
  });
  const filter = Object.fromEntries(
    named.map(({ preference, names }) => [preference, new Set(names.map(relationName))]),
  );
  const echo = named.map(({ preference, names }) => `${preference}="${names.join(' ').replace(/["\\]/g, '\\$&')}"`);
  const applied = echo.join(', ');
  assertReadable('Prefer', applied);
  return { filter, applied };
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 8);
