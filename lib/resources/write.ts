/** Shared parts of write operations: checks before the body is read, staging of records, results. */
import { requireAccess } from '../authorization/guard.js';
import type { Access } from '../authorization/principal.js';
import { turtle } from '../rdf/formats.js';
import { DamagedGraphError } from '../storage/graphs/graph-digests.js';
import { isLargeGraph } from '../storage/graphs/graph-lines.js';
import { allOf, type GraphKeys, PackedKeys } from '../storage/keys/graph-keys.js';
import { isContainerIri, newRevision, parentOf, type ResourceRecord } from '../storage/keys/records.js';
import { quotaExceeded } from '../storage/level/quota.js';
import type { Prepare } from '../storage/transactions/commit-queue.js';
import type { Transaction } from '../storage/transactions/transaction.js';
import { LwsError } from '../tools/errors.js';
import type { Link } from '../tools/fields/link.js';
import { type Content, roomFor } from './body.js';
import { stageHeaderLinks } from './metadata.js';
import { counterpart, isReserved } from './names.js';
import { dateAfter, datedAnew, type Preconditions } from './preconditions.js';
import type { Storage } from './storage.js';
import type { InteractionModel } from './types.js';
import { variantOf } from './variants.js';

export interface WriteRequest {
  readonly iri: string;
  readonly access: Access;
  readonly preconditions: Preconditions;
  readonly model: InteractionModel | undefined;
  /** Links of the request that are stored as metadata: with POST, and with `Prefer: set-linkset`. */
  readonly links?: readonly Link[] | undefined;
}

export interface WriteResult {
  readonly record: ResourceRecord;
  readonly created: boolean;
}

export const reservedName = (): LwsError =>
  new LwsError('reserved-name', 'The name is reserved for the server. Choose another one.');

/** Asserts that the name of a new resource is not reserved (rule 1.3). @throws LwsError `reserved-name` */
export function assertUnreserved(
  { rootIri, systemPrefix }: Pick<Storage, 'rootIri' | 'systemPrefix'>,
  iri: string,
): void {
  if (iri === rootIri || !isReserved(iri, rootIri, systemPrefix)) return;
  if (!/\.acl$/i.test(iri)) throw reservedName();
  throw new LwsError(
    'reserved-name',
    'The name is reserved for an access control list, but those exist only with lws.access-control=wac.',
  );
}

/** Asserts that a new name is free, and returns its parent container. @throws LwsError as `requireAccess`, `already-exists` */
export async function requireFreeName(
  storage: Storage,
  tx: Transaction,
  access: Access,
  iri: string,
): Promise<ResourceRecord> {
  const parent = await requireAccess(storage, tx, access, 'append', parentOf(iri));
  if (tx.record(iri) || tx.record(counterpart(iri))) throw nameTaken();
  return parent;
}

export const nameTaken = (): LwsError =>
  new LwsError('already-exists', 'The name is already in use, with or without a slash at its end.');

/** A new resource before its links are staged. */
export type NewResource = Pick<WriteRequest, 'iri' | 'access'> & {
  readonly facts: ContentFacts;
  /** Times of creation and of the last change, in milliseconds since the epoch. Default: now. */
  readonly created?: number | undefined;
  readonly modified?: number | undefined;
};

/** A transaction and its storage. */
export interface Staging {
  readonly storage: Storage;
  readonly tx: Transaction;
}

/** Stages a new resource, and the change of its parent. @param stageRest stages graph, links and record; returns the record */
export function stageMade(
  { storage, tx }: Staging,
  { iri, access, facts, created, modified }: NewResource,
  stageRest: (bare: ResourceRecord) => ResourceRecord,
): ResourceRecord {
  assertUnreserved(storage, iri);
  const now = storage.clock();
  const parent = tx.record(parentOf(iri))!;
  const owner = storage.authorizer.ownerOfNew(access, parent);
  const dates = { revision: newRevision(), created: created ?? now, modified: modified ?? now };
  const bare = Object.assign({ iri }, facts, dates);
  const record = stageRest(owner === undefined ? bare : Object.assign(bare, { owner }));
  tx.changed({ after: record });
  const members = (parent.members ?? 0) + 1;
  tx.putRecord(Object.assign(datedAnew(parent, now), { revision: newRevision(), members }));
  return record;
}

