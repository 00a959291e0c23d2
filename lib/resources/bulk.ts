/**
 * Many resources in one transaction: each is admitted and staged as a PUT of it would be, with its content, links, ACL and dates at once.
 */
import type { NamedNode, Quad } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import { type AclDocument, aclOfGraph } from '../authorization/acl.js';
import { LwsError } from '../errors.js';
import { turtle } from '../rdf/formats.js';
import { acl, rdf } from '../rdf/vocabulary.js';
import type { Transaction } from '../storage/engine/transaction.js';
import { isLargeGraph } from '../storage/graphs/graph-lines.js';
import { encodeGraph } from '../storage/graphs/quad-keys.js';
import { newRevision, parentOf, type ResourceRecord } from '../storage/state/records.js';
import { stageAcl } from './acl-resource.js';
import { assertName, usable } from './bulk-admission.js';
import type { BulkContent, BulkItem, BulkOptions, BulkVerdict, ExistingRule } from './bulk-items.js';
import { changeGraph } from './graph-delta.js';
import { stageLinks } from './metadata.js';
import { counterpart } from './names.js';
import type { Storage } from './storage.js';
import { type ContentFacts, containerFacts, replacedRecord, stageGraph, stageMade } from './write.js';

type RdfContent = Extract<BulkContent, { kind: 'rdf' }>;

const factory = new DataFactory<Quad>();

/** Bytes of a graph that is not large: it is held whole. */
const longestWhole = 256 << 20;

const deeds = { append: 'create anything in', write: 'change', control: 'say who has access to' } as const;

/** Stages items in one transaction. */
export class BulkStaging {
  constructor(
    readonly storage: Storage,
    readonly tx: Transaction,
    private readonly options: BulkOptions,
  ) {}

  /** Whether lists of access are kept at all. */
  get keepsLists(): boolean {
    return this.storage.acls !== undefined;
  }

  /**
   * Stages one item.
   * @param existing what becomes of it when the resource is there already
   * @throws LwsError which says why it cannot be; then nothing of it was staged
   */
  async stage(given: BulkItem, existing: ExistingRule): Promise<BulkVerdict> {
    const item = usable(this.storage, given);
    const { iri, content } = item;
    const before = this.tx.record(iri);
    if (!before) {
      await this.assertList(item);
      return this.create(item);
    }
    if (before.kind === 'container') {
      if (existing !== 'replace' || (!item.links && !item.acl)) return 'kept';
      await this.assertAllowed(iri, 'write', before);
      await this.assertList(item, before);
      this.stageExtras(before, item);
      return 'replaced';
    }
    if (existing === 'skip') return 'skipped';
    if (existing === 'fail')
      throw new LwsError(
        'already-exists',
        'There is a resource already; --on-conflict skip or replace says what to do.',
      );
    await this.assertAllowed(iri, 'write', before);
    await this.assertList(item, before);
    if (existing === 'merge' && !(content?.kind === 'rdf' && before.kind === 'rdf'))
      return sameContent(before, content);
    if (content?.kind === 'rdf' && !content.keys) return 'needs-keys';
    await this.replace(before, item, existing);
    return existing === 'merge' ? 'merged' : 'replaced';
  }

  private async assertAllowed(iri: string, mode: keyof typeof deeds, record?: ResourceRecord): Promise<void> {
    const { access, isOperator } = this.options;
    const question = { view: this.tx, access, mode, iri, record };
    if (!isOperator && !(await this.storage.authorizer.allows(question)))
      throw new LwsError('forbidden', `You may not ${deeds[mode]} ${iri}.`);
  }

  /** Who has access is said by those who control what it is about. */
  private async assertList({ iri, acl: list }: BulkItem, record?: ResourceRecord): Promise<void> {
    if (list && this.keepsLists) await this.assertAllowed(iri, 'control', record);
  }

  private async create(item: BulkItem): Promise<BulkVerdict> {
    const { iri } = item;
    if (this.tx.record(counterpart(iri)))
      throw new LwsError('already-exists', 'The name is taken, with or without a slash at its end.');
    await this.ensureContainer(parentOf(iri));
    this.stageNew(item);
    return 'created';
  }

