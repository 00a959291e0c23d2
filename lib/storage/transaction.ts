/**
 * One transaction: what it sees, and what it stages. It sees its own changes, over those of transactions that are
 * committed or about to be, over the disk. It must not know HTTP; whether a change is allowed is its caller's business.
 */
import { compareKeys } from './key-order.js';
import { isCounted, sizeOfEntry } from './quota.js';
import { parentOf, type ResourceRecord } from './records.js';

/** Something that the storage itself tells named inboxes of, beside what it tells subscribers. */
export interface Announcement {
  /** The IRI of the document that was created. */
  readonly id: string;
  readonly types: readonly string[];
  readonly inboxes: readonly string[];
}

/** What the transaction reads of the state before it; the store's view that includes batches still being written. */
export interface TransactionBase {
  readonly isTransaction: boolean;
  record(iri: string): ResourceRecord | undefined;
  graph(record: ResourceRecord): Promise<readonly string[]>;
  entry(key: string): string | undefined;
  derived<T extends object>(key: string, parse: (value: string) => T): T | undefined;
  /** Records of the members of a container, in no particular order. */
  members(container: string): Promise<ResourceRecord[]>;
  readonly bytes: number;
}

/** The change of one graph, as GSPO keys. */
export interface GraphChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** The whole graph before. */
  readonly before: readonly string[];
  /** The whole graph afterwards; `undefined` when it is deleted. */
  readonly keys: readonly string[] | undefined;
  /** There was no graph before. */
  readonly isNew: boolean;
  /** The transaction's partner writes the graph, and only the keys that indexes are made of are here. */
  readonly isPartners?: true;
}

/** Another thread that fills and writes the batch of a transaction, since it has what most of it is made of. */
export interface BatchPartner {
  /** Of its own part, about. */
  readonly bytes: number;
  /**
   * Writes one atomic, synced batch of its own part and these operations.
   * @param operations keys with their values; `null`: the key is removed
   */
  write(operations: readonly (readonly [key: string, value: string | null])[]): Promise<void>;
}

/**
 * What happened to one resource, for those who listen. A container whose membership changed is no change of its own.
 */
export interface ResourceChange {
  /** Absent: it was created. */
  readonly before?: ResourceRecord;
  /** Absent: it was deleted. */
  readonly after?: ResourceRecord;
}

export class Transaction {
  readonly isTransaction = true;
  readonly records = new Map<string, ResourceRecord | null>();
  readonly graphs = new Map<string, GraphChange>();
  readonly addedBlobs = new Map<string, string>();
  readonly removedBlobs = new Set<string>();
  /** Values of entries; `null`: deleted. */
  readonly entries = new Map<string, string | null>();
  readonly changes: ResourceChange[] = [];
  readonly announcements: Announcement[] = [];
  /** The subject whose request this is. */
  actor: string | undefined;
  partner: BatchPartner | undefined;
  /** What was read of the state before; it cannot change while this transaction runs. */
  private readonly read = new Map<string, ResourceRecord | undefined>();
  private bytesDelta = 0;

  constructor(private readonly base: TransactionBase) {}

  /** The state before this transaction. */
  get before(): TransactionBase {
    return this.base;
  }

  get isEmpty(): boolean {
    return this.records.size === 0 && this.entries.size === 0;
  }

  /** Bytes that count against the quota, this transaction's changes included (open-points 2.8). */
  get bytes(): number {
    return this.base.bytes + this.bytesDelta;
  }

  record(iri: string): ResourceRecord | undefined {
    const staged = this.records.get(iri);
    if (staged !== undefined) return staged ?? undefined;
    if (!this.read.has(iri)) this.read.set(iri, this.base.record(iri));
    return this.read.get(iri);
  }

  /** The GSPO keys of an RDF resource as it was before this transaction. */
  graph(record: ResourceRecord): Promise<readonly string[]> {
    return this.base.graph(record);
  }

  /** The members of a container, in no particular order. */
  async *members(container: string): AsyncGenerator<readonly ResourceRecord[]> {
    const members = new Map((await this.base.members(container)).map((record) => [record.iri, record]));
    for (const [iri, record] of this.records) {
      if (parentOf(iri) !== container || iri === container) continue;
      if (record) members.set(iri, record);
      else members.delete(iri);
    }
    yield [...members.values()];
  }

  /** The value of an entry (see `entryKey`). */
  entry(key: string): string | undefined {
    const staged = this.entries.get(key);
    return staged === undefined ? this.base.entry(key) : (staged ?? undefined);
  }

  /** An entry as `parse` makes it, which is remembered while the entry stays as it is. */
  derived<T extends object>(key: string, parse: (value: string) => T): T | undefined {
    const staged = this.entries.get(key);
    if (staged === undefined) return this.base.derived(key, parse);
    return staged === null ? undefined : parse(staged);
  }

  putEntry(key: string, value: string): void {
    if (isCounted(key)) this.bytesDelta += sizeOfEntry(value) - sizeOfEntry(this.entry(key));
    this.entries.set(key, value);
  }

  deleteEntry(key: string): void {
    if (isCounted(key)) this.bytesDelta -= sizeOfEntry(this.entry(key));
    this.entries.set(key, null);
  }

  /** Tells those who listen to transactions what happened to a resource. */
  changed(change: ResourceChange): void {
    this.changes.push(change);
  }

  /** Creates a resource or replaces its record. Its previous blob, if it had another one, is let go. */
  putRecord(record: ResourceRecord): void {
    const before = this.record(record.iri);
    this.bytesDelta += record.size - (before?.size ?? 0);
    if (record.blob && record.blob !== before?.blob) this.addedBlobs.set(record.blob, record.iri);
    if (before?.blob && before.blob !== record.blob) this.removedBlobs.add(before.blob);
    this.records.set(record.iri, record);
  }

  /** Deletes a record and lets its blob go; graphs are deleted with `deleteGraph`. */
  deleteRecord(record: ResourceRecord): void {
    this.bytesDelta -= record.size;
    if (record.blob) this.removedBlobs.add(record.blob);
    this.records.set(record.iri, null);
  }

  /** Replaces the graph of a resource; `before` are its keys so far. Only the difference is written. */
  putGraph(iri: string, before: readonly string[], keys: readonly string[]): void {
    this.graphs.set(iri, { ...difference(before, keys), before, keys, isNew: before.length === 0 });
  }

  /**
   * A new graph that the partner writes.
   * @param own the keys with the resource or a fragment of it as their subject
   */
  putPartnersGraph(iri: string, own: readonly string[]): void {
    this.graphs.set(iri, { added: own, removed: [], before: [], keys: own, isNew: true, isPartners: true });
  }

  deleteGraph(iri: string, before: readonly string[]): void {
    this.graphs.set(iri, { added: [], removed: before, before, keys: undefined, isNew: false });
  }
}

/** The keys of each side that the other lacks. */
export function difference(
  before: readonly string[],
  after: readonly string[],
): { added: readonly string[]; removed: readonly string[] } {
  if (before.length === 0) return { added: after, removed: [] };
  if (after.length === 0) return { added: [], removed: before };
  const added: string[] = [];
  const removed: string[] = [];
  // Both sides are in order, so one walk over them tells; 18 000 keys take a tenth of what two sets take.
  let [i, j] = [0, 0];
  while (i < before.length && j < after.length) {
    const order = compareKeys(before[i]!, after[j]!);
    if (order < 0) removed.push(before[i]!);
    if (order > 0) added.push(after[j]!);
    if (order <= 0) i++;
    if (order >= 0) j++;
  }
  return { added: added.concat(after.slice(j)), removed: removed.concat(before.slice(i)) };
}
