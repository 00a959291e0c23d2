/**
 * Consistency check of records, graphs, indexes, blobs and counters, for a storage that no server has open. Reads one snapshot
 * and the blob directory and changes nothing.
 */
import { finished } from 'node:stream/promises';
import type { Quad } from '@rdfjs/types';
import { addCount } from '../../tools/collections.js';
import { LwsError } from '../../tools/errors.js';
import { formerIndexes } from '../graphs/format.js';
import { digestIn, keysTooMany } from '../graphs/graph-digests.js';
import { isLargeGraph, lineCounter, lineWriter } from '../graphs/graph-lines.js';
import { stagedGraphs } from '../graphs/staged-keys.js';
import { DamagedBlobError } from '../keys/blob-integrity.js';
import { keptBlobFacts, keptBlobs, readKeptBlob } from '../keys/kept-blobs.js';
import { KeyDigest } from '../keys/key-digest.js';
import { decodeKeys } from '../keys/quad-decoding.js';
import { allQuads, graphRange, keyEncoder } from '../keys/quad-keys.js';
import {
  allBlobs,
  allGarbage,
  allRecords,
  allRemoved,
  blobFacts,
  blobKey,
  iriOfRecordKey,
  metaKey,
  parentOf,
  partsOfEntry,
  type ResourceRecord,
  rangeOf,
  readRecord,
  recordKey,
  writeRecord,
} from '../keys/records.js';
import { forEachConcurrently } from '../level/concurrently.js';
import { entryBlocks, keyBlocks, type LevelSnapshot } from '../level/durable-level.js';
import { countEntries } from '../level/quota.js';
import { countedResources, resourceCounter } from '../level/resource-counter.js';
import { allChanges, positionOfKey, readEntry } from '../log/change-entry.js';
import { entryFaults, type StorageFault } from './repair.js';
import type { Store } from './store.js';

export interface CheckReport {
  /** One sentence per problem. */
  readonly faults: readonly string[];
  /** The same problems with their repairs. */
  readonly found: readonly StorageFault[];
  readonly resources: number;
  readonly triples: number;
  readonly blobs: number;
  readonly bytes: number;
}

export interface CheckOptions {
  /** True to also read every blob and compare its digest. */
  readonly content?: boolean;
  /** Called after each block of keys with the count of checked records, triples or blobs. */
  readonly onProgress?: (what: string, done: number) => void;
}

/** Checks records, graphs, membership, blobs and the counters against each other. */
export async function checkStore(store: Store, options: CheckOptions = {}): Promise<CheckReport> {
  const snapshot = store.level.snapshot();
  const check = new Check(store, snapshot, options);
  try {
    await check.blocks();
    await check.records();
    await check.removed();
    await check.graphs();
    await check.blobs();
    await check.changes();
    await check.entries();
    return check.report();
  } finally {
    await snapshot.close();
  }
}

/** Returns true if encoding the decoded quad returns the key. If not, the lengths in the key do not match its terms. */
function isReadAsWritten(key: string, quad: Quad, keyOf: (quad: Quad) => string): boolean {
  try {
    return keyOf(quad) === key;
  } catch (error) {
    if (error instanceof LwsError) return false;
    throw error;
  }
}

class Check {
  private readonly faults: StorageFault[] = [];
  private readonly members = new Map<string, number>();
  private readonly containers = new Map<string, number>();
  private readonly triples = new Map<string, number>();
  /** Digests in the records, and graphs that differ from their digest. */
  private readonly digests = new Map<string, string>();
  private readonly differing = new Set<string>();
  /** Sizes of large graphs, as recorded and as counted. */
  private readonly largeSizes = new Map<string, { readonly recorded: number; counted: number }>();
  private readonly described = new Set<string>();
  private readonly blobOwners = new Map<string, ResourceRecord>();
  private counts = { resources: 0, triples: 0, blobs: 0, bytes: 0 };

  constructor(
    private readonly store: Store,
    private readonly snapshot: LevelSnapshot,
    private readonly options: CheckOptions,
  ) {}

  /** Reads every block, so that LevelDB verifies its checksum. @throws the error of LevelDB for a damaged block */
  async blocks(): Promise<void> {
    for await (const _ of keyBlocks(this.store.level, { gte: '\u0000', lt: '\uffff' }, { snapshot: this.snapshot }));
  }

