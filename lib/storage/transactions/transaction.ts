/**
 * One transaction: the state that it reads and the changes that it stages. It reads its own changes, over the changes of staged
 * transactions, over the committed state. The caller decides if a change is allowed.
 */
import type { Trace } from '../../tools/fields/traceparent.js';
import { digestAfter, digestedBlocks, versionAfter, withDigest } from '../graphs/graph-digests.js';
import { dropped, loadingName, stagedKey, subtreeMark } from '../graphs/staged-keys.js';
import { featureOf, featuresKey, newTerms, readFeatures, writeFeatures } from '../keys/features.js';
import {
  blockDifference,
  type ChangedKeys,
  difference,
  type GraphChange,
  type KeyDifference,
} from '../keys/graph-changes.js';
import { type GraphKeys, versionOfGraph } from '../keys/graph-keys.js';
import type { IriRewriting } from '../keys/iri-rewriting.js';
import type { KeyDigest } from '../keys/key-digest.js';
import type { RdfVersion } from '../keys/key-layout.js';
import { type KeyRange, layEntries, parentOf, type ResourceRecord, removedKey, writeRecord } from '../keys/records.js';
import { toggleEntry, toggleRecords } from '../level/entry-digests.js';
import { isCounted, sizeOfEntry } from '../level/quota.js';
import { type Announcement, type EventStamp, type ResourceChange, type StagedChange, stamped } from '../log/changes.js';
import { Again } from './again.js';
import type { BulkWriter } from './batch-writer.js';
import { after, type PreparedChanges } from './prepared-changes.js';
import type { TransactionBase } from './transaction-base.js';

/** Count of entries and records that `seal` processes between two yields. */
const sealedAtATime = 500;

export class Transaction {
  readonly isTransaction = true;
  readonly records = new Map<string, ResourceRecord | null>();
  readonly graphs = new Map<string, GraphChange>();
  /** Quads to add to and remove from staged graphs, which no reader sees. */
  readonly hidden = new Map<string, KeyDifference>();
  /** Correction of the quad counter for damaged graphs: removed quads that were not counted, minus lost quads that were. */
  uncounted = 0;
  readonly addedBlobs = new Map<string, string>();
  readonly removedBlobs = new Set<string>();
  /** Blobs whose resources get another name. */
  readonly movedBlobs = new Map<string, string>();
  /** Values of entries; `null` for deleted entries. */
  readonly entries = new Map<string, string | null>();
  /**
   * Entries that only indexes read, and only after the commit. Neither this transaction nor later ones see them, so that a
   * hundred postings do not slow down listeners and the overlay. The value `null` deletes an entry.
   */
  readonly postings = new Map<string, string | null>();
  readonly changes: StagedChange[] = [];
  readonly announcements: (Announcement & EventStamp)[] = [];
  /** Identity of the caller, access of the caller (`callerOf`), and trace of the request. */
  actor: string | undefined;
  caller: object | undefined;
  trace: Trace | undefined;
  batchWriter: BulkWriter | undefined;
  /** New names of moved resources. Listeners apply them to other data that has the old names. */
  readonly moves: IriRewriting[] = [];
  /**
   * How to handle resources that violate constraints: reject them (`strict`), accept them because the client prefers that, or
   * restore them as imported.
   */
  handling: 'strict' | 'lenient' | 'restore' = 'strict';
  /** True if another server has committed the transaction. */
  isForeign = false;
  /** Position of the last event in the change log; 0 if none is assigned yet. */
  position = 0;
  /** Records read from the previous state, which cannot change while this transaction runs. */
  readonly read = new Map<string, ResourceRecord | undefined>();
  /** Resources whose records earlier transactions deleted. */
  private readonly rests = new Set<string>();
  private bytesDelta = 0;
  /** Count of created minus deleted resources. */
  resourcesDelta = 0;

  constructor(private readonly base: TransactionBase) {}

  /** Loads keys that a bulk writer has (`putPartnersGraph`), of all graphs or of some items of the work, which stages them. */
  completeGraphs: ((items?: readonly number[]) => Promise<void>) | undefined;

  /** Changes that were staged before the transaction ran (`StagingAhead`). */
  prepared: PreparedChanges | undefined;

  /** Previous state, including the graphs, which the transaction itself does not return. */
  get before(): TransactionBase {
    return this.base;
  }