/** Stages the change of a container whose member changed. A listing shows member dates, so its container needs a later date. */
export function stageMembership(
  { storage, tx }: Staging,
  { iri, modified }: Pick<ResourceRecord, 'iri' | 'modified'>,
  by: number,
): void {
  const parent = tx.record(parentOf(iri))!;
  const shown = Object.assign({}, parent, { modified: Math.max(parent.modified, modified) });
  const members = (parent.members ?? 0) + by;
  tx.putRecord(Object.assign(datedAnew(shown, storage.clock()), { revision: newRevision(), members }));
}

/** Stages a new resource with its content and links. */
export function stageNew(
  storage: Storage,
  tx: Transaction,
  { iri, access, links }: Pick<WriteRequest, 'iri' | 'access' | 'links'>,
  content: Content | undefined,
): ResourceRecord {
  return stageMade({ storage, tx }, { iri, access, facts: factsOf(content) }, (bare) => {
    if (content?.kind === 'rdf') stageNewGraph(tx, iri, content.document.keys);
    const record = stageHeaderLinks(storage, tx, bare, links);
    tx.putRecord(record);
    return record;
  });
}

/** Returns the record of a resource after its content was replaced. */
export function replacedRecord(
  before: ResourceRecord,
  facts: ContentFacts,
  { created = before.created, modified }: { readonly created?: number | undefined; readonly modified: number },
): ResourceRecord {
  const { iri, owner, types, linked, linkedSharesSecond, acl } = before;
  const kept: { -readonly [Name in keyof ResourceRecord]?: ResourceRecord[Name] } = {};
  if (owner !== undefined) kept.owner = owner;
  if (types !== undefined) kept.types = types;
  if (linked !== undefined) kept.linked = linked;
  if (linkedSharesSecond !== undefined) kept.linkedSharesSecond = linkedSharesSecond;
  if (acl !== undefined) kept.acl = acl;
  return { iri, ...facts, revision: newRevision(), created, ...dateAfter(before, modified), ...kept };
}

interface HeaderLinks {
  readonly given: readonly Link[] | undefined;
  readonly partial: boolean;
}

/** Stages new content for an existing data resource. The kind of the resource may change. */
export async function stageContent(
  staging: Staging,
  before: ResourceRecord,
  { content, links }: { readonly content: Content; readonly links?: HeaderLinks },
): Promise<ResourceRecord> {
  await stageGraph(staging.tx, before, content.kind === 'rdf' ? content.document.keys : undefined);
  return stageFacts(staging, before, { facts: factsOf(content), links });
}

/** Stages the record and the links for new content. */
export function stageFacts(
  { storage, tx }: Staging,
  before: ResourceRecord,
  { facts, links }: { readonly facts: ContentFacts; readonly links?: HeaderLinks | undefined },
): ResourceRecord {
  const replaced = replacedRecord(before, facts, { modified: storage.clock() });
  const record = stageHeaderLinks(storage, tx, replaced, links?.given, links?.partial);
  tx.putRecord(record);
  tx.changed({ before, after: record });
  return record;
}

/** Stages the graph of a new resource. If the graph is already written (large, or of a MOVE), only publishes it. */
export function stageNewGraph(tx: Transaction, iri: string, keys: GraphKeys): void {
  if ((keys instanceof PackedKeys || isLargeGraph(keys.length)) && tx.isLoaded(iri, keys)) tx.publishGraph(iri, keys);
  else tx.putGraph(iri, [], allOf(keys));
}

