/** PATCH: SPARQL Update on RDF, JSON Merge Patch and JSON Patch on JSON (rule 6.14). */
import { attribute } from '../authorization/audit.js';
import type { View } from '../authorization/authorizer.js';
import { requireAccess, requireEither } from '../authorization/guard.js';
import type { GraphDelta } from '../query/change-set.js';
import type { SentUpdate } from '../query/parse/read-update.js';
import { n3Patch } from '../settings/profile.js';
import type { ResourceRecord } from '../storage/keys/records.js';
import { Again } from '../storage/transactions/again.js';
import type { Prepare } from '../storage/transactions/commit-queue.js';
import type { Transaction } from '../storage/transactions/transaction.js';
import { LwsError } from '../tools/errors.js';
import { decodeUtf8 } from '../tools/json/json.js';
import { type Content, discardBody, type RequestBody, readRequestBody, roomFor, storeBytes } from './body.js';
import { stageDelta, stageLinksAlone } from './graph-delta.js';
import { acceptedPatches, mergePatch, rdfPatches } from './methods.js';
import { patchAbsent } from './patch-absent.js';
import { assertPreconditions } from './preconditions.js';
import { blobBytes } from './read.js';
import type { Storage } from './storage.js';
import { rememberTurtle, stageContent, type WriteRequest, type WriteResult } from './write.js';

export interface PatchRequest extends WriteRequest {
  readonly body: RequestBody;
  /** True if the outcome of the patch depends on the content. The outcome would reveal the content: it requires read access. */
  readonly readsContent?: boolean;
  /** True if the caller has no read access. */
  readonly isBlind?: boolean;
  /** True if the patch removes triples. Absent: not known yet. */
  readonly removes?: boolean;
}

/**
 * Applies a patch. A patch without effect keeps the revision and the entity tag. A patch of a
 * nonexistent resource may create it.
 * @throws LwsError `unsupported-media-type`, `precondition-failed`, `malformed-body`,
 * `named-graph`, `patch-conflict`, `update-timeout`
 */
export async function patch(storage: Storage, given: PatchRequest): Promise<WriteResult> {
  const { authorizer, documents, store } = storage;
  const { access, body, iri } = given;
  if (!store.record(iri)) return patchAbsent(storage, given, (same) => patch(storage, same));
  const isBlind = !(await authorizer.allows({ view: store, access, mode: 'read', iri }));
  const request = Object.assign({}, given, { isBlind });
  const { kind } = await admit(storage, store, request);
  const bytes = await readRequestBody(storage, body);
  if (kind !== 'json')
    return patchGraph(storage, request, { text: decodeUtf8(bytes), isN3: body.mediaType === n3Patch });
  const isPatch = body.mediaType !== mergePatch;
  const readsContent = isPatch && (!request.isBlind || (await documents.readsContent(bytes)));
  const asked = readsContent ? requireRead(request) : request;
  return patchJson(storage, asked, bytes);
}

/** Returns the request, marked as dependent on the content. @throws LwsError `forbidden` for callers without read access */
function requireRead(request: PatchRequest): PatchRequest {
  if (!request.isBlind) return Object.assign({}, request, { readsContent: true });
  throw new LwsError(
    'forbidden',
    'You may write this resource, but not read it. Updates with a WHERE, and JSON Patch operations that depend on ' +
      'the document, would reveal its content. Send INSERT DATA, DELETE DATA, a merge patch, or "add" of a member.',
  );
}

async function patchGraph(storage: Storage, given: PatchRequest, update: SentUpdate): Promise<WriteResult> {
  const { documents, profile, store } = storage;
  const { iri, access, links, isBlind = false } = given;
  // Rule 20.6: under a profile, updates of any length without variables need no read access.
  const inlineOnly = !(isBlind && profile?.appendsByPatch);
  const data = await documents.evaluateUpdate(update, { graph: iri, inlineOnly });
  const request = data && !(data.isStrict && data.removes) ? given : requireRead(given);
  let needsSnapshot = !data;
  const prepare = async (): Promise<GraphDelta> => {
    const record = store.record(iri);
    // Prefetch the graph, so that the transaction reads it from memory.
    if (record && !needsSnapshot) await store.prefetch(record);
    return data && !needsSnapshot ? data : (await documents.evaluateUpdate(update, { graph: iri }, store))!;
  };
  const work = async (tx: Transaction, delta: GraphDelta) => {
    attribute(tx, access);
    const before = await admit(storage, tx, Object.assign({}, request, { removes: delta.removes !== false }));
    const staged = await stageDelta({ storage, tx }, before, { delta, length: update.text.length, links, isBlind });
    needsSnapshot = !staged;
    if (!staged) throw new Again(iri);
    return staged;
  };
  const { content, record } = await store.transact(work, { prepare, iri: data ? undefined : iri });
  rememberTurtle(storage, record, content);
  return { record, created: false };
}

/** Performs the checks that do not need the body. Runs before the body is read, and again inside the transaction. */
async function admit(
  storage: Storage,
  view: View,
  { iri, access, preconditions, body, links, readsContent, removes }: PatchRequest,
): Promise<ResourceRecord> {
  const isOfGraph = !links && rdfPatches(storage).includes(body.mediaType);
  const mayInsert = storage.profile?.appendsByPatch && isOfGraph && !removes;
  const record = mayInsert
    ? await requireEither(storage, { view, access, iri }, ['append', 'write'])
    : await requireAccess(storage, view, access, 'write', iri);
  if (readsContent) await requireAccess(storage, view, access, 'read', iri);
  const accepted = acceptedPatches(record, storage);
  if (!accepted.includes(body.mediaType))
    throw new LwsError(
      'unsupported-media-type',
      accepted.length > 0
        ? `This media type cannot patch the resource. Send ${accepted.join(' or ')}.`
        : 'This resource cannot be patched.',
      { fields: { 'Accept-Patch': accepted.join(', ') } },
    );
  assertPreconditions(preconditions, record, record.revision);
  return record;
}

/** A JSON resource and its new content. Without content, the document did not change. */
type Patched = readonly [ResourceRecord, Content?];

async function patchJson(storage: Storage, request: PatchRequest, change: Buffer): Promise<WriteResult> {
  const { access, iri, links } = request;
  const prepare: Prepare<Patched> = async (after) => {
    const seen = await requireAccess(storage, storage.store, access, 'write', iri);
    const document = seen.blob && (await blobBytes(storage, seen));
    // The blob was replaced after the record was read.
    if (!document) throw new Again(iri);
    const isMerge = request.body.mediaType === mergePatch;
    const patched = await storage.documents.patchJson(document, change, isMerge);
    if (document.equals(patched) && !request.isBlind) return [seen];
    const content = await storeBytes(storage, patched, seen.mediaType, roomFor(storage, seen.size));
    after((error) => error && discardBody(content, error));
    return [seen, content];
  };
  const work = async (tx: Transaction, [seen, content]: Patched): Promise<ResourceRecord> => {
    attribute(tx, access);
    const before = await admit(storage, tx, request);
    if (before.revision !== seen.revision) throw new Again(iri);
    return content
      ? stageContent({ storage, tx }, before, { content, links: { given: links, partial: true } })
      : stageLinksAlone({ storage, tx }, before, links);
  };
  return { record: await storage.store.transact(work, { prepare, iri }), created: false };
}
