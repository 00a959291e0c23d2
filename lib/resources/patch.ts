/** PATCH: SPARQL Update on RDF, JSON Merge Patch and JSON Patch on JSON (rule 6.14). */
import { attribute } from '../authorization/audit.js';
import type { View } from '../authorization/authorizer.js';
import { requireAccess, requireEither } from '../authorization/guard.js';
import type { SentUpdate } from '../documents/document-tasks.js';
import { LwsError } from '../errors.js';
import { decodeUtf8 } from '../json/json.js';
import { n3Patch } from '../profile.js';
import type { GraphDelta } from '../query/change-set.js';
import { isLargeGraph } from '../storage/graphs/graph-lines.js';
import type { ResourceRecord } from '../storage/keys/records.js';
import { discard, type RequestBody, readRequestBody, roomFor, storeBytes } from './body.js';
import { stageDelta, stageLinksAlone } from './graph-delta.js';
import { acceptedPatches, mergePatch, rdfPatches } from './methods.js';
import { patchAbsent } from './patch-absent.js';
import { assertPreconditions } from './preconditions.js';
import { blobBytes } from './read.js';
import type { Storage } from './storage.js';
import { OutdatedState, untilCurrent } from './turns.js';
import { rememberTurtle, stageContent, type WriteRequest, type WriteResult } from './write.js';

export interface PatchRequest extends WriteRequest {
  readonly body: RequestBody;
  /** What the patch does depends on the content, and its outcome tells of it: that is reading. */
  readonly looks?: boolean;
  /** True if the caller has no read access. */
  readonly isBlind?: boolean;
  /** It is known to remove something, or that it does not; absent: nothing is known of it yet. */
  readonly removes?: boolean;
}

/**
 * Patches. A patch that changes nothing leaves the state, and its tag, as it was; one of nothing may create a resource.
 * @throws LwsError `unsupported-media-type`, `precondition-failed`, `malformed-body`, `named-graph`, `patch-conflict`,
 *   `update-timeout`
 */
export async function patch(storage: Storage, request: PatchRequest): Promise<WriteResult> {
  if (!storage.store.record(request.iri)) return patchAbsent(storage, request, (same) => patch(storage, same));
  const isBlind = !(await mayRead(storage, request));
  return patchExisting(storage, isBlind ? { ...request, isBlind } : request);
}

const mayRead = async ({ authorizer, store }: Storage, { access, iri }: PatchRequest): Promise<boolean> =>
  authorizer.allows({ view: store, access, mode: 'read', iri });

async function patchExisting(storage: Storage, request: PatchRequest): Promise<WriteResult> {
  const admitted = await admit(storage, storage.store, request);
  const bytes = await readRequestBody(storage, request.body);
  if (admitted.kind === 'json') {
    const isPatch = request.body.mediaType !== mergePatch;
    const asked = isPatch ? await looking(request, () => storage.documents.readsContent(bytes)) : request;
    return untilCurrent(() => patchJson(storage, asked, bytes), request.iri);
  }
  const text = decodeUtf8(bytes);
  const update = { text, isN3: request.body.mediaType === n3Patch };
  const quick = await quickly(storage, request, update);
  const asked = quick && !(quick.isStrict && quick.removes) ? request : await looking(request, () => true);
  return patchGraph(storage, asked, { ...update, quick });
}

/**
 * What the update does, where it is seen to name triples alone: by one who may not read, or only append, under a profile that of any length
 * (rule 20.6).
 */
async function quickly(storage: Storage, request: PatchRequest, update: SentUpdate): Promise<GraphDelta | undefined> {
  const { documents, profile } = storage;
  const { iri, isBlind } = request;
  const quick = await documents.quickChange(update, iri);
  return quick || !profile?.appendsByPatch || !isBlind ? quick : documents.dataChange(update, iri);
}

/**
 * The request of a patch that may look at the content, for one who may read it.
 * @throws LwsError `forbidden` for one who may not, when it does look
 */
async function looking(request: PatchRequest, looks: () => boolean | Promise<boolean>): Promise<PatchRequest> {
  if (!request.isBlind) return { ...request, looks: true };
  if (!(await looks())) return request;
  throw new LwsError(
    'forbidden',
    'You may write this resource, but not read it. Updates with a WHERE, and operations of a JSON Patch that need ' +
      'something in the document, would tell what it holds. Send INSERT DATA, DELETE DATA, a merge patch, or "add" of a member.',
  );
}