  /** The container of that IRI, made with those around it where it is missing. */
  private async ensureContainer(iri: string): Promise<void> {
    const { tx } = this;
    const missing: string[] = [];
    let at = iri;
    for (; !tx.record(at); at = parentOf(at)) {
      assertName(this.storage, at);
      if (tx.record(counterpart(at)))
        throw new LwsError('parent-not-a-container', `${counterpart(at)} is no container, so nothing lies below it.`);
      missing.unshift(at);
    }
    await this.assertAllowed(at, 'append', tx.record(at)!);
    for (const next of missing) this.stageNew({ iri: next });
  }

  private stageNew(item: BulkItem): ResourceRecord {
    const { storage, tx } = this;
    const { access } = this.options;
    const { iri, content, created, modified } = item;
    return stageMade({ storage, tx }, { iri, access, facts: factsOf(content), created, modified }, (bare) => {
      if (content?.kind === 'rdf') {
        if (content.keys) tx.putGraph(iri, [], content.keys);
        else tx.putPartnersGraph(iri, content.own, content.triples);
      }
      tx.putRecord(bare);
      return this.stageExtras(bare, item);
    });
  }

  /** Links and ACL. @returns the record that is staged now */
  private stageExtras(record: ResourceRecord, { links, acl: list }: BulkItem): ResourceRecord {
    const { storage, tx } = this;
    if (links) tx.putRecord(stageLinks(storage, tx, record, links));
    if (list && storage.acls) {
      const { subject } = this.options.access.principal ?? {};
      // Here one without an authorization is no list, and that of the container would count: it may let many in.
      const isEmpty = subject !== undefined && aclOfGraph(record.iri, list.keys).isEmpty;
      const kept = isEmpty ? { prefixes: {}, keys: closedList(record.iri, subject) } : list;
      const document: AclDocument = { revision: newRevision(), modified: storage.clock(), ...kept };
      stageAcl(tx, storage.acls, tx.record(record.iri)!, document);
    }
    return tx.record(record.iri)!;
  }

  /** Stages the triples of both. @returns what is known of the graph then */
  private async add(before: ResourceRecord, { keys, prefixes, size }: RdfContent): Promise<ContentFacts> {
    if (!isLargeGraph(before.triples ?? 0) && before.size + size > longestWhole)
      throw new LwsError('too-large', `The graph would have more than ${longestWhole >> 20} MiB in few triples.`);
    const delta = { added: keys!, removed: [], prefixes };
    return (await changeGraph(this, before, { delta, isPatient: true }))!.facts;
  }

  private async replace(before: ResourceRecord, item: BulkItem, existing: ExistingRule): Promise<void> {
    const { storage, tx } = this;
    const content = item.content!;
    let facts = factsOf(content);
    if (content.kind === 'rdf' && existing === 'merge') facts = await this.add(before, content);
    else await stageGraph(tx, before, content.kind === 'rdf' ? content.keys : undefined);
    const record = replacedRecord(before, facts, { modified: storage.clock(), ...item });
    tx.putRecord(record);
    tx.changed({ before, after: this.stageExtras(record, item) });
  }
}

/** The keys of a list that lets in one agent alone. */
function closedList(iri: string, subject: string): readonly string[] {
  const [rule, resource, agent] = [`${iri}#owner`, iri, subject].map((each) => factory.namedNode(each)) as [
    NamedNode,
    NamedNode,
    NamedNode,
  ];
  const says = (predicate: string, object: NamedNode): Quad => factory.quad(rule, factory.namedNode(predicate), object);
  return encodeGraph(iri, [
    says(rdf.type, factory.namedNode(acl.Authorization)),
    says(acl.agent, agent),
    says(acl.accessTo, resource),
    says(acl.default, resource),
    ...[acl.Read, acl.Write, acl.Control].map((mode) => says(acl.mode, factory.namedNode(mode))),
  ]);
}

/** Nothing can be added to bytes, but they may come again. @throws LwsError `conflict` for others */
function sameContent({ sha256, mediaType }: ResourceRecord, content: BulkContent | undefined): BulkVerdict {
  const isSame = content && content.kind !== 'rdf' && content.sha256 === sha256 && content.mediaType === mediaType;
  if (isSame) return 'skipped';
  throw new LwsError('conflict', 'Something else that is imported has this name already.');
}

function factsOf(content: BulkContent | undefined): ContentFacts {
  if (!content) return containerFacts;
  if (content.kind !== 'rdf') return content;
  const { size, triples, prefixes } = content;
  return { kind: 'rdf', mediaType: turtle, size, triples, prefixes };
}
