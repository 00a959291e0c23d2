/** Writes linksets: PUT of a document, and the two patch types (rule 11.5). */
import { attribute } from '../authorization/audit.js';
import type { View } from '../authorization/authorizer.js';
import { requireAccess } from '../authorization/guard.js';
import type { SentUpdate } from '../query/parse/read-update.js';
import { n3Patch } from '../settings/profile.js';
import { applied } from '../storage/keys/graph-changes.js';
import { decodeGraph } from '../storage/keys/quad-decoding.js';
import { newRevision, type ResourceRecord } from '../storage/keys/records.js';
import { Again } from '../storage/transactions/again.js';
import type { Transaction } from '../storage/transactions/transaction.js';
import { LwsError, patchConflict } from '../tools/errors.js';
import { decodeUtf8, parseJson } from '../tools/json/json.js';
import { readBody } from './body.js';
import {
  type ClientLinks,
  linksetBytes,
  linksetGraph,
  linksetTag,
  linksOfGraph,
  readLinkset,
  readWritten,
} from './linkset.js';
import { clientLinks, linksetTooLarge, sameLinks, stageLinks } from './metadata.js';
import { jsonPatch, linksetJson, linksetPatches, mergePatch, rdfPatches } from './methods.js';
import { linksetOf } from './names.js';
import type { PatchRequest } from './patch.js';
import { assertPreconditions } from './preconditions.js';
import type { Storage } from './storage.js';

/** Current state of a linkset. */
export interface LinksetState {
  readonly record: ResourceRecord;
  readonly links: ClientLinks;
  readonly bytes: Buffer;
  readonly tag: string;
  /** True if the caller has no read access. */
  readonly isBlind?: true;
}

/** Returns the linkset of a resource, read from `view`. */
export function linksetState(
  storage: Storage,
  view: { entry(key: string): string | undefined },
  record: ResourceRecord,
): LinksetState {
  const links = clientLinks(view, record.iri);
  const bytes = linksetBytes(record, links, storage.rootIri);
  return { record, links, bytes, tag: linksetTag(bytes) };
}

/** A write of the linkset of `iri`, the described resource. */
export type LinksetRequest = Omit<PatchRequest, 'model' | 'links'> & {
  /** True to accept a shape constraint that existing resources violate. */
  readonly isLenient?: boolean;
};

/**
 * Replaces the client-managed links with a document, or patches them.
 * @throws LwsError `unsupported-media-type`, `precondition-required`, `precondition-failed`, `malformed-body`,
 * `anchor-mismatch`, `patch-conflict`, `linkset-too-large`
 */
export async function writeLinkset(storage: Storage, request: LinksetRequest, put: boolean): Promise<LinksetState> {
  await admit(storage, storage.store, request, put);
  const bytes = await readLinksetBody(storage, request);
  const prepare = async () => {
    const seen = await admit(storage, storage.store, request, put);
    const links = put
      ? readLinkset(parseJson(decodeUtf8(bytes)), request.iri)
      : await patchLinks(storage, seen, bytes, request.body.mediaType);
    await storage.store.prefetch(seen.record);
    return { seen, links };
  };
  return storage.store.transact(
    async (tx, { seen, links }) => {
      attribute(tx, request.access);
      if (request.isLenient) tx.handling = 'lenient';
      const current = await admit(storage, tx, request, put);
      // Only `If-Match: *` allows a concurrent change. The patch is then recomputed.
      if (!put && current.tag !== seen.tag) throw new Again(request.iri);
      return stage(storage, tx, current, links);
    },
    { prepare },
  );
}

function stage(storage: Storage, tx: Transaction, current: LinksetState, links: ClientLinks): LinksetState {
  const { record: before } = current;
  if (sameLinks(current.links, links)) return current;
  const { isBlind } = current;
  const after = stageLinks(storage, tx, before, links);
  tx.putRecord(after);
  tx.changed({ before, after });
  return { ...linksetState(storage, tx, after), ...(isBlind && { isBlind }) };
}

