/**
 * Many resources in one transaction: each is admitted and staged as a PUT of it would be, with its content, links, ACL and dates at
 * once. It must not know where they come from.
 */
import { type AclDocument, aclOfGraph, leavesControl } from '../authorization/acl.js';
import type { Access } from '../authorization/principal.js';
import { LwsError } from '../errors.js';
import { turtle } from '../rdf/formats.js';
import { compareKeys } from '../storage/key-order.js';
import { newRevision, parentOf, type ResourceRecord } from '../storage/records.js';
import type { Transaction } from '../storage/transaction.js';
import { stageAcl } from './acl.js';
import { type ClientLinks, readContextObject } from './linkset.js';
import { linksetTooLarge, stageLinks } from './metadata.js';
import { counterpart, isReserved, readTarget } from './names.js';
import { dateAfter, datedAnew } from './preconditions.js';
import type { Storage } from './storage.js';

/** Content that is ready to be referred to. */
export type BulkContent =
  | {
      readonly kind: 'rdf';
      /** Bytes of its default Turtle. */
      readonly size: number;
      readonly triples: number;
      readonly prefixes: Readonly<Record<string, string>>;
      /** The keys with the resource or a fragment of it as their subject. */
      readonly own: readonly string[];
      /** All keys; absent where the transaction's partner has them. */
      readonly keys?: readonly string[];
    }
  | {
      readonly kind: 'json' | 'binary';
      readonly mediaType: string;
      readonly size: number;
      readonly sha256: string;
      readonly blob: string;
    };

export interface BulkItem {
  readonly iri: string;
  /** Absent: a container. */
  readonly content?: BulkContent;
  readonly links?: ClientLinks;
  readonly acl?: Pick<AclDocument, 'prefixes' | 'keys'>;
  /** Milliseconds since the epoch. */
  readonly created?: number;
  readonly modified?: number;
  readonly owner?: string;
}

export interface BulkOptions {
  /** Who asks, and owns what is created. */
  readonly access: Access;
  /** The operator may do everything. */
  readonly isOperator: boolean;
  /** What becomes of an item whose resource is there already. */
  readonly existing: 'fail' | 'skip' | 'replace' | 'merge';
  /** The Turtle's bytes of a graph that is put together of two. */
  readonly measure: (iri: string, keys: readonly string[], prefixes: Readonly<Record<string, string>>) => number;
}

/** `needs-keys`: nothing was staged, since all keys are wanted. */
export type BulkVerdict = 'created' | 'replaced' | 'merged' | 'skipped' | 'kept' | 'needs-keys';

/**
 * Stages one item.
 * @throws LwsError which says why it cannot be; then nothing of it was staged
 */
export async function stageItem(
  storage: Storage,
  tx: Transaction,
  given: BulkItem,
  options: BulkOptions,
): Promise<BulkVerdict> {
  const item = usable(storage, given);
  const { iri, content } = item;
  const before = tx.record(iri);
  if (!before) return stageCreation(storage, tx, item, options);
  if (before.kind === 'container') {
    if (options.existing !== 'replace' || (!item.links && !item.acl)) return 'kept';
    await assertAllowed(storage, tx, options, before, 'write');
    stageExtras(storage, tx, before, item);
    return 'replaced';
  }
  if (options.existing === 'skip') return 'skipped';
  if (options.existing === 'fail')
    throw new LwsError('already-exists', 'There is a resource already; --on-conflict skip or replace says what to do.');
  await assertAllowed(storage, tx, options, before, 'write');
  if (content?.kind === 'rdf' && !content.keys) return 'needs-keys';
  await stageReplacement(storage, tx, before, item, options);
  return options.existing === 'merge' ? 'merged' : 'replaced';
}