  get isEmpty(): boolean {
    return [this.records, this.entries, this.postings, this.hidden, this.graphs].every(({ size }) => size === 0);
  }

  /** Bytes counted against the quota, including this transaction (rule 10.3). */
  get bytes(): number {
    return this.base.bytes + this.bytesDelta;
  }

  record(iri: string): ResourceRecord | undefined {
    const staged = this.records.get(iri);
    if (staged !== undefined) return staged ?? undefined;
    if (!this.read.has(iri)) this.read.set(iri, this.base.record(iri));
    return this.read.get(iri);
  }

  /** Yields the members of a container, in no particular order. */
  async *members(container: string): AsyncGenerator<readonly ResourceRecord[]> {
    const members = new Map((await this.base.members(container)).map((record) => [record.iri, record]));
    for (const [iri, record] of this.records) {
      if (parentOf(iri) !== container || iri === container) continue;
      if (record) members.set(iri, record);
      else members.delete(iri);
    }
    yield [...members.values()];
  }

  /** Returns the value of an entry (see `entryKey`). */
  entry(key: string): string | undefined {
    const staged = this.entries.get(key);
    return staged === undefined ? this.base.entry(key) : (staged ?? undefined);
  }

  /** Returns the entries of a range after this transaction, in no particular order. */
  async entriesIn(range: KeyRange): Promise<ReadonlyMap<string, string>> {
    return layEntries(await this.base.entriesIn(range), range, this.entries);
  }

  /** Returns a parsed entry. The result is cached while the entry is unchanged. */
  derived<T extends object>(key: string, parse: (value: string) => T): T | undefined {
    const staged = this.entries.get(key);
    if (staged === undefined) return this.base.derived(key, parse);
    return staged === null ? undefined : parse(staged);
  }

  /** Stages an entry. @param isNew true if no entry has the key; this is not checked */
  putEntry(key: string, value: string, isNew = false): void {
    this.addFeature(featureOf(key));
    if (isCounted(key)) this.bytesDelta += sizeOfEntry(key, value) - (isNew ? 0 : sizeOfEntry(key, this.entry(key)));
    this.entries.set(key, value);
  }

  /** Adds a feature to the list, so that earlier versions cannot open the storage. */
  addFeature(feature: string | undefined): void {
    if (feature === undefined || this.features.has(feature)) return;
    this.entries.set(featuresKey, writeFeatures([...this.features, feature]));
  }

  /** Removes a feature from the list, so that earlier versions can open the storage. */
  endFeature(feature: string | undefined): void {
    if (feature === undefined || !this.features.has(feature)) return;
    this.entries.set(featuresKey, writeFeatures([...this.features].filter((name) => name !== feature)));
  }

  private get features(): ReadonlySet<string> {
    return this.derived(featuresKey, readFeatures) ?? new Set();
  }

  deleteEntry(key: string): void {
    if (isCounted(key)) this.bytesDelta -= sizeOfEntry(key, this.entry(key));
    this.entries.set(key, null);
  }

  /** Reports a change of a resource to the listeners of transactions. */
  changed(change: ResourceChange): void {
    this.changes.push(stamped(change));
  }

  /** Reports an event that is not a change of a resource to subscribers and the named inboxes. */
  announced(announcement: Announcement): void {
    this.announcements.push(stamped(announcement));
  }

  /**
   * Creates a resource or replaces its record. If the previous record has another blob, marks that blob for removal. If this
   * transaction has deleted a record with the same blob, the resource is renamed and keeps the blob.
   * @throws Again for a name in a deleted subtree that is being removed, or that another transaction has reserved
   */
  putRecord(record: ResourceRecord): void {
    this.assertFree(record.iri);
    const before = this.record(record.iri);
    const removed = before ? undefined : this.subtreeOf(record.iri);
    if (removed !== undefined) throw this.afterwards(removed);
    this.bytesDelta += record.size - (before?.size ?? 0);
    if (!before) this.resourcesDelta++;
    if (record.blob && record.blob !== before?.blob)
      (this.removedBlobs.delete(record.blob) ? this.movedBlobs : this.addedBlobs).set(record.blob, record.iri);
    if (before?.blob && before.blob !== record.blob) this.removedBlobs.add(before.blob);
    this.records.set(record.iri, record);
  }