/** Performs the checks that do not need the body. Runs before the body is read, and again inside the transaction (rule 2.6). */
async function admit(
  storage: Storage,
  view: View,
  { iri, access, preconditions, body }: LinksetRequest,
  put: boolean,
): Promise<LinksetState> {
  const record = await requireAccess(storage, view, access, 'write', iri);
  const accepted = put ? [linksetJson] : linksetPatches(iri, storage);
  if (!accepted.includes(body.mediaType))
    throw new LwsError(
      'unsupported-media-type',
      `A linkset cannot be written with this media type. Send ${accepted.join(' or ')}.`,
      {
        fields: put ? {} : { 'Accept-Patch': accepted.join(', ') },
      },
    );
  const isOfGraph = rdfPatches(storage).includes(body.mediaType);
  if (preconditions.ifMatch === undefined && !isOfGraph)
    throw new LwsError('precondition-required', 'Writing a linkset requires If-Match with the current ETag.');
  const state = linksetState(storage, view, record);
  if (await storage.authorizer.allows({ view, access, mode: 'read', iri, record })) {
    assertPreconditions(preconditions, record, state.tag, isOfGraph && storage.requireConditionalWrites);
    return state;
  }
  // Rule 2.4: deleted triples, JSON Patch pointers and the tag, a hash of the content, would reveal the linkset to a caller without read access.
  if (body.mediaType === jsonPatch || isOfGraph) await requireAccess(storage, view, access, 'read', iri);
  assertPreconditions(preconditions, record, newRevision());
  return { ...state, isBlind: true };
}

/** Bytes of server-managed links that a document may also contain, so that clients can write back the document they read. */
const serverPart = 16_384;

/** Reads the body. The limit includes the server's links. Staging checks client links. @throws LwsError `linkset-too-large` */
async function readLinksetBody(storage: Storage, { body }: LinksetRequest): Promise<Buffer> {
  const most = storage.limits.linksetBytes + serverPart;
  const tooLarge = (): LwsError => linksetTooLarge(storage);
  if ((body.length ?? 0) > most) throw tooLarge();
  try {
    return await readBody(body, most);
  } catch (error) {
    if (error instanceof LwsError && error.code === 'too-large') throw tooLarge();
    throw error;
  }
}

/** Returns the client-managed links after a patch of the linkset document, or of the client's relations (rule 11.6). */
async function patchLinks(storage: Storage, seen: LinksetState, patch: Buffer, type: string): Promise<ClientLinks> {
  const { record, links, bytes } = seen;
  const merge = type === mergePatch;
  if (!merge && type !== jsonPatch)
    return patchGraph(storage, seen, { text: decodeUtf8(patch), isN3: type === n3Patch });
  const change = parseJson(decodeUtf8(patch));
  const ofDocument = merge ? isDocument(change) : addressesDocument(change);
  // `type` always exists, so that a patch can add the first type at `/type/-`.
  const target = ofDocument ? bytes : Buffer.from(JSON.stringify({ type: [], ...links }));
  const patched = await storage.documents.patchJson(target, patch, merge);
  const result = parseJson(decodeUtf8(patched));
  return ofDocument ? readLinkset(result, record.iri) : readWritten(result, record.iri);
}

/**
 * Applies an RDF patch (rule 20.12).
 * @throws LwsError `bad-request` for a patch with variables or WHERE, `patch-conflict` if it removes missing triples, and the
 * errors of `linksOfGraph`
 */
async function patchGraph(
  { documents }: Storage,
  { record: { iri }, links }: LinksetState,
  update: SentUpdate,
): Promise<ClientLinks> {
  const delta = await documents.evaluateUpdate(update, { graph: linksetOf(iri) });
  if (!delta)
    throw new LwsError('bad-request', 'Metadata accept only INSERT DATA, DELETE DATA, and N3 Patch without where.');
  const { keys, removed } = applied(linksetGraph(links, iri), delta);
  if (delta.isStrict && removed.length < delta.removed.length)
    throw patchConflict('it removes triples that do not exist');
  return linksOfGraph(decodeGraph(keys), links, iri);
}

/** Returns true if a value is a linkset document: its only member is `linkset`. With other members, `linkset` is a relation. */
const isDocument = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).join() === 'linkset';

/** Returns true if a JSON Patch addresses the document, not the relations. @throws LwsError `malformed-body` for a mix */
function addressesDocument(operations: unknown): boolean {
  const entries = Array.isArray(operations) ? (operations as Readonly<Record<string, unknown>>[]) : [];
  const forms = new Set(
    entries.flatMap((operation) =>
      [operation?.['path'], operation?.['from']].flatMap((pointer) =>
        typeof pointer !== 'string'
          ? []
          : [pointer === '' ? isDocument(operation['value']) : pointsIntoDocument(pointer)],
      ),
    ),
  );
  if (forms.size > 1)
    throw new LwsError(
      'malformed-body',
      'Some pointers of the patch begin with /linkset/ and others with a relation name. Use one form.',
    );
  return forms.has(true);
}

const pointsIntoDocument = (pointer: string): boolean => /^\/linkset(?:\/|$)/.test(pointer);
