/** PATCH: SPARQL Update on RDF, JSON Merge Patch and JSON Patch on JSON (rule 6.14). */
import { attribute } from '../authorization/audit.js';
import type { View } from '../authorization/authorizer.js';
import { requireAccess } from '../authorization/guard.js';
import type { EncodedDocument } from '../documents/document-tasks.js';
import type { GraphState } from '../documents/documents.js';
import { LwsError } from '../errors.js';
import { decodeUtf8, parseJson } from '../json/json.js';
import type { ReadUpdate } from '../query/parse/read-update.js';
import type { Transaction } from '../storage/engine/transaction.js';
import { isLargeGraph } from '../storage/graphs/graph-lines.js';
import type { ResourceRecord } from '../storage/state/records.js';
import { discard, type RequestBody, readRequestBody, roomFor, storeBytes } from './body.js';
import { stageHeaderLinks } from './metadata.js';
import { acceptedPatches, mergePatch } from './methods.js';
import { patchAbsent } from './patch-absent.js';
import { stagePart } from './patch-part.js';
import { assertPreconditions } from './preconditions.js';
import { blobBytes } from './read.js';
import type { Storage } from './storage.js';
import { alternately } from './turns.js';
import { rememberTurtle, stageContent, type WriteRequest, type WriteResult } from './write.js';

export interface PatchRequest extends WriteRequest {
  readonly body: RequestBody;
  /** What the patch does depends on the content, and its outcome tells of it: that is reading. */
  readonly looks?: boolean;
}

/** How often a patch that was computed on an outdated state is computed again. */
const maxAttempts = 10;

/**
 * Patches. A patch that changes nothing leaves the state, and its tag, as it was; one of nothing may create a resource.
 * @throws LwsError `unsupported-media-type`, `precondition-failed`, `malformed-body`, `named-graph`, `patch-conflict`,
 *   `update-timeout`
 */
export async function patch(storage: Storage, request: PatchRequest): Promise<WriteResult> {
  if (!storage.store.record(request.iri)) return patchAbsent(storage, request, (same) => patch(storage, same));
  const admitted = await admit(storage, storage.store, request);
  const bytes = await readRequestBody(storage, request.body);
  const text = decodeUtf8(bytes);
  if (admitted.kind === 'json') {
    const looks = request.body.mediaType !== mergePatch && /"test"|\\u/.test(text);
    const asked = looks ? await looking(storage, request, () => hasTests(text)) : request;
    return alternately(request.iri, () => patchJson(storage, asked, bytes));
  }
  const update = await storage.documents.readUpdate(text, request.iri, !isLargeGraph(admitted.triples ?? 0));
  const asked = update ? request : await looking(storage, request, () => true);
  return patchGraph(storage, asked, { admitted, text, update });
}

/**
 * The request of a patch that may look at the content, for one who may read it.
 * @throws LwsError `forbidden` for one who may not, when it does look
 */
async function looking(storage: Storage, request: PatchRequest, looks: () => boolean): Promise<PatchRequest> {
  const { access, iri } = request;
  if (await storage.authorizer.allows({ view: storage.store, access, mode: 'read', iri }))
    return { ...request, looks: true };
  if (!looks()) return request;
  throw new LwsError(
    'forbidden',
    'You may write this resource, but not read it: test operations and updates with a WHERE would tell what it holds. ' +
      'INSERT DATA and DELETE DATA of some kilobytes do not.',
  );
}

function hasTests(text: string): boolean {
  const operations = parseJson(text);
  return Array.isArray(operations) && operations.some((operation) => operation?.op === 'test');
}

interface GraphPatch {
  readonly admitted: ResourceRecord;
  readonly text: string;
  /** It was read already: it only names triples. */
  readonly update: ReadUpdate | undefined;
}

async function patchGraph(
  storage: Storage,
  request: PatchRequest,
  { admitted, text, update }: GraphPatch,
): Promise<WriteResult> {
  if (isLargeGraph(admitted.triples ?? 0)) {
    const patched = await patchPart(storage, request, { text, update });
    if (patched) return patched;
  }
  if (update && storage.documents.isSmall(admitted.triples ?? 0)) {
    await storage.store.prefetch(admitted);
    return commitGraph(storage, request, async (tx, record) => {
      const keys = await tx.graph(record);
      // It may have grown since it was admitted; the work is then done here all the same, once.
      const document = await storage.documents.apply(update, stateOf(record, keys));
      return { before: keys, document };
    });
  }
  return alternately(request.iri, async () => {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const seen = await storage.store.graph(request.iri);
      if (!seen) {
        // Deleted meanwhile, or made anew: the admission says which.
        await admit(storage, storage.store, request);
        continue;
      }
      const document = await storage.documents.update(text, stateOf(seen.record, seen.keys));
      try {
        return await commitGraph(storage, request, (_tx, record) => {
          if (record.revision !== seen.record.revision) throw new OutdatedState();
          return { before: seen.keys, document };
        });
      } catch (error) {
        if (!(error instanceof OutdatedState)) throw error;
      }
    }
    throw outdatedTooOften();
  });
}

