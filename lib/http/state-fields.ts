/** Response fields that describe a state, and conditions on the state. */
import type { IncomingMessage } from 'node:http';
import type { Mode } from '../authorization/mode.js';
import type { Access } from '../authorization/principal.js';
import { lws } from '../rdf/vocabulary.js';
import {
  acceptedPatches,
  acceptPost,
  allowedMethods,
  hasDescription,
  methodsOfAbsent,
  rdfPatches,
} from '../resources/methods.js';
import { aclOf, counterpart, linksetOf } from '../resources/names.js';
import type { Representation } from '../resources/representations.js';
import type { Storage } from '../resources/storage.js';
import { typeLinks } from '../resources/types.js';
import { parentOf, type ResourceRecord } from '../storage/keys/records.js';
import { LwsError } from '../tools/errors.js';
import { formatHttpDate } from '../tools/fields/date.js';
import { formatLink } from '../tools/fields/link.js';
import { addedLinks, signpostLinks } from './links.js';
import type { Reply } from './reply.js';
import type { ResourceExchange } from './resource-exchange.js';

/** `Cache-Control` for private data that change: caches must revalidate with the tag. */
export const revalidate = 'private, no-cache';

const fieldsOfRecord = new WeakMap<ResourceRecord, Record<string, string>>();

/** Returns the fields that depend only on the record. Cached per state. */
export function recordFields(storage: Storage, record: ResourceRecord): Record<string, string> {
  let fields = fieldsOfRecord.get(record);
  if (!fields) {
    fields = {
      'Last-Modified': formatHttpDate(record.modified),
      Link: [resourceLinks(record, storage), ...signpostLinks(storage, record)].join(', '),
      // The fields are also required for RDF: a browser would run XHTML elements that are predicates in RDF/XML.
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': "sandbox; default-src 'none'",
    };
    fields['Allow'] = allowedMethods(record, storage).join(', ');
    const patches = acceptedPatches(record, storage);
    if (patches.length > 0) fields['Accept-Patch'] = patches.join(', ');
    if (record.kind === 'container') fields['Accept-Post'] = acceptPost;
    fieldsOfRecord.set(record, fields);
  }
  return fields;
}

/** True for a conditional read. */
export const isConditional = ({ headers }: IncomingMessage): boolean =>
  headers['if-none-match'] !== undefined || headers['if-modified-since'] !== undefined;

/** Returns a 304 response with the fields that it must repeat (RFC 9110 15.4.5). */
export const notModified = (fields: Readonly<Record<string, string>>, isCodable = false): Reply => ({
  status: 304,
  fields: fieldsWithout(fields, ofContent),
  isCodable,
});

const ofContent = ['Content-Type', 'Content-Length', 'Accept-Ranges'];

/** Returns a copy of fields without some names. */
export function fieldsWithout(
  fields: Readonly<Record<string, string>>,
  names: readonly string[],
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name in fields) if (!names.includes(name)) kept[name] = fields[name]!;
  return kept;
}

/** Cached replies of a representation, because most requests get the same reply. */
interface KeptReplies {
  readonly contentType: string;
  readonly whole: Reply;
  readonly unchanged: Reply;
}

const replies = new WeakMap<Pick<Representation, 'bytes'>, KeptReplies>();

/** Returns the 200 and 304 responses of a representation. @param fieldsOf returns the other fields, which must not vary */
export function keptReplies(
  representation: Pick<Representation, 'bytes'>,
  contentType: string,
  fieldsOf: () => Record<string, string>,
): KeptReplies {
  let kept = replies.get(representation);
  if (kept?.contentType !== contentType) {
    const { bytes } = representation;
    const own = { 'Content-Type': contentType, 'Content-Length': String(bytes.length) };
    const fields = Object.assign({}, fieldsOf(), own);
    kept = {
      contentType,
      whole: { status: 200, fields, body: bytes, isCodable: true },
      unchanged: notModified(fields, true),
    };
    replies.set(representation, kept);
  }
  return kept;
}

/** Throws an error again. A 404 gets creation hints, for nonexistent and masked resources and for every caller (rule 6.18). */
export async function creationHints(
  { storage, access, target: { iri } }: Pick<ResourceExchange, 'storage' | 'access' | 'target'>,
  error: unknown,
): Promise<never> {
  if (!(error instanceof LwsError) || error.code !== 'not-found') throw error;
  const methods = methodsOfAbsent(iri, storage);
  throw error.with({
    hint: await hintOf(storage, access, iri),
    fields: {
      ...error.fields,
      Allow: methods.join(', '),
      ...(methods.includes('PATCH')
        ? { 'Accept-Patch': rdfPatches(storage).join(', '), 'Accept-Put': acceptPost }
        : {}),
    },
  });
}

/** Returns a hint if the caller can read the resource whose IRI differs only in the trailing slash. */
async function hintOf({ authorizer, store: view }: Storage, access: Access, iri: string): Promise<string> {
  const other = counterpart(iri);
  const record = view.record(other);
  const isTold = record && (await authorizer.allows({ view, access, mode: 'read', iri: other, record }));
  return isTold ? ` Did you mean ${other}?` : '';
}

/** Returns the `Link` value of a linkset or ACL: the storage, and the controlling ACL if there is one. */
export const documentLinks = (
  described: string,
  { rootIri: storage, acls }: Pick<Storage, 'rootIri' | 'acls'>,
): string => [formatLink(storage, lws.storage), ...(acls ? [formatLink(aclOf(described), 'acl')] : [])].join(', ');

const linksOfKind = new Map(
  Object.entries(typeLinks).map(([kind, types]) => [kind, types.map((type) => formatLink(type, 'type')).join(', ')]),
);

/** Returns the `Link` value of a resource: types, storage, parent, linkset, ACL. @param linkset its URL in this state */
export function resourceLinks(
  record: ResourceRecord,
  whole: Pick<Storage, 'rootIri' | 'acls' | 'profile' | 'links'>,
  linkset = linksetOf(record.iri),
): string {
  const { rootIri: storage, acls } = whole;
  const links = [linksOfKind.get(record.kind)];
  for (const type of record.types ?? []) links.push(formatLink(type, 'type'));
  links.push(formatLink(storage, lws.storage));
  if (record.iri !== storage) links.push(formatLink(parentOf(record.iri), 'up'));
  links.push(formatLink(linkset, 'linkset', { type: 'application/linkset+json' }));
  if (hasDescription(record.iri, whole)) links.push(formatLink(linkset, 'describedby'));
  if (acls) links.push(formatLink(aclOf(record.iri), 'acl'));
  links.push(...addedLinks(record.iri, whole));
  return links.join(', ');
}

const modes: readonly Mode[] = ['read', 'append', 'write', 'control'];

export async function wacAllow(storage: Storage, access: Access, record: ResourceRecord): Promise<string> {
  const { origin } = access;
  // A new object is used, because decisions are cached on the access of the request.
  const nobody: Access = origin === undefined ? {} : { origin };
  const asked = access.principal ? allowedModes(storage, access, record) : undefined;
  const open = await allowedModes(storage, nobody, record);
  return `user="${(await asked) ?? open}",public="${open}"`;
}

async function allowedModes(
  { authorizer, store: view }: Storage,
  access: Access,
  record: ResourceRecord,
): Promise<string> {
  const allowed: Mode[] = [];
  for (const mode of modes) {
    const decision = authorizer.allows({ view, access, mode, iri: record.iri, record });
    if (typeof decision === 'boolean' ? decision : await decision) allowed.push(mode);
  }
  return allowed.join(' ');
}