/** @throws LwsError `not-found` outside of the storage, `bad-request`, `iri-too-long`, `reserved-name` */
function assertName({ storage, systemPrefix }: Storage, iri: string): void {
  if (!iri.startsWith(storage)) throw new LwsError('not-found', 'It is not below the storage.');
  const path = iri.slice(storage.indexOf('/', storage.indexOf('//') + 2));
  if (/[?#]/.test(iri)) throw new LwsError('bad-request', 'The IRI of a resource has no query and no fragment.');
  readTarget(path, storage);
  if (iri !== storage && isReserved(iri, storage, systemPrefix))
    throw new LwsError('reserved-name', 'This name is reserved for the server itself.');
}

/** The item as it can be staged without a refusal half-way. @throws LwsError */
function usable(storage: Storage, item: BulkItem): BulkItem {
  const { iri, acl } = item;
  assertName(storage, iri);
  if (acl && storage.acls && iri === storage.storage && !leavesControl(aclOfGraph(iri, acl.keys)))
    throw new LwsError('conflict', 'The ACL leaves nobody control of the root.');
  if (!item.links) return item;
  const links = readContextObject(item.links, iri);
  if (Buffer.byteLength(JSON.stringify(links)) > storage.limits.linksetBytes) throw linksetTooLarge(storage);
  return { ...item, links };
}

async function assertAllowed(
  { authorizer }: Storage,
  tx: Transaction,
  { access, isOperator }: BulkOptions,
  record: ResourceRecord,
  mode: 'append' | 'write',
): Promise<void> {
  if (!isOperator && !(await authorizer.allows({ view: tx, access, mode, iri: record.iri, record })))
    throw new LwsError(
      'forbidden',
      `You may not ${mode === 'append' ? 'create anything in' : 'change'} ${record.iri}.`,
    );
}

async function stageCreation(
  storage: Storage,
  tx: Transaction,
  item: BulkItem,
  options: BulkOptions,
): Promise<BulkVerdict> {
  const { iri } = item;
  if (tx.record(counterpart(iri)))
    throw new LwsError('already-exists', 'The name is taken, with or without a slash at its end.');
  const parent = await ensureContainer(storage, tx, parentOf(iri), options);
  stageNewItem(storage, tx, item, parent, options);
  return 'created';
}

/** The container of that IRI, made with those around it where it is missing. */
async function ensureContainer(
  storage: Storage,
  tx: Transaction,
  iri: string,
  options: BulkOptions,
): Promise<ResourceRecord> {
  const missing: string[] = [];
  let at = iri;
  for (; !tx.record(at); at = parentOf(at)) {
    if (tx.record(counterpart(at)))
      throw new LwsError('parent-not-a-container', `${counterpart(at)} is no container, so nothing lies below it.`);
    missing.unshift(at);
  }
  let container = tx.record(at)!;
  await assertAllowed(storage, tx, options, container, 'append');
  for (const next of missing) container = stageNewItem(storage, tx, { iri: next }, container, options);
  return container;
}

function stageNewItem(
  storage: Storage,
  tx: Transaction,
  item: BulkItem,
  parent: ResourceRecord,
  { access }: BulkOptions,
): ResourceRecord {
  const { iri, content, created, modified } = item;
  const now = storage.clock();
  const owner = item.owner ?? storage.authorizer.ownerOfNew(access, parent);
  const bare: ResourceRecord = {
    iri,
    ...description(content),
    revision: newRevision(),
    created: created ?? now,
    modified: modified ?? now,
    ...(owner === undefined ? {} : { owner }),
  };
  if (content?.kind === 'rdf') {
    if (content.keys) tx.putGraph(iri, [], content.keys);
    else tx.putPartnersGraph(iri, content.own);
  }
  tx.putRecord(bare);
  const record = stageExtras(storage, tx, bare, item);
  tx.changed({ after: record });
  // Of the container that was staged last, since its own creation may be part of this transaction.
  const current = tx.record(parent.iri)!;
  tx.putRecord({ ...datedAnew(current, now), revision: newRevision(), members: (current.members ?? 0) + 1 });
  return record;
}

/** Links and ACL. @returns the record that is staged now */
function stageExtras(storage: Storage, tx: Transaction, record: ResourceRecord, item: BulkItem): ResourceRecord {
  const { links, acl } = item;
  if (links) tx.putRecord(stageLinks(storage, tx, record, links));
  if (acl && storage.acls) {
    const document: AclDocument = { revision: newRevision(), modified: storage.clock(), ...acl };
    stageAcl(tx, storage.acls, tx.record(record.iri)!, document);
  }
  return tx.record(record.iri)!;
}

async function stageReplacement(
  storage: Storage,
  tx: Transaction,
  before: ResourceRecord,
  item: BulkItem,
  { existing, measure }: BulkOptions,
): Promise<void> {
  const { iri } = item;
  const old = before.kind === 'rdf' ? await tx.graph(before) : [];
  let { content } = item;
  if (existing === 'merge' && content?.kind === 'rdf' && before.kind === 'rdf') {
    const keys = merged(old, content.keys!);
    const prefixes = { ...content.prefixes, ...before.prefixes };
    content = { ...content, keys, triples: keys.length, prefixes, size: measure(iri, keys, prefixes) };
  }
  if (content?.kind === 'rdf') tx.putGraph(iri, old, content.keys!);
  else if (before.kind === 'rdf') tx.deleteGraph(iri, old);
  const { created, owner, types, linked, acl } = before;
  const record: ResourceRecord = {
    iri,
    ...description(content),
    revision: newRevision(),
    created: item.created ?? created,
    ...dateAfter(before, item.modified ?? storage.clock()),
    ...((item.owner ?? owner) === undefined ? {} : { owner: item.owner ?? owner! }),
    ...(types === undefined ? {} : { types }),
    ...(linked === undefined ? {} : { linked }),
    ...(acl === undefined ? {} : { acl }),
  };
  tx.putRecord(record);
  tx.changed({ before, after: stageExtras(storage, tx, record, item) });
}

/** Keys of both, in order, each once. */
function merged(a: readonly string[], b: readonly string[]): string[] {
  const keys: string[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    const order = i === a.length ? 1 : j === b.length ? -1 : compareKeys(a[i]!, b[j]!);
    keys.push(order <= 0 ? a[i]! : b[j]!);
    if (order <= 0) i++;
    if (order >= 0) j++;
  }
  return keys;
}

type Description = Pick<ResourceRecord, 'kind' | 'mediaType' | 'size'> & Partial<ResourceRecord>;

function description(content: BulkContent | undefined): Description {
  if (!content) return { kind: 'container', mediaType: 'application/lws+json', size: 0, members: 0 };
  if (content.kind !== 'rdf') return content;
  const { size, triples, prefixes } = content;
  return { kind: 'rdf', mediaType: turtle, size, triples, prefixes };
}