  /** Checks that every record is valid and complete, and that every parent is a container that counts it. */
  async records(): Promise<void> {
    for await (const entries of entryBlocks(this.store.level, allRecords(), { snapshot: this.snapshot })) {
      for (const [key, value] of entries) this.record(iriOfRecordKey(key), value);
      this.options.onProgress?.('records', this.counts.resources);
    }
    const counted = countedResources(this.store.level, this.snapshot);
    if (counted !== this.counts.resources)
      this.fault(`The resource counter is ${counted}, but there are ${this.counts.resources} resources.`, {
        later: [resourceCounter(this.counts.resources, this.store.level.getSync(metaKey('batch')) ?? '')],
      });
    for (const [container, count] of this.members) {
      const counted = this.containers.get(container);
      // The root's own "parent" is not a resource.
      if (counted === undefined) {
        if (count > 1 || !this.containers.has(this.root))
          this.fault(`${container} has members but is not a container.`);
      } else if (counted !== count)
        this.fault(`${container} counts ${counted} members but has ${count}.`, this.recount(container, count));
    }
    for (const [container, counted] of this.containers)
      if (counted > 0 && !this.members.has(container))
        this.fault(`${container} counts ${counted} members but has none.`, this.recount(container, 0));
  }

  private recount(container: string, members: number): Omit<StorageFault, 'text'> {
    const record = { ...readRecord(container, this.store.level.getSync(recordKey(container))!), members };
    return { later: [[recordKey(container), writeRecord(record)]] };
  }

  /** Collects the blobs of deleted resources that are still being removed, and the blobs of earlier states. */
  async removed(): Promise<void> {
    for await (const entries of entryBlocks(this.store.level, allRemoved(), { snapshot: this.snapshot }))
      for (const [key, value] of entries) {
        const record = readRecord(partsOfEntry(key)[1]!, value);
        if (record.blob) this.blobOwners.set(record.blob, record);
      }
    for await (const entries of entryBlocks(this.store.level, keptBlobs, { snapshot: this.snapshot }))
      for (const entry of entries) {
        const facts = keptBlobFacts(entry);
        if (!readKeptBlob(entry[1]).isFree) continue;
        const iri = this.store.level.getSync(blobKey(facts.blob), { snapshot: this.snapshot }) ?? '';
        this.blobOwners.set(facts.blob, { iri, ...facts } as ResourceRecord);
      }
  }

  private root = '';

  private record(iri: string, value: string): void {
    let record: ResourceRecord;
    try {
      record = readRecord(iri, value);
    } catch {
      this.fault(`The record of ${iri} cannot be read.`);
      return;
    }
    this.counts.resources++;
    this.counts.bytes += record.size;
    if (record.linked !== undefined) this.described.add(`${iri}.meta`);
    const parent = parentOf(iri);
    addCount(this.members, parent, 1);
    if (record.kind === 'container') {
      this.containers.set(iri, record.members ?? 0);
      if (this.root === '') this.root = iri;
    } else if (record.kind === 'rdf') this.rdf(record);
    else if (record.blob && record.sha256) this.blobOwners.set(record.blob, record);
    else this.fault(`The record of ${iri} has no content.`);
    if (!record.revision || (record.kind === 'container') !== iri.endsWith('/'))
      this.fault(`The record of ${iri} is incomplete or has the wrong kind.`);
  }

  private rdf(record: ResourceRecord): void {
    const { iri, size, triples = 0 } = record;
    this.triples.set(iri, triples);
    const digest = digestIn(record);
    if (digest) this.digests.set(iri, digest.toString());
    if (isLargeGraph(triples)) this.largeSizes.set(iri, { recorded: size, counted: 0 });
  }

