/**
 * Many resources in one transaction: each is admitted and staged as a PUT of it would be, with its content, links, ACL and dates at
 * once. It must not know where they come from.
 */
import { type AclDocument, aclOfGraph, leavesControl } from '../authorization/acl.js';
import { LwsError } from '../errors.js';
import { turtle } from '../rdf/formats.js';
import { compareKeys } from '../storage/key-order.js';
import { newRevision, parentOf, type ResourceRecord } from '../storage/records.js';
import type { Transaction } from '../storage/transaction.js';
import { stageAcl } from './acl.js';
import type { BulkContent, BulkItem, BulkOptions, BulkVerdict, ExistingRule } from './bulk-items.js';
import { readContextObject } from './linkset.js';
import { linksetTooLarge, stageLinks } from './metadata.js';
import { counterpart, isReserved, readTarget } from './names.js';
import { dateAfter, datedAnew } from './preconditions.js';
import type { Storage } from './storage.js';

/** Stages items in one transaction. */
export class BulkStaging {
  constructor(
    private readonly storage: Storage,
    private readonly tx: Transaction,
    private readonly options: BulkOptions,
  ) {}

  /**
   * Stages one item.
   * @param existing what becomes of it when the resource is there already
   * @throws LwsError which says why it cannot be; then nothing of it was staged
   */
  async stage(given: BulkItem, existing: ExistingRule): Promise<BulkVerdict> {
    const item = usable(this.storage, given);
    const { iri, content } = item;
    const before = this.tx.record(iri);
    if (!before) return this.create(item);
    if (before.kind === 'container') {
      if (existing !== 'replace' || (!item.links && !item.acl)) return 'kept';
      await this.assertAllowed(before, 'write');
      this.stageExtras(before, item);
      return 'replaced';
    }
    if (existing === 'skip') return 'skipped';
    if (existing === 'fail')
      throw new LwsError(
        'already-exists',
        'There is a resource already; --on-conflict skip or replace says what to do.',
      );
    await this.assertAllowed(before, 'write');
    if (content?.kind === 'rdf' && !content.keys) return 'needs-keys';
    await this.replace(before, item, existing);
    return existing === 'merge' ? 'merged' : 'replaced';
  }

  private async assertAllowed(record: ResourceRecord, mode: 'append' | 'write'): Promise<void> {
    const { access, isOperator } = this.options;
    const question = { view: this.tx, access, mode, iri: record.iri, record };
    if (!isOperator && !(await this.storage.authorizer.allows(question)))
      throw new LwsError(
        'forbidden',
        `You may not ${mode === 'append' ? 'create anything in' : 'change'} ${record.iri}.`,
      );
  }

  private async create(item: BulkItem): Promise<BulkVerdict> {
    const { iri } = item;
    if (this.tx.record(counterpart(iri)))
      throw new LwsError('already-exists', 'The name is taken, with or without a slash at its end.');
    this.stageNew(item, await this.ensureContainer(parentOf(iri)));
    return 'created';
  }

  /** The container of that IRI, made with those around it where it is missing. */
  private async ensureContainer(iri: string): Promise<ResourceRecord> {
    const { tx } = this;
    const missing: string[] = [];
    let at = iri;
    for (; !tx.record(at); at = parentOf(at)) {
      if (tx.record(counterpart(at)))
        throw new LwsError('parent-not-a-container', `${counterpart(at)} is no container, so nothing lies below it.`);
      missing.unshift(at);
    }
    let container = tx.record(at)!;
    await this.assertAllowed(container, 'append');
    for (const next of missing) container = this.stageNew({ iri: next }, container);
    return container;
  }

  private stageNew(item: BulkItem, parent: ResourceRecord): ResourceRecord {
    const { storage, tx, options } = this;
    const { iri, content, created, modified } = item;
    const now = storage.clock();
    const owner = item.owner ?? storage.authorizer.ownerOfNew(options.access, parent);
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
    const record = this.stageExtras(bare, item);
    tx.changed({ after: record });
    // The container as it was staged last: its own creation may be part of this transaction.
    const current = tx.record(parent.iri)!;
    tx.putRecord({ ...datedAnew(current, now), revision: newRevision(), members: (current.members ?? 0) + 1 });
    return record;
  }

  /** Links and ACL. @returns the record that is staged now */
  private stageExtras(record: ResourceRecord, { links, acl }: BulkItem): ResourceRecord {
    const { storage, tx } = this;
    if (links) tx.putRecord(stageLinks(storage, tx, record, links));
    if (acl && storage.acls) {
      const document: AclDocument = { revision: newRevision(), modified: storage.clock(), ...acl };
      stageAcl(tx, storage.acls, tx.record(record.iri)!, document);
    }
    return tx.record(record.iri)!;
  }

  private async replace(before: ResourceRecord, item: BulkItem, existing: ExistingRule): Promise<void> {
    const { storage, tx, options } = this;
    const { iri } = item;
    const old = before.kind === 'rdf' ? await tx.graph(before) : [];
    let { content } = item;
    if (existing === 'merge' && content?.kind === 'rdf' && before.kind === 'rdf') {
      const keys = merged(old, content.keys!);
      const prefixes = { ...content.prefixes, ...before.prefixes };
      content = { ...content, keys, triples: keys.length, prefixes, size: options.measure(iri, keys, prefixes) };
    }
    if (content?.kind === 'rdf') tx.putGraph(iri, old, content.keys!);
    else if (before.kind === 'rdf') tx.deleteGraph(iri, old);
    const { created, owner = item.owner, types, linked, acl } = before;
    const record: ResourceRecord = {
      iri,
      ...description(content),
      revision: newRevision(),
      created: item.created ?? created,
      ...dateAfter(before, item.modified ?? storage.clock()),
      ...(owner === undefined ? {} : { owner }),
      ...(types === undefined ? {} : { types }),
      ...(linked === undefined ? {} : { linked }),
      ...(acl === undefined ? {} : { acl }),
    };
    tx.putRecord(record);
    tx.changed({ before, after: this.stageExtras(record, item) });
  }
}

/**
 * Asserts that a client may create a resource with that name.
 * @throws LwsError `not-found` outside of the storage, `bad-request`, `iri-too-long`, `reserved-name`
 */
export function assertName({ storage, systemPrefix }: Pick<Storage, 'storage' | 'systemPrefix'>, iri: string): void {
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
