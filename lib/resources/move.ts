/**
 * MOVE and COPY: gives a resource, or a container with everything below it, another name, in one transaction (RFC 4918 9.8, 9.9;
 * rules 6.23 to 6.27).
 */
import { type AclDocument, aclKey, readAclDocument } from '../authorization/acl.js';
import { attribute } from '../authorization/audit.js';
import type { View } from '../authorization/authorizer.js';
import { requireAccess } from '../authorization/guard.js';
import type { Mode } from '../authorization/mode.js';
import type { Access } from '../authorization/principal.js';
import { LwsError } from '../errors.js';
import { turtle } from '../rdf/formats.js';
import type { BlobWriter } from '../storage/blobs/blobs.js';
import { defaultTurtle, isLargeGraph } from '../storage/graphs/graph-lines.js';
import { IriRewriting } from '../storage/keys/iri-rewriting.js';
import { sortKeys } from '../storage/keys/key-order.js';
import { keyInGraph } from '../storage/keys/quad-keys.js';
import { blobFacts, isContainerIri, newRevision, parentOf, type ResourceRecord } from '../storage/keys/records.js';
import { yieldToEventLoop } from '../storage/transactions/batch-filling.js';
import type { Transaction } from '../storage/transactions/transaction.js';
import { clientLinks, deleteLinks, stageLinks } from './metadata.js';
import { counterpart, longestPath } from './names.js';
import { RevisionConflict, retryOnConflict } from './optimistic-retry.js';
import { stageParents } from './parents.js';
import { assertPreconditions, dateAfter, datedAnew } from './preconditions.js';
import { requireTarget } from './replace.js';
import { stateOf } from './seen-state.js';
import type { Storage } from './storage.js';
import {
  assertUnreserved,
  nameTaken,
  type Staging,
  stageGraph,
  stageGraphDeletion,
  type WriteRequest,
  type WriteResult,
} from './write.js';

export interface MoveRequest extends Omit<WriteRequest, 'links' | 'model'> {
  /** New IRI, in the same storage. */
  readonly destination: string;
  /** The source stays. */
  readonly copies: boolean;
  /** `Overwrite`. Absent: true, unless the storage requires conditional writes. */
  readonly overwrites: boolean | undefined;
  /** `Depth`: false copies a container without its members. */
  readonly isDeep: boolean;
  /** `Prefer: rewrite-links`: IRIs of what is moved are rewritten in its graphs and links. */
  readonly rewrites: boolean;
}

/**
 * Maximum number of resources and of triples. All other transactions wait for this one, which holds all of them in memory.
 */
const [maxResources, maxTriples] = [5_000, 100_000];

/** A resource with its new name. */
interface Placed {
  readonly record: ResourceRecord;
  readonly iri: string;
  /** New content of an RDF resource. */
  readonly graph?: { readonly keys: readonly string[]; readonly size: number };
  /** Copy of the bytes of another resource. */
  readonly blob?: BlobWriter;
}

/**
 * Moves or copies a resource.
 * @throws LwsError as DELETE and GET for the source, as PUT for the destination; `conflict` if one contains the other,
 * `precondition-failed` if the destination exists and must not be overwritten, `forbidden` if a member may not be moved,
 * `too-complex` for too many resources or triples
 */
export async function move(storage: Storage, request: MoveRequest): Promise<WriteResult> {
  assertNames(storage, request);
  await admit(storage, storage.store, request);
  return retryOnConflict(async () => {
    const placed = new Map<string, Placed>();
    try {
      for await (const each of prepared(storage, request)) placed.set(each.record.iri, each);
      return await storage.store.transact((tx) => stage({ storage, tx }, request, placed));
    } catch (error) {
      await Promise.all([...placed.values()].map(({ blob }) => blob?.abort()));
      throw error;
    }
  });
}

/** @throws LwsError `interaction-model-conflict`, `conflict`, `reserved-name`, `root-not-deletable` */
function assertNames(storage: Storage, { iri, destination, copies }: MoveRequest): void {
  if (isContainerIri(iri) !== isContainerIri(destination))
    throw new LwsError(
      'interaction-model-conflict',
      'The Destination of a container must end in a slash, and that of another resource must not.',
    );
  if (iri === storage.rootIri && !copies)
    throw new LwsError('root-not-deletable', 'The root container cannot be moved.');
  const contains = (outer: string, inner: string): boolean =>
    outer === inner || (isContainerIri(outer) && inner.startsWith(outer));
  if (contains(iri, destination) || contains(destination, iri))
    throw new LwsError('conflict', 'The source and the Destination must not be the same, or contain each other.');
  assertUnreserved(storage, destination);
}