  /** Checks that every graph belongs to an RDF resource with its count of triples, and that all indexes have the same quads. */
  async graphs(): Promise<void> {
    const found = new Map<string, number>();
    const illegal = new Map<string, number>();
    const misread = new Map<string, number>();
    let writer: { readonly graph: string; readonly keyOf: (quad: Quad) => string } | undefined;
    const { level } = this.store;
    const count = lineCounter();
    let digest = new KeyDigest();
    for await (const keys of keyBlocks(level, allQuads, { snapshot: this.snapshot })) {
      let at = 0;
      for (const quad of decodeKeys(keys)) {
        const { graph, subject, predicate } = quad;
        const key = keys[at++]!;
        const large = this.largeSizes.get(graph.value);
        if (large) large.counted += count(key);
        if (writer?.graph !== graph.value) {
          if (writer) this.compareDigest(writer.graph, digest);
          writer = { graph: graph.value, keyOf: keyEncoder(graph.value) };
          digest = new KeyDigest();
        }
        digest.toggle([key]);
        if (!isReadAsWritten(key, quad, writer.keyOf)) addCount(misread, graph.value, 1);
        addCount(found, graph.value, 1);
        // In a damaged store, the terms may differ from their static types.
        const terms: readonly string[] = [subject.termType, predicate.termType];
        if (terms[0] === 'Literal' || terms[1] !== 'NamedNode') addCount(illegal, graph.value, 1);
      }
      this.counts.triples += keys.length;
      this.options.onProgress?.('triples', this.counts.triples);
    }
    if (writer) this.compareDigest(writer.graph, digest);
    this.terms(illegal, misread);
    await this.compare(found);
  }

  /** Compares the graphs with the records and the counter. @param found counts of triples by graph */
  private async compare(found: ReadonlyMap<string, number>): Promise<void> {
    const { level } = this.store;
    const hidden = await stagedGraphs(level, this.snapshot);
    for (const index of formerIndexes) {
      let count = 0;
      for await (const keys of keyBlocks(level, rangeOf(`${index}\u0000`), { snapshot: this.snapshot }))
        count += keys.length;
      if (count > 0) this.fault(`The database has ${count} keys of the index ${index}, which are not maintained.`);
    }
    const counted = Number(await level.get(metaKey('quads'), { snapshot: this.snapshot }));
    if (counted !== this.counts.triples)
      this.fault(`The quad counter is ${counted}, but there are ${this.counts.triples} quads.`, {
        later: [[metaKey('quads'), String(this.counts.triples)]],
      });
    for (const [graph, count] of found) {
      const recorded = this.triples.get(graph);
      // The graph of a linkset has no record: it belongs to the resource.
      if (hidden.has(graph) || (recorded === undefined && this.described.has(graph))) continue;
      if (recorded === undefined) await this.orphan(graph);
      else if (recorded !== count && !this.differing.has(graph))
        this.fault(`${graph} should have ${recorded} triples but has ${count}.`);
    }
    for (const [iri, { recorded, counted }] of this.largeSizes)
      if (recorded !== counted) this.fault(`${iri} should have ${recorded} bytes as lines but has ${counted}.`);
    for (const [iri, recorded] of this.triples)
      if (recorded > 0 && !found.has(iri)) this.fault(`${iri} should have ${recorded} triples but has none.`);
    for (const iri of this.differing) await this.difference(iri);
  }

  private compareDigest(iri: string, digest: KeyDigest): void {
    const recorded = this.digests.get(iri);
    if (recorded !== undefined && recorded !== digest.toString()) this.differing.add(iri);
  }

  private keysOf(graph: string): AsyncIterable<readonly string[]> {
    return keyBlocks(this.store.level, graphRange(graph), { snapshot: this.snapshot });
  }

  /** Reports a graph without a record: LevelDB returned quads of a deleted resource. */
  private async orphan(graph: string): Promise<void> {
    const changes: [string, null][] = [];
    for await (const keys of this.keysOf(graph)) for (const key of keys) changes.push([key, null]);
    this.fault(`The graph ${graph} belongs to no RDF resource.`, { changes });
  }

  /** Reports the triples that have returned to a graph. */
  private async difference(iri: string): Promise<void> {
    const record = readRecord(iri, this.store.level.getSync(recordKey(iri), { snapshot: this.snapshot })!);
    const named = await keysTooMany(record, () => this.keysOf(iri));
    const line = lineWriter();
    for (const key of named ?? [])
      this.fault(`${iri} has a deleted triple that returned: ${line(key).trim()}`, { changes: [[key, null]] });
    if (!named)
      this.fault(
        `The triples of ${iri} differ from those that were written. Replace or delete the resource, or restore it from a backup.`,
      );
  }

