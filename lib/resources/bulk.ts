/** Bulk writes: many resources in one transaction. Each is checked like a PUT, and staged with its links, ACL and dates. */
import type { NamedNode, Quad } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import { type AclDocument, aclOfGraph } from '../authorization/acl.js';
import type { Access } from '../authorization/principal.js';
import { turtle } from '../rdf/formats.js';
import { acl, rdf } from '../rdf/vocabulary.js';
import { isLargeGraph } from '../storage/graphs/graph-lines.js';
import { encodeGraph } from '../storage/keys/quad-keys.js';
import { isContainerIri, newRevision, parentOf, type ResourceRecord } from '../storage/keys/records.js';
import type { Transaction } from '../storage/transactions/transaction.js';
import { LwsError } from '../tools/errors.js';
import { isSendableType } from '../tools/fields/media-type.js';
import { assertUsableAcl, stageAcl } from './acl-resource.js';
import { changeGraph } from './graph-delta.js';
import { type ClientLinks, readContextObject } from './linkset.js';
import { keptLinks, stageLinks } from './metadata.js';
import { counterpart, readTarget } from './names.js';
import type { Storage } from './storage.js';
import { assertUnreserved, type ContentFacts, containerFacts, replacedRecord, stageGraph, stageMade } from './write.js';

type RdfContent = Extract<BulkContent, { kind: 'rdf' }>;

const factory = new DataFactory<Quad>();

/** Maximum size in bytes of a graph that is small by its count of triples. Small graphs are held in memory. */
const longestWhole = 256 << 20;

const modeLabels = { append: 'create anything in', write: 'change', control: 'set the ACL of' } as const;

/** Stages items in one transaction. */
export class BulkStaging {
  constructor(
    readonly storage: Storage,
    readonly tx: Transaction,
    private readonly options: BulkOptions,
  ) {
    tx.handling = 'restore';
  }

  /** True if the storage has ACLs. */
  get keepsLists(): boolean {
    return this.storage.acls !== undefined;
  }

  /**
   * Stages one item.
   * @param existing rule for a resource that already exists
   * @throws LwsError with the reason of a rejection; in this case nothing of the item is staged
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
      throw new LwsError('already-exists', 'The resource already exists. Use --on-conflict skip or replace.');
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
      throw new LwsError('forbidden', `You are not allowed to ${modeLabels[mode]} ${iri}.`);
  }

  /** Asserts that the caller may set the ACL of an item, which requires `control` on the resource. */
  private async assertList({ iri, acl: list }: BulkItem, record?: ResourceRecord): Promise<void> {
    if (list && this.keepsLists) await this.assertAllowed(iri, 'control', record);
  }

  private async create(item: BulkItem): Promise<BulkVerdict> {
    const { iri } = item;
    if (this.tx.record(counterpart(iri)))
      throw new LwsError('already-exists', 'The name is already in use, with or without a slash at its end.');
    await this.ensureContainer(parentOf(iri));
    this.stageNew(item);
    return 'created';
  }