/**
 * Checks the rights at both names (rule 6.24).
 * @returns the source, and the resource that would be overwritten
 */
async function admit(
  storage: Storage,
  view: View,
  request: MoveRequest,
): Promise<{ readonly source: ResourceRecord; readonly old: ResourceRecord | undefined }> {
  const { iri, destination, access, copies, overwrites = !storage.requireConditionalWrites } = request;
  const source = await requireAccess(storage, view, access, 'read', iri);
  if (!copies) {
    await requireAccess(storage, view, access, 'delete', iri);
    if (storage.profile?.deletesFromContainers) await requireAccess(storage, view, access, 'write', parentOf(iri));
  }
  const old = await requireTarget(storage, view, { iri: destination, access });
  if (!old && view.record(counterpart(destination))) throw nameTaken();
  if (old) await requireAccess(storage, view, access, 'delete', destination);
  if (old && !overwrites)
    throw new LwsError('precondition-failed', 'The Destination exists. Send "Overwrite: T" to replace it.');
  return { source, old };
}

type Tree = View & { members(container: string): AsyncIterable<readonly ResourceRecord[]> };

/** Yields a resource and everything below it, containers before their members. @throws LwsError `too-complex`, and errors of `mayUse` */
async function* treeOf(
  view: Tree,
  root: ResourceRecord,
  mayUse: (member: ResourceRecord, container: ResourceRecord) => Promise<boolean>,
): AsyncGenerator<ResourceRecord> {
  const containers = [root];
  let [resources, triples] = [1, root.triples ?? 0];
  yield root;
  for (const container of containers)
    for await (const members of view.members(container.iri))
      for (const member of members) {
        if (!(await mayUse(member, container))) continue;
        resources++;
        triples += member.triples ?? 0;
        if (resources > maxResources || triples > maxTriples) throw tooMany();
        if (member.kind === 'container') containers.push(member);
        yield member;
      }
}

const tooMany = (): LwsError =>
  new LwsError(
    'too-complex',
    `One request moves or copies at most ${maxResources} resources with ${maxTriples} triples. The limit is fixed. Create the Destination, and move the members one by one.`,
  );

/** Yields what is moved: all of the source, of which nothing may be protected. A copy contains what the caller may read (rule 6.24). */
async function* sources(
  storage: Storage,
  view: Tree,
  { access, copies, isDeep }: MoveRequest,
  source: ResourceRecord,
): AsyncGenerator<ResourceRecord> {
  const may = (mode: Mode, of: ResourceRecord) =>
    storage.authorizer.allows({ view, access, mode, iri: of.iri, record: of });
  if (source.kind !== 'container' || !isDeep) yield source;
  else
    yield* treeOf(view, source, async (member, container) => {
      if (copies) return may('read', member);
      const needs = storage.profile?.deletesFromContainers ? await may('write', container) : true;
      if (needs && (await may('read', member)) && (await may('delete', member))) return true;
      // Names no resource: the caller may not be allowed to know of it.
      throw new LwsError('forbidden', 'You are not allowed to move everything in this container. Nothing was moved.', {
        reason: `${member.iri} refuses read or delete`,
      });
    });
}

/** Yields the resources with their new content, prepared outside of the transaction: graphs are rendered, and blobs copied. */
async function* prepared(storage: Storage, request: MoveRequest): AsyncGenerator<Placed> {
  const { store } = storage;
  const { iri: from, destination, copies, rewrites } = request;
  const { source } = await admit(storage, store, request);
  const rewriting = rewritingOf(request);
  for await (const record of sources(storage, store, request, source)) {
    const iri = destination + record.iri.slice(from.length);
    if (iri.length - storage.rootIri.length >= longestPath)
      throw new LwsError('iri-too-long', `A new path exceeds the limit of ${longestPath} characters.`);
    if (record.kind === 'rdf') {
      const found = await store.graph(record.iri);
      if (found?.record.revision !== record.revision) throw new RevisionConflict(record.iri);
      const keys = rewrites ? await rewritten(found.keys, rewriting) : found.keys.map((key) => keyInGraph(key, iri));
      yield {
        record,
        iri,
        graph: { keys, size: await sizeOf(storage, iri, { keys, prefixes: record.prefixes ?? {} }) },
      };
    } else if (record.blob === undefined || !copies) yield { record, iri };
    else yield { record, iri, blob: await copyOf(storage, record) };
  }
}

