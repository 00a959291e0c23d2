/**
 * Many resources in one transaction: each is admitted and staged as a PUT of it would be, with its content, links, ACL and dates at once.
 */
import type { NamedNode, Quad } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import { type AclDocument, aclOfGraph } from '../authorization/acl.js';
import type { Access } from '../authorization/principal.js';
import { LwsError } from '../errors.js';
import { isSendableType } from '../fields/media-type.js';
import { turtle } from '../rdf/formats.js';
import { acl, rdf } from '../rdf/vocabulary.js';
import { isLargeGraph } from '../storage/graphs/graph-lines.js';
import { encodeGraph } from '../storage/keys/quad-keys.js';
import { isContainerIri, newRevision, parentOf, type ResourceRecord } from '../storage/keys/records.js';
import type { Transaction } from '../storage/transactions/transaction.js';
import { assertUsableAcl, stageAcl } from './acl-resource.js';
import { changeGraph } from './graph-delta.js';
import { type ClientLinks, readContextObject } from './linkset.js';
import { keptLinks, stageLinks } from './metadata.js';
import { counterpart, readTarget } from './names.js';
import type { Storage } from './storage.js';
import { assertUnreserved, type ContentFacts, containerFacts, replacedRecord, stageGraph, stageMade } from './write.js';

type RdfContent = Extract<BulkContent, { kind: 'rdf' }>;

const factory = new DataFactory<Quad>();

/** Bytes of a graph that is not large: it is held whole. */
const longestWhole = 256 << 20;

const modeLabels = { append: 'create anything in', write: 'change', control: 'say who has access to' } as const;

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

  private async assertAllowed(iri: string, mode: keyof typeof modeLabels, record?: ResourceRecord): Promise<void> {
    const { access, isOperator } = this.options;
    const question = { view: this.tx, access, mode, iri, record };
    if (!isOperator && !(await this.storage.authorizer.allows(question)))
      throw new LwsError('forbidden', `You may not ${modeLabels[mode]} ${iri}.`);
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

/** Content that is ready to be referred to. */
type BulkContent =
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
}

/** What becomes of an item whose resource is there already; `merge`: triples are added, and nothing else can be. */
type ExistingRule = 'fail' | 'skip' | 'replace' | 'merge';

export interface BulkOptions {
  /** Who asks, and owns what is created. */
  readonly access: Access;
  /** The operator may do everything. */
  readonly isOperator: boolean;
}

/** `needs-keys`: nothing was staged, since all keys are wanted. */
export type BulkVerdict = 'created' | 'replaced' | 'merged' | 'skipped' | 'kept' | 'needs-keys';

/**
 * Asserts that a client may create a resource with that name.
 * @throws LwsError `not-found` outside of the storage, `bad-request`, `iri-too-long`, `reserved-name`
 */
export function assertName(place: Pick<Storage, 'rootIri' | 'systemPrefix'>, iri: string): void {
  const { rootIri: storage } = place;
  if (!iri.startsWith(storage)) throw new LwsError('not-found', 'It is not below the storage.');
  const path = iri.slice(storage.indexOf('/', storage.indexOf('//') + 2));
  if (/[?#]/.test(iri)) throw new LwsError('bad-request', 'The IRI of a resource has no query and no fragment.');
  readTarget(path, storage);
  assertUnreserved(place, iri);
}

/** The item as it can be staged without a refusal half-way. @throws LwsError */
function usable(storage: Storage, item: BulkItem): BulkItem {
  const { iri, content, acl: list, created, modified, ...others } = item;
  assertName(storage, iri);
  if ((content === undefined) !== isContainerIri(iri))
    throw new LwsError('bad-request', 'Names of containers end in a slash, and no others do.');
  if (content && content.kind !== 'rdf' && !isSendableType(content.mediaType))
    throw new LwsError('bad-request', 'Its media type cannot be a field of an answer.');
  if (list && storage.acls) assertUsableAcl(storage, iri, list.keys);
  const links = item.links && readContextObject(item.links, iri);
  if (links) keptLinks(storage, iri, links);
  const now = storage.clock();
  return {
    ...{ ...others, iri },
    ...(content ? { content } : {}),
    ...(list ? { acl: list } : {}),
    ...(links ? { links } : {}),
    ...(isPast(created, now) ? { created } : {}),
    ...(isPast(modified, now) ? { modified } : {}),
  };
}

/** A date can be told, and whoever asks has not seen it yet. */
const isPast = (date: number | undefined, now: number): date is number =>
  date !== undefined && date >= 0 && date <= now;