/** Stages the graph of new content. @param keys absent to remove the graph */
export async function stageGraph(tx: Transaction, before: ResourceRecord, keys: GraphKeys | undefined): Promise<void> {
  const { iri, kind, triples = 0 } = before;
  if (!keys) {
    if (kind === 'rdf') await stageGraphDeletion(tx, before);
  } else if (kind !== 'rdf') stageNewGraph(tx, iri, keys);
  else if (isLargeGraph(triples) || isLargeGraph(keys.length)) await tx.replaceGraph(before, keys);
  else tx.putGraph(iri, await keysToReplace(tx, before), allOf(keys));
}

/**
 * Stages the deletion of an RDF resource's graph. The triples of a large graph are removed after the transaction.
 * @param isLarge true to treat the graph as a large one
 */
export async function stageGraphDeletion(tx: Transaction, record: ResourceRecord, isLarge = false): Promise<void> {
  const { iri, triples = 0 } = record;
  if (isLarge || isLargeGraph(triples)) tx.dropGraph(iri, triples);
  else tx.deleteGraph(iri, await keysToReplace(tx, record));
}

/** Returns the stored keys of a graph that is replaced or deleted completely. Accepts a damaged graph. */
async function keysToReplace(tx: Transaction, record: ResourceRecord): Promise<readonly string[]> {
  try {
    return await tx.before.graph(record);
  } catch (error) {
    if (!(error instanceof DamagedGraphError)) throw error;
    tx.uncounted += error.keys.length - (record.triples ?? 0);
    return error.keys;
  }
}

/**
 * Writes large new graphs before the transaction that stages them. Readers do not see these graphs yet. A transaction blocks
 * all others, and a batch of that size would be in memory several times.
 * @throws LwsError `quota-exceeded`
 */
export async function loadLarge(
  storage: Storage,
  contents: Iterable<readonly [iri: string, Content | undefined]>,
  after: Parameters<Prepare<void>>[0],
): Promise<void> {
  const { store } = storage;
  const graphs = new Map<string, GraphKeys>();
  for (const [iri, content] of contents) {
    if (content?.kind !== 'rdf' || !isLargeGraph(content.document.keys.length)) continue;
    if (content.document.size > roomFor(storage, store.record(iri)?.size ?? 0)) throw quotaExceeded();
    graphs.set(iri, content.document.keys);
  }
  if (graphs.size === 0) return;
  const loaded = await store.loadGraphs(graphs);
  after((error) => {
    for (const iri of error ? loaded : []) store.dropLoaded(iri, graphs.get(iri)!);
  });
}

/** Fields of a record that depend on the content. */
export type ContentFacts = Pick<ResourceRecord, 'kind' | 'mediaType' | 'size'> & Partial<ResourceRecord>;
export const containerFacts: ContentFacts = {
  kind: 'container',
  mediaType: 'application/lws+json',
  size: 0,
  members: 0,
};

function factsOf(content: Content | undefined): ContentFacts {
  if (!content) return containerFacts;
  if (content.kind !== 'rdf') {
    const { kind, mediaType, size, sha256, blob } = content;
    return { kind, mediaType, size, sha256, blob: blob.blob };
  }
  const { keys, prefixes, size } = content.document;
  return { kind: 'rdf', mediaType: turtle, size, triples: keys.length, prefixes };
}

/** Caches the default Turtle after a commit, for the next GET. This Turtle was already serialized to determine the size. */
export function rememberTurtle(storage: Storage, record: ResourceRecord, content: Content | undefined): void {
  if (content?.kind !== 'rdf' || !content.document.turtle) return;
  const { turtle: bytes } = content.document;
  storage.representations.set(record.iri, turtle, {
    revision: record.revision,
    tag: `${record.revision}.${variantOf(turtle)}`,
    mediaType: turtle,
    bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  });
}

/** Asserts that Link types match the final slash of the IRI (rule 6.8). @throws LwsError `interaction-model-conflict` */
export function assertShape(iri: string, model: InteractionModel | undefined): void {
  if (model !== undefined && (model === 'container') !== isContainerIri(iri))
    throw new LwsError(
      'interaction-model-conflict',
      isContainerIri(iri)
        ? 'An IRI with a final slash is a container, but the Link types ask for another model.'
        : 'The IRI of a container must end in a slash.',
    );
}