/** Rewrites the IRIs of what is moved, and those of fragments. */
const rewritingOf = ({ iri: from, destination }: MoveRequest): IriRewriting =>
  new IriRewriting((iri) => {
    const isOwn = iri === from || (iri.startsWith(from) && (isContainerIri(from) || iri[from.length] === '#'));
    return isOwn ? destination + iri.slice(from.length) : iri;
  });

const keysAtATime = 1_000;

async function rewritten(keys: readonly string[], rewriting: IriRewriting): Promise<readonly string[]> {
  // A rewritten triple may already be in the graph.
  const all = new Set<string>();
  for (let at = 0; at < keys.length; at += keysAtATime) {
    for (const key of rewriting.graph(keys.slice(at, at + keysAtATime))) all.add(key);
    await yieldToEventLoop();
  }
  return sortKeys([...all]);
}

/** Returns the size of the default Turtle. Terms that were relative to the old name may not be relative to the new one. */
async function sizeOf(
  { documents }: Storage,
  iri: string,
  { keys, prefixes }: { readonly keys: readonly string[]; readonly prefixes: Readonly<Record<string, string>> },
): Promise<number> {
  if (isLargeGraph(keys.length)) return defaultTurtle({ keys }, iri, prefixes).size;
  return (await documents.render(keys, turtle, iri, prefixes))!.length;
}

async function copyOf({ store }: Storage, record: ResourceRecord): Promise<BlobWriter> {
  const blob = await store.blobs.create();
  try {
    const bytes = await store.blobs.read(blobFacts(record)).catch((error: NodeJS.ErrnoException) => {
      // It was replaced meanwhile.
      throw error.code === 'ENOENT' ? new RevisionConflict(record.iri) : error;
    });
    for await (const chunk of bytes) await blob.write(chunk as Uint8Array);
    await blob.finish();
    return blob;
  } catch (error) {
    await blob.abort();
    throw error;
  }
}

/** Stages everything. @throws RevisionConflict if the source is not as prepared */
async function stage(
  staging: Staging,
  request: MoveRequest,
  placed: ReadonlyMap<string, Placed>,
): Promise<WriteResult> {
  const { storage, tx } = staging;
  const { iri, destination, access, copies, preconditions } = request;
  attribute(tx, access);
  const { source, old } = await admit(storage, tx, request);
  const seen = await stateOf(storage, tx, access, source);
  assertPreconditions(preconditions, seen, seen.state);
  const found: Placed[] = [];
  for await (const record of sources(storage, tx, request, source)) {
    const each = placed.get(record.iri);
    if (!each || (record.kind !== 'container' && each.record.revision !== record.revision))
      throw new RevisionConflict(iri);
    found.push({ ...each, record });
  }
  const replaced = old ? await overwritten(staging, access, old) : new Map<string, ResourceRecord>();
  stageParents(storage, tx, { iri: destination, access });
  if (!copies) for (const { record } of found) await stageLeaving(tx, record);
  const members = new Map<string, number>();
  for (const { record } of found.slice(1))
    members.set(parentOf(record.iri), (members.get(parentOf(record.iri)) ?? 0) + 1);
  const kept = new Set(found.map((each) => each.iri));
  for (const record of replaced.values()) if (!kept.has(record.iri)) await stageRemoved(tx, record);
  for (const each of found) {
    const record =
      each.record.kind === 'container' ? { ...each.record, members: members.get(each.record.iri) ?? 0 } : each.record;
    await stageArrival(staging, request, {
      ...{ iri: each.iri, graph: each.graph, blob: each.blob },
      ...{ record, old: replaced.get(each.iri) },
    });
  }
  if (!copies) {
    tx.moves.push(rewritingOf(request));
    stageMembers(storage, tx, parentOf(iri), -1, source);
  }
  stageMembers(storage, tx, parentOf(destination), old ? 0 : 1, source);
  return { record: tx.record(destination)!, created: old === undefined };
}

/** Returns the resources that are overwritten, by name. @throws LwsError `forbidden` if one of them may not be deleted */
async function overwritten(
  { storage, tx }: Staging,
  access: Access,
  old: ResourceRecord,
): Promise<Map<string, ResourceRecord>> {
  const found = new Map<string, ResourceRecord>();
  const mayUse = async (member: ResourceRecord): Promise<boolean> => {
    if (await storage.authorizer.allows({ view: tx, access, mode: 'delete', iri: member.iri, record: member }))
      return true;
    throw new LwsError('forbidden', 'You are not allowed to replace everything in the Destination.', {
      reason: `${member.iri} refuses delete`,
    });
  };
  for await (const record of treeOf(tx, old, mayUse)) found.set(record.iri, record);
  return found;
}