/** Patches a large graph with triples that the update names; `undefined` when it does more, or the graph is none any more. */
async function patchPart(
  storage: Storage,
  request: PatchRequest,
  { text, update }: Pick<GraphPatch, 'text' | 'update'>,
): Promise<WriteResult | undefined> {
  const { documents } = storage;
  const change = update ? documents.changeOf(update, request.iri) : await documents.readChange(text, request.iri);
  if (!change) return undefined;
  const part = { change, length: text.length, links: request.links };
  const record = await storage.store.transact(async (tx) => {
    attribute(tx, request.access);
    const before = await admit(storage, tx, request);
    const after = await stagePart(storage, tx, { before, request: part });
    return after === 'unchanged' ? stageLinksAlone(storage, tx, before, request) : after;
  });
  return record && { record, created: false };
}

const stateOf = ({ iri, prefixes = {} }: ResourceRecord, keys: readonly string[]): GraphState => ({
  keys,
  graph: iri,
  prefixes,
});

class OutdatedState extends Error {}

const outdatedTooOften = (): LwsError =>
  new LwsError('too-busy', 'The resource changes too quickly for this patch. Nothing was changed; try again.', {
    fields: { 'Retry-After': '1' },
  });

/** What can be said before the body is read, and again inside the transaction. */
async function admit(
  storage: Storage,
  view: View,
  { iri, access, preconditions, body, looks }: PatchRequest,
): Promise<ResourceRecord> {
  const record = await requireAccess(storage, view, access, 'write', iri);
  if (looks) await requireAccess(storage, view, access, 'read', iri);
  const accepted = acceptedPatches(record);
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

interface GraphResult {
  readonly before: readonly string[];
  readonly document: EncodedDocument;
}

async function commitGraph(
  storage: Storage,
  request: PatchRequest,
  compute: (tx: Transaction, record: ResourceRecord) => GraphResult | Promise<GraphResult>,
): Promise<WriteResult> {
  const { record, content } = await storage.store.transact(async (tx) => {
    attribute(tx, request.access);
    const before = await admit(storage, tx, request);
    const { before: keys, document } = await compute(tx, before);
    if (sameKeys(keys, document.keys))
      return { record: stageLinksAlone(storage, tx, before, request), content: undefined };
    const content = { kind: 'rdf', document } as const;
    return { record: await stageContent(storage, tx, before, content, partial(request)), content };
  });
  rememberTurtle(storage, record, content);
  return { record, created: false };
}

const partial = ({ links }: PatchRequest) => ({ given: links, partial: true });

/** The patch changes nothing of the content, but its Link fields may change the metadata. */
function stageLinksAlone(
  storage: Storage,
  tx: Transaction,
  before: ResourceRecord,
  { links }: PatchRequest,
): ResourceRecord {
  const after = stageHeaderLinks(storage, tx, before, links, true);
  if (after === before) return before;
  tx.putRecord(after);
  tx.changed({ before, after });
  return after;
}

const sameKeys = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((key, index) => key === b[index]);

async function patchJson(storage: Storage, request: PatchRequest, change: Buffer): Promise<WriteResult> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const seen = await requireAccess(storage, storage.store, request.access, 'write', request.iri);
    if (!seen.blob) break;
    const document = await blobBytes(storage, seen);
    // Replaced between the record and its blob: look again.
    if (!document) continue;
    const patched = await storage.documents.patchJson(
      document,
      Uint8Array.from(change),
      request.body.mediaType === mergePatch,
    );
    const unchanged = document.equals(patched);
    const content = unchanged
      ? undefined
      : await storeBytes(storage, patched, seen.mediaType, roomFor(storage, seen.size));
    try {
      const record = await storage.store.transact(async (tx) => {
        attribute(tx, request.access);
        const before = await admit(storage, tx, request);
        if (before.revision !== seen.revision) throw new OutdatedState();
        return content
          ? stageContent(storage, tx, before, content, partial(request))
          : stageLinksAlone(storage, tx, before, request);
      });
      return { record, created: false };
    } catch (error) {
      await discard(content, error);
      if (!(error instanceof OutdatedState)) throw error;
    }
  }
  throw outdatedTooOften();
}