  /** Deletes a resource. @throws Again if another transaction reserves the name */
  deleteRecord(record: ResourceRecord): void {
    this.assertFree(record.iri);
    this.bytesDelta -= record.size;
    this.resourcesDelta--;
    if (record.blob) this.removedBlobs.add(record.blob);
    this.records.set(record.iri, null);
  }

  /**
   * Deletes a resource of a subtree, except its content, links and entries, which are removed later (`RemovedSubtrees`). The
   * subtree must be marked as well (`deleteSubtree`).
   * @throws Again if another transaction reserves the name
   */
  deleteLater(record: ResourceRecord): void {
    this.assertFree(record.iri);
    this.bytesDelta -= record.size;
    this.resourcesDelta--;
    this.records.set(record.iri, null);
    this.putEntry(removedKey(record.iri), writeRecord(record));
  }

  /** Marks a deleted subtree: the container and its members were deleted by `deleteLater`. */
  deleteSubtree(container: string): void {
    this.putEntry(stagedKey(container), subtreeMark(this.actor));
  }

  /** Stages the removal of the rest of a resource, after `deleteLater`. */
  deleteRest({ iri, blob }: ResourceRecord): void {
    if (blob) this.removedBlobs.add(blob);
    this.records.set(iri, null);
    this.rests.add(iri);
    this.deleteEntry(removedKey(iri));
  }

  /** Records that a deleted subtree is removed completely, so that its names can be used again. */
  forgetSubtree(container: string): void {
    this.deleteEntry(stagedKey(container));
    if (this.base.removedSubtrees.every((other) => other === container))
      this.endFeature(featureOf(removedKey(container)));
  }

  /**
   * Replaces the graph of a resource; `before` are its current keys. Only the difference is written.
   * @param after new keys of the graph, with the added and removed keys if known
   * @throws Again while a staged graph has this name
   */
  putGraph(iri: string, before: readonly string[], after: readonly string[] | ChangedKeys): void {
    this.assertVisible(iri);
    const { keys, added, removed } = 'added' in after ? after : { keys: after, ...difference(before, after) };
    const triples = { before: before.length, after: keys.length };
    this.graphs.set(iri, { added, removed, before, keys, triples, isPart: false });
  }

  /**
   * Adds a new graph that a bulk writer writes.
   * @param own keys with the resource or a fragment of it as subject
   * @param digest `KeyDigest` of all keys
   * @param version see `versionOf`
   * @throws Again as `putGraph`
   */
  putPartnersGraph(
    iri: string,
    own: readonly string[],
    {
      triples: after,
      digest,
      rdfVersion: version,
    }: { readonly triples: number; readonly digest: string; readonly rdfVersion?: RdfVersion | undefined },
  ): void {
    this.assertVisible(iri);
    const change = { added: own, removed: [], before: [], keys: own, isPart: false };
    this.graphs.set(iri, { ...change, triples: { before: 0, after }, isPartners: true, digest, version });
  }

  deleteGraph(iri: string, before: readonly string[]): void {
    const triples = { before: before.length, after: 0 };
    this.graphs.set(iri, { added: [], removed: before, before, keys: undefined, triples, isPart: false });
  }

  /** Like `putGraph`, for a large old or new graph: compares them block by block. @throws Again as `putGraph` */
  async replaceGraph(record: ResourceRecord, keys: GraphKeys): Promise<void> {
    const { iri } = record;
    this.assertVisible(iri);
    const { before, ...diff } = await blockDifference(this.base.graphBlocks(record, ''), digestedBlocks(keys));
    const triples = { before, after: keys.length };
    this.graphs.set(iri, { ...diff, before: undefined, keys, triples, isPart: false });
  }

  /**
   * Changes a part of a large graph.
   * @param change keys to add, which the graph lacks, and keys to remove, which it has; both sorted
   * @param before count of triples before the change
   */
  changeGraph(iri: string, { added, removed }: KeyDifference, before: number): void {
    this.assertVisible(iri);
    const triples = { before, after: before + added.length - removed.length };
    this.graphs.set(iri, { added, removed, before: undefined, keys: undefined, triples, isPart: true });
  }

