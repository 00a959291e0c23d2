/** What the writing operations share: admission before the body, staging records, answering. */
import { requireAccess } from '../authorization/guard.js';
import type { Access } from '../authorization/principal.js';
import { LwsError } from '../errors.js';
import type { Link } from '../fields/link.js';
import { turtle } from '../rdf/formats.js';
import { isLargeGraph } from '../storage/graphs/graph-lines.js';
import { allOf, type GraphKeys } from '../storage/keys/graph-keys.js';
import { isContainerIri, newRevision, parentOf, type ResourceRecord } from '../storage/keys/records.js';
import { quotaExceeded } from '../storage/level/quota.js';
import type { Transaction } from '../storage/transactions/transaction.js';
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
  /** The request's links, when they are to become metadata: of a POST, and with `Prefer: set-linkset`. */
  readonly links?: readonly Link[] | undefined;
}

export interface WriteResult {
  readonly record: ResourceRecord;
  readonly created: boolean;
}

export const reservedName = (): LwsError =>
  new LwsError('reserved-name', 'This name is reserved for the server itself. Choose another one.');

/** Every way to create asks this, at the latest where the resource is staged (rule 1.3). @throws LwsError `reserved-name` */
export function assertUnreserved(
  { rootIri, systemPrefix }: Pick<Storage, 'rootIri' | 'systemPrefix'>,
  iri: string,
): void {
  if (iri === rootIri || !isReserved(iri, rootIri, systemPrefix)) return;
  if (!/\.acl$/i.test(iri)) throw reservedName();
  throw new LwsError(
    'reserved-name',
    'The name is that of an access control list: those are there with lws.access-control=wac.',
  );
}

/** The parent that a new resource goes into. @throws LwsError as `requireAccess`, `already-exists` */
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
  new LwsError('already-exists', 'The name is taken, with or without a slash at its end.');

/** What is known of a new resource before its links are staged. */
export type NewResource = Pick<WriteRequest, 'iri' | 'access'> & {
  readonly facts: ContentFacts;
  /** Milliseconds since the epoch; now, where they are not given. */
  readonly created?: number | undefined;
  readonly modified?: number | undefined;
};

/** Where something is staged. */
export interface Staging {
  readonly storage: Storage;
  readonly tx: Transaction;
}

/**
 * Stages a new resource in its parent, whose membership changes.
 * @param stageRest stages graph, links and record; returns the record
 */
export function stageMade(
  { storage, tx }: Staging,
  { iri, access, facts, created, modified }: NewResource,
  stageRest: (bare: ResourceRecord) => ResourceRecord,
): ResourceRecord {
  assertUnreserved(storage, iri);
  const now = storage.clock();
  const parent = tx.record(parentOf(iri))!;
  const owner = storage.authorizer.ownerOfNew(access, parent);
  const record = stageRest({
    iri,
    ...facts,
    revision: newRevision(),
    created: created ?? now,
    modified: modified ?? now,
    ...(owner === undefined ? {} : { owner }),
  });
  tx.changed({ after: record });
  tx.putRecord({ ...datedAnew(parent, now), revision: newRevision(), members: (parent.members ?? 0) + 1 });
  return record;
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

/** The record of a resource whose content is replaced. */
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

/** Stages new content for an existing data resource; its kind may change. */
export async function stageContent(
  staging: Staging,
  before: ResourceRecord,
  { content, links }: { readonly content: Content; readonly links?: HeaderLinks },
): Promise<ResourceRecord> {
  await stageGraph(staging.tx, before, content.kind === 'rdf' ? content.document.keys : undefined);
  return stageFacts(staging, before, { facts: factsOf(content), links });
}

/** Stages what the record of a resource says of its new content, with links. */
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

/** A large graph has been written already, but where there was another graph so far (`withLoaded`). */
function stageNewGraph(tx: Transaction, iri: string, keys: GraphKeys): void {
  if (isLargeGraph(keys.length) && tx.isLoaded(iri, keys)) tx.publishGraph(iri, keys);
  else tx.putGraph(iri, [], allOf(keys));
}

/** Stages the graph of new content. @param keys absent: there is none any more */
export async function stageGraph(tx: Transaction, before: ResourceRecord, keys: GraphKeys | undefined): Promise<void> {
  const { iri, kind, triples = 0 } = before;
  if (!keys) {
    if (kind === 'rdf') await stageGraphDeletion(tx, before);
  } else if (kind !== 'rdf') stageNewGraph(tx, iri, keys);
  else if (isLargeGraph(triples) || isLargeGraph(keys.length)) await tx.replaceGraph(before, keys);
  else tx.putGraph(iri, await tx.before.graph(before), allOf(keys));
}

/** Stages the end of the graph of an RDF resource. */
export async function stageGraphDeletion(tx: Transaction, record: ResourceRecord): Promise<void> {
  const { iri, triples = 0 } = record;
  if (isLargeGraph(triples)) tx.dropGraph(iri, triples);
  else tx.deleteGraph(iri, await tx.before.graph(record));
}

/**
 * Does work that stages content, where that is a large graph for which there is none, after it was written hidden: a transaction keeps
 * all others waiting, and one batch of so much would be in memory several times.
 * @param work puts content into the place of the resource, or makes it
 * @throws LwsError `quota-exceeded`, and what `work` throws
 */
export async function withLoaded<T>(
  storage: Storage,
  { iri, content }: { readonly iri: string; readonly content: Content | undefined },
  work: () => Promise<T>,
): Promise<T> {
  const { store } = storage;
  if (content?.kind !== 'rdf' || !isLargeGraph(content.document.keys.length)) return work();
  const { keys, size } = content.document;
  if (size > roomFor(storage, store.record(iri)?.size ?? 0)) throw quotaExceeded();
  if (!(await store.loadGraph(iri, keys))) return work();
  try {
    return await work();
  } catch (error) {
    store.dropLoaded(iri, keys);
    throw error;
  }
}

/** What a record says of the content. */
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

/** After a commit: the default Turtle was rendered for its size already, so the next GET need not. */
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

/** @throws LwsError `interaction-model-conflict` when the Link types contradict the IRI's shape (rule 6.8) */
export function assertShape(iri: string, model: InteractionModel | undefined): void {
  if (model !== undefined && (model === 'container') !== isContainerIri(iri))
    throw new LwsError(
      'interaction-model-conflict',
      isContainerIri(iri)
        ? 'An IRI that ends in a slash is a container, and the Link types ask for something else.'
        : 'A container needs an IRI that ends in a slash.',
    );
}