  /** Stages the container with that IRI and its ancestors, if they are missing. */
  private async ensureContainer(iri: string): Promise<void> {
    const { tx } = this;
    const missing: string[] = [];
    let at = iri;
    for (; !tx.record(at); at = parentOf(at)) {
      assertName(this.storage, at);
      if (tx.record(counterpart(at)))
        throw new LwsError('parent-not-a-container', `${counterpart(at)} is not a container and cannot have members.`);
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
        else tx.putPartnersGraph(iri, content.own, content);
      }
      tx.putRecord(bare);
      return this.stageExtras(bare, item);
    });
  }

  /** Stages the links and the ACL of an item. @returns the staged record */
  private stageExtras(record: ResourceRecord, { links, acl: list }: BulkItem): ResourceRecord {
    const { storage, tx } = this;
    if (links) tx.putRecord(stageLinks(storage, tx, record, links));
    if (list && storage.acls) {
      const { subject } = this.options.access.principal ?? {};
      // Without authorizations, the ACL would be ignored, and the container's ACL would apply, which may grant more. Grant
      // access to the owner.
      const isEmpty = subject !== undefined && aclOfGraph(record.iri, list.keys).isEmpty;
      const kept = isEmpty ? { prefixes: {}, keys: closedList(record.iri, subject) } : list;
      const document: AclDocument = { revision: newRevision(), modified: storage.clock(), ...kept };
      stageAcl(tx, storage.acls, tx.record(record.iri)!, document);
    }
    return tx.record(record.iri)!;
  }

  /** Stages the union of the existing and the new triples. @returns the new content facts */
  private async add(before: ResourceRecord, { keys, prefixes, size }: RdfContent): Promise<ContentFacts> {
    if (!isLargeGraph(before.triples ?? 0) && before.size + size > longestWhole)
      throw new LwsError('too-large', `The graph would exceed ${longestWhole >> 20} MiB with few triples.`);
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

/** Returns the GSPO keys of an ACL that gives access to one agent only. */
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

/** Returns `skipped` for identical content. @throws LwsError `conflict` for other content: binary content cannot be merged */
function sameContent({ sha256, mediaType }: ResourceRecord, content: BulkContent | undefined): BulkVerdict {
  const isSame = content && content.kind !== 'rdf' && content.sha256 === sha256 && content.mediaType === mediaType;
  if (isSame) return 'skipped';
  throw new LwsError('conflict', 'Another imported item already has this name.');
}

function factsOf(content: BulkContent | undefined): ContentFacts {
  if (!content) return containerFacts;
  if (content.kind !== 'rdf') return content;
  const { size, triples, prefixes } = content;
  return { kind: 'rdf', mediaType: turtle, size, triples, prefixes };
}

/** Content that is ready to be staged. */
type BulkContent =
  | {
      readonly kind: 'rdf';
      /** Size of the default Turtle representation, in bytes. */
      readonly size: number;
      readonly triples: number;
      readonly prefixes: Readonly<Record<string, string>>;
      /** GSPO keys whose subject is the resource or one of its fragments. */
      readonly own: readonly string[];
      /** `KeyDigest` of all GSPO keys. */
      readonly digest: string;
      readonly rdfVersion?: ResourceRecord['rdfVersion'];
      /** All GSPO keys; absent if only the bulk writer thread holds them. */
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
  /** Content of the resource. Absent for a container. */
  readonly content?: BulkContent;
  readonly links?: ClientLinks;
  readonly acl?: Pick<AclDocument, 'prefixes' | 'keys'>;
  /** Times of creation and of the last change, in milliseconds since the epoch. */
  readonly created?: number;
  readonly modified?: number;
}

/** Rule for an item whose resource already exists. `merge` only adds triples. */
type ExistingRule = 'fail' | 'skip' | 'replace' | 'merge';

export interface BulkOptions {
  /** Caller, who also becomes the owner of created resources. */
  readonly access: Access;
  /** True if the operator imports: no permission is checked. */
  readonly isOperator: boolean;
}

/** Result of staging an item. `needs-keys`: nothing was staged; repeat with all keys of the graph. */
export type BulkVerdict = 'created' | 'replaced' | 'merged' | 'skipped' | 'kept' | 'needs-keys';

/**
 * Asserts that a client may create a resource with that name.
 * @throws LwsError `not-found` outside of the storage, `bad-request`, `iri-too-long`, `reserved-name`
 */
export function assertName(place: Pick<Storage, 'rootIri' | 'systemPrefix'>, iri: string): void {
  const { rootIri: storage } = place;
  if (!iri.startsWith(storage)) throw new LwsError('not-found', 'The IRI is not below the storage root.');
  const path = iri.slice(storage.indexOf('/', storage.indexOf('//') + 2));
  if (/[?#]/.test(iri)) throw new LwsError('bad-request', 'The IRI of a resource cannot have a query or a fragment.');
  readTarget(path, storage);
  assertUnreserved(place, iri);
}

/** Returns the item normalized and checked, so that staging cannot fail half-way. @throws LwsError */
function usable(storage: Storage, item: BulkItem): BulkItem {
  const { iri, content, acl: list, created, modified, ...others } = item;
  assertName(storage, iri);
  if ((content === undefined) !== isContainerIri(iri))
    throw new LwsError('bad-request', 'The IRI of a container must end in a slash, and other IRIs must not.');
  if (content && content.kind !== 'rdf' && !isSendableType(content.mediaType))
    throw new LwsError('bad-request', 'The media type is not a valid header field value.');
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

/** Returns true if a date is not before 1970 and not in the future. */
const isPast = (date: number | undefined, now: number): date is number =>
  date !== undefined && date >= 0 && date <= now;