  /** Reports graphs with invalid terms, and graphs with keys that do not match their terms. The maps have counts of triples. */
  private terms(illegal: ReadonlyMap<string, number>, misread: ReadonlyMap<string, number>): void {
    for (const [graph, count] of illegal)
      this.fault(
        `${graph} has ${count} triples with a literal as subject or a predicate that is not an IRI, which clients cannot read. Start the server and PATCH it (application/sparql-update) with: DELETE { ?s ?p ?o } WHERE { ?s ?p ?o FILTER(isLiteral(?s) || !isIRI(?p)) }`,
      );
    for (const [graph, count] of misread)
      this.fault(
        `${graph} has ${count} triples with keys that are decoded to other terms than were stored. Queries may show them in other graphs. Earlier versions stored such keys for literals with several datatypes. Start the server and replace or delete the resource.`,
      );
  }

  /** Checks that referenced blobs exist and are complete, that there are no other files, and that the counter is correct. */
  async blobs(): Promise<void> {
    const { level, blobs } = this.store;
    for await (const entries of entryBlocks(level, allBlobs(), { snapshot: this.snapshot }))
      for (const [key, iri] of entries) {
        const blob = key.slice(blobKey('').length);
        if (this.blobOwners.get(blob)?.iri !== iri)
          this.fault(`The blob ${blob} is registered for ${iri}, which does not refer to it.`);
      }
    await forEachConcurrently(this.blobOwners, blobs.atOnce, ([blob, record]) => this.blob(blob, record));
    const garbage = new Set<string>();
    for await (const keys of keyBlocks(level, allGarbage(), { snapshot: this.snapshot }))
      for (const key of keys) garbage.add(key.slice(2));
    // Other servers of the storage may be committing or removing blobs.
    for await (const file of this.store.coordination.hasOthers ? [] : blobs.all())
      if (!this.blobOwners.has(file) && !garbage.has(file)) this.fault(`The blob file ${file} belongs to no resource.`);
    const counted = Number((await level.get(metaKey('bytes'), { snapshot: this.snapshot })) ?? 0);
    const all = this.counts.bytes + (await countEntries(level, this.snapshot));
    if (counted !== all)
      this.fault(`The byte counter is ${counted}, but resources and linksets have ${all} bytes.`, {
        later: [[metaKey('bytes'), String(all)]],
      });
  }

  /** Checks that entries of the change log are valid, and that none names a predecessor before the previous entry. */
  async changes(): Promise<void> {
    let last = -1;
    for await (const entries of entryBlocks(this.store.level, allChanges(), { snapshot: this.snapshot }))
      for (const [key, value] of entries) {
        const end = positionOfKey(key);
        try {
          const { previous } = readEntry([key, value], this.root);
          if (previous < last) this.fault(`The entry ${end} of the log of changes does not continue after ${last}.`);
        } catch {
          this.fault(`The entry ${end} of the log of changes cannot be read.`);
        }
        last = end;
      }
  }

  private async blob(blob: string, record: ResourceRecord): Promise<void> {
    this.counts.blobs++;
    this.options.onProgress?.('blobs', this.counts.blobs);
    const size = await this.store.blobs.size(blob);
    if (size === undefined) this.fault(`The content of ${record.iri} is missing (blob ${blob}).`);
    else if (size !== record.size)
      this.fault(`The content of ${record.iri} has ${size} bytes instead of ${record.size}.`);
    if ((await this.store.level.get(blobKey(blob), { snapshot: this.snapshot })) === undefined)
      this.fault(`The blob ${blob} of ${record.iri} is not registered.`);
    if (!this.options.content || size !== record.size) return;
    try {
      await finished((await this.store.blobs.read(blobFacts(record))).resume());
    } catch (error) {
      if (!(error instanceof DamagedBlobError)) throw error;
      this.fault(`The content of ${record.iri} has another digest.`);
    }
  }

  private fault(text: string, repair: Omit<StorageFault, 'text'> = {}): void {
    // A damaged storage may have millions of problems. Report only the first 1000.
    if (this.faults.length < 1000) this.faults.push({ text, ...repair });
  }

  /** Checks that entries with a digest are the entries that were written last. */
  async entries(): Promise<void> {
    for await (const { text, ...changes } of entryFaults(this.store.level, this.snapshot, 'acl'))
      this.fault(text, changes);
  }

  report(): CheckReport {
    return { faults: this.faults.map(({ text }) => text), found: this.faults, ...this.counts };
  }
}