  /** Deletes again keys that reappeared in LevelDB after their deletion (decision 168). Counters and digests exclude them. */
  removeReturned(iri: string, removed: readonly string[]): void {
    const { triples = 0 } = this.record(iri) ?? {};
    const change = { added: [], removed, before: undefined, keys: undefined, isPart: true };
    this.graphs.set(iri, { ...change, triples: { before: triples, after: triples } });
  }

  /** Deletes a large graph: the graph becomes invisible, and its quads are removed later. */
  dropGraph(iri: string, before: number): void {
    this.putEntry(stagedKey(iri), dropped);
    this.noteGraph(iri, undefined, before);
  }

  /** Publishes a staged graph (`Store.loadGraphs`). @param keys the keys that were written */
  publishGraph(iri: string, keys: GraphKeys): void {
    this.deleteEntry(stagedKey(iri));
    this.noteGraph(iri, keys, 0);
  }

  /** Reserves the name for a staged graph. Returns false if a visible graph has the name. @throws Again as `putGraph` */
  stageGraph(iri: string, keys: GraphKeys): boolean {
    this.assertVisible(iri);
    const hides = this.record(iri)?.kind !== 'rdf';
    if (hides) this.putEntry(stagedKey(iri), loadingName(keys));
    if (hides && versionOfGraph(keys)) this.addFeature(newTerms);
    return hides;
  }

  /** Returns true if these keys were written as a staged graph. */
  isLoaded(iri: string, keys: GraphKeys): boolean {
    return this.entry(stagedKey(iri)) === loadingName(keys);
  }

  writeHidden(iri: string, keys: KeyDifference): void {
    this.hidden.set(iri, keys);
  }

  /** Records that a staged graph is removed completely. */
  forgetHidden(iri: string): void {
    this.deleteEntry(stagedKey(iri));
    this.noteGraph(iri, undefined, 0);
  }

  /** Differences to apply to the digests of entries. */
  readonly digests = new Map<string, KeyDigest>();

  /** Counts of records and entries that `seal` has processed. */
  private sealed = { records: 0, entries: 0 };

  /**
   * Computes `digests`, and completes the records with the digests of their graphs and the required versions of RDF. Called
   * after all changes; also before, if later changes concern other keys.
   */
  seal(): void {
    for (const _ of this.sealing());
  }

  *sealing(): Generator<void> {
    const { sealed, records, entries } = this;
    this.sealed = { records: records.size, entries: entries.size };
    let steps = 0;
    for (const [key, value] of after(entries, sealed.entries)) {
      toggleEntry(this.digests, key, () => [this.base.entry(key), value]);
      if (++steps % sealedAtATime === 0) yield;
    }
    for (const [iri, record] of after(records, sealed.records)) {
      if (++steps % sealedAtATime === 0) yield;
      if (this.rests.has(iri)) continue;
      const before = this.base.record(iri);
      toggleRecords(this.digests, [before, record]);
      // Records from another server are already complete.
      if (record?.kind !== 'rdf' || this.isForeign) continue;
      const change = this.graphs.get(iri);
      const rdfVersion = versionAfter(before, change);
      if (rdfVersion) this.addFeature(newTerms);
      const complete = rdfVersion === record.rdfVersion ? record : Object.assign({}, record, { rdfVersion });
      this.records.set(iri, withDigest(complete, digestAfter(before, change)));
    }
  }

  private noteGraph(iri: string, keys: GraphKeys | undefined, before: number): void {
    const triples = { before, after: keys?.length ?? 0 };
    const change = { added: [], removed: [], before: before === 0 ? [] : undefined, keys };
    this.graphs.set(iri, { ...change, triples, isPart: false });
  }

  /** Returns true if a graph is being written or removed. */
  isStaged(iri: string): boolean {
    return this.entry(stagedKey(iri)) !== undefined || this.subtreeOf(iri) !== undefined;
  }

  /** Returns the deleted subtree that contains a name, if it is still being removed. */
  private subtreeOf(iri: string): string | undefined {
    return this.base.removedSubtrees.find((container) => iri.startsWith(container));
  }

  private assertFree(iri: string): void {
    for (const container of this.base.reserved) if (iri.startsWith(container)) throw this.afterwards(container);
  }

  private assertVisible(iri: string): void {
    if (this.entry(stagedKey(iri)) !== undefined) throw this.afterwards(iri);
  }

  private afterwards(name: string): Again {
    return new Again(() => this.base.untilFree(name));
  }
}