interface GraphPatch extends SentUpdate {
  /** What it does, when it was seen at once to name triples alone. */
  readonly quick: GraphDelta | undefined;
}

async function patchGraph(storage: Storage, request: PatchRequest, patch: GraphPatch): Promise<WriteResult> {
  const { iri, access, links, isBlind = false } = request;
  const { text, quick } = patch;
  let needsWhole = false;
  const once = async (): Promise<WriteResult> => {
    const delta = await deltaOf(storage, request, { ...patch, needsWhole });
    const { record, content } = await storage.store.transact(async (tx) => {
      attribute(tx, access);
      const before = await admit(storage, tx, { ...request, removes: delta.removes !== false });
      const staged = await stageDelta({ storage, tx }, before, { delta, length: text.length, links, isBlind });
      needsWhole = !staged;
      if (!staged) throw new OutdatedState(iri);
      return staged;
    });
    rememberTurtle(storage, record, content);
    return { record, created: false };
  };
  return untilCurrent(once, quick ? undefined : iri);
}

/** What the patch does: of any state, where it names triples alone and the graph need not be written out; else of the state of now. */
async function deltaOf(
  storage: Storage,
  request: PatchRequest,
  { quick, needsWhole, ...update }: GraphPatch & { readonly needsWhole: boolean },
): Promise<GraphDelta> {
  const { documents, store } = storage;
  const { iri } = request;
  const record = store.record(iri);
  const { triples = 0 } = record ?? {};
  if (record && quick && !needsWhole && documents.isSmall(triples)) {
    // What the transaction reads is there then.
    await store.prefetch(record);
    return quick;
  }
  const data = isLargeGraph(triples) && !needsWhole ? (quick ?? (await documents.dataChange(update, iri))) : undefined;
  if (data) return data;
  const seen = await store.graph(iri);
  if (!seen) {
    // Deleted meanwhile, or made anew: the admission says which.
    await admit(storage, store, request);
    throw new OutdatedState(iri);
  }
  const { revision, prefixes = {} } = seen.record;
  return { ...(await documents.change(update, { keys: seen.keys, graph: iri, prefixes })), revision };
}

/** What can be said before the body is read, and again inside the transaction. */
async function admit(
  storage: Storage,
  view: View,
  { iri, access, preconditions, body, links, looks, removes }: PatchRequest,
): Promise<ResourceRecord> {
  const isOfGraph = !links && rdfPatches(storage).includes(body.mediaType);
  const mayInsert = storage.profile?.appendsByPatch && isOfGraph && !removes;
  const record = mayInsert
    ? await requireEither(storage, { view, access, iri }, ['append', 'write'])
    : await requireAccess(storage, view, access, 'write', iri);
  if (looks) await requireAccess(storage, view, access, 'read', iri);
  const accepted = acceptedPatches(record, storage);
  if (!accepted.includes(body.mediaType))
    throw new LwsError(
      'unsupported-media-type',
      accepted.length > 0
        ? `This resource is patched with ${accepted.join(' or ')}.`
        : 'This resource cannot be patched.',
      { fields: { 'Accept-Patch': accepted.join(', ') } },
    );
  assertPreconditions(preconditions, record, record.revision);
  return record;
}

async function patchJson(storage: Storage, request: PatchRequest, change: Buffer): Promise<WriteResult> {
  const { access, iri, links } = request;
  const seen = await requireAccess(storage, storage.store, access, 'write', iri);
  const document = seen.blob && (await blobBytes(storage, seen));
  // Replaced between the record and its blob: look again.
  if (!document) throw new OutdatedState(iri);
  const isMerge = request.body.mediaType === mergePatch;
  const patched = await storage.documents.patchJson(document, Uint8Array.from(change), isMerge);
  const keepsState = document.equals(patched) && !request.isBlind;
  const content = keepsState
    ? undefined
    : await storeBytes(storage, patched, seen.mediaType, roomFor(storage, seen.size));
  try {
    const record = await storage.store.transact(async (tx) => {
      attribute(tx, access);
      const before = await admit(storage, tx, request);
      if (before.revision !== seen.revision) throw new OutdatedState(iri);
      return content
        ? stageContent({ storage, tx }, before, { content, links: { given: links, partial: true } })
        : stageLinksAlone({ storage, tx }, before, links);
    });
    return { record, created: false };
  } catch (error) {
    await discard(content, error);
    throw error;
  }
}