/** Stages the removal of a resource from its old name. */
async function stageLeaving(tx: Transaction, record: ResourceRecord): Promise<void> {
  if (record.kind === 'rdf') await stageGraphDeletion(tx, record);
  tx.changed({ before: record });
}

async function stageRemoved(tx: Transaction, record: ResourceRecord): Promise<void> {
  if (record.kind === 'rdf') await stageGraphDeletion(tx, record);
  deleteLinks(tx, record);
  if (record.acl) tx.deleteEntry(aclKey(record.iri));
  tx.deleteRecord(record);
  tx.changed({ before: record });
}

/** Stages a resource at its new name, with its links, and if it is moved with its ACL and owner (rule 6.25). */
async function stageArrival(
  { storage, tx }: Staging,
  request: MoveRequest,
  { record: from, iri, graph, blob, old }: Arriving,
): Promise<void> {
  const { copies, rewrites } = request;
  if (old) await stageGraph(tx, old, graph?.keys);
  else if (graph) tx.putGraph(iri, [], graph.keys);
  const links = from.linked === undefined ? undefined : clientLinks(tx, from.iri);
  if (!copies) deleteLinks(tx, from);
  if (old && !links) deleteLinks(tx, old);
  if (old?.acl) tx.deleteEntry(aclKey(iri));
  const record = arrived({ storage, tx }, request, { record: from, iri, graph, blob, old });
  if (!copies) tx.deleteRecord(from);
  tx.putRecord(record);
  if (links) tx.putRecord(stageLinks(storage, tx, record, rewrites ? rewritingOf(request).value(links) : links));
  if (from.acl && !copies) stageMovedAcl({ storage, tx }, request, from.iri, iri);
  const after = tx.record(iri)!;
  tx.changed(old ? { before: old, after } : { after });
}

type Arriving = Omit<Placed, 'graph' | 'blob'> & {
  readonly graph: Placed['graph'] | undefined;
  readonly blob: BlobWriter | undefined;
  readonly old: ResourceRecord | undefined;
};

/** Returns the record at the new name, before its links and its ACL are staged. */
function arrived(
  { storage, tx }: Staging,
  { access, copies }: MoveRequest,
  { record: from, iri, graph, blob, old }: Arriving,
): ResourceRecord {
  const {
    acl: _acl,
    owner: before,
    types: _types,
    sharesSecond: _shares,
    linkedSharesSecond: _second,
    ...facts
  } = from;
  const now = storage.clock();
  const owner = copies ? storage.authorizer.ownerOfNew(access, tx.record(parentOf(iri))!) : before;
  return {
    ...{ ...facts, iri, revision: newRevision() },
    ...(graph ? { size: graph.size } : {}),
    ...(blob ? { blob: blob.blob } : {}),
    ...(copies ? { created: now } : {}),
    ...(copies || old ? dateAfter(old, now) : {}),
    ...(owner === undefined ? {} : { owner }),
  };
}

/** An ACL names its resource, so it is always rewritten. */
function stageMovedAcl({ storage, tx }: Staging, request: MoveRequest, from: string, iri: string): void {
  const value = tx.entry(aclKey(from));
  if (value === undefined) return;
  const { keys, ...document } = readAclDocument(value);
  const rewriting = rewritingOf(request);
  const moved: AclDocument = {
    ...document,
    revision: newRevision(),
    keys: sortKeys(keys.map((key) => rewriting.value(key))),
  };
  storage.acls?.stage(iri);
  tx.deleteEntry(aclKey(from));
  tx.putEntry(aclKey(iri), JSON.stringify(moved));
  tx.putRecord({ ...tx.record(iri)!, acl: true });
}

/** Stages the changed membership of a container. A listing includes the dates of its members, so its date must be later. */
function stageMembers(
  storage: Storage,
  tx: Transaction,
  container: string,
  by: number,
  { modified }: ResourceRecord,
): void {
  const record = tx.record(container)!;
  const shown = { ...record, modified: Math.max(record.modified, modified) };
  tx.putRecord({ ...datedAnew(shown, storage.clock()), revision: newRevision(), members: (record.members ?? 0) + by });
}
