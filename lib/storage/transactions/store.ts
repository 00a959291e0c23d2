/** The store: one LevelDB with graphs and records, and the blobs. `transact` is the only way to write. Readers see committed states only. */
import { lruCache } from '../../tools/caches.js';
import { tooBusy } from '../../tools/errors.js';
import type { BlobPlace, Blobs } from '../blobs/blobs.js';
import { adoptBlobs } from '../graphs/adopt.js';
import { CommittedGraphs } from '../graphs/committed-graphs.js';
import { type MigrationOptions, migrate } from '../graphs/format.js';
import { comparedBlocks, DamagedGraphError } from '../graphs/graph-digests.js';
import { isLargeGraph } from '../graphs/graph-lines.js';
import { StoreSnapshot } from '../graphs/snapshot.js';
import { stagedKey } from '../graphs/staged-keys.js';
import type { GraphKeys } from '../keys/graph-keys.js';
import { graphRange } from '../keys/quad-keys.js';
import {
  iriOfRecordKey,
  type KeyRange,
  memberRange,
  type ResourceRecord,
  readRecord,
  recordKey,
} from '../keys/records.js';
import { entryBlocks, givenValue, keyBlocks, type Level, type PageOptions, untilOpen } from '../level/durable-level.js';
import { completeDigests } from '../level/entry-digests.js';
import { lastEnd, noteClosed, noteOpened } from '../level/last-end.js';
import { noteIndexes } from '../level/quadstore-file.js';
import { readCounter } from '../level/quota.js';
import { countResources } from '../level/resource-counter.js';
import { Again, afterOthers } from './again.js';
import { ChangeLog } from './change-log.js';
import { CommitQueue, type CommitQueueOptions, type Prepare, type TransactOptions, type Work } from './commit-queue.js';
import { type Coordination, singleServer } from './coordination.js';
import { settleKeptBlobs } from './kept-blobs.js';
import { Recovery, type ReopeningPause } from './recovery.js';
import { RemovedSubtrees, type RestRemoval } from './removed-subtrees.js';
import { ReturnedData } from './returned-data.js';
import { SettledBlobs } from './settled-blobs.js';
import { SharedCommitQueue } from './shared-commit-queue.js';
import { StagedGraphs } from './staged-graphs.js';
import { StoreListeners } from './store-listeners.js';
import type { Transaction } from './transaction.js';

/** Maximum attempts of a transaction. Thousands of graphs may have to be removed first: each attempt waits for at most 250. */
const maxAttempts = 30;

/** Count of members that are parsed before control returns to the reader. */
const recordsAtATime = 128;

/** Maximum characters of keys that are read before a transaction. */
const maxReadAhead = 64 << 20;

/** Options for opening a store. */
export interface StoreOptions extends MigrationOptions {
  /** Called for a failure without a request to report it to: a blob that could not be removed, a failed batch. */
  readonly onTrouble?: (message: string, error: unknown) => void;
  /** Called when the store has recovered from a failure reported to `onTrouble`. */
  readonly onRecovery?: (message: string) => void;
  /** Coordination with the other servers of the storage. Absent if there are none. */
  readonly coordination?: Coordination | undefined;
  /** Location of the blobs. Default: the directory `blobs/`. */
  readonly blobPlace?: BlobPlace | undefined;
  /** Called when the store is closed. */
  readonly onClose?: () => void;
  /** Quota in bytes (see quota.ts). 0 or absent: no limit. */
  readonly quotaBytes?: number;
}

/** Graph of one state, which is read from disk. The reader must close it. */
export interface OpenGraph {
  readonly record: ResourceRecord;
  /** Yields all keys. @throws DamagedGraphError, LwsError `too-busy` if LevelDB returned deleted keys */
  blocks(): AsyncIterable<readonly string[]>;
  close(): Promise<void>;
}

export class Store extends StoreListeners {
  readonly isTransaction = false;
  private readonly recordCache = lruCache<ResourceRecord>(20_000);
  /** Names without a record. A write looks up its name twice, and also the name with or without the final slash. */
  private readonly absent = lruCache<true>(128);
  private readonly graphs: CommittedGraphs;
  private readonly hidden: StagedGraphs;
  private readonly subtrees: RemovedSubtrees;
  private readonly derivations = lruCache<object>(5_000);
  private readonly queue: CommitQueue;
  readonly coordination: Coordination;
  private readonly recovery: Recovery;
  private readonly settled: SettledBlobs;
  readonly changes: ChangeLog;
  readonly returned: ReturnedData;

  private constructor(
    readonly level: Level,
    readonly blobs: Blobs,
    private readonly options: StoreOptions,
    { bytes, changes }: { readonly bytes: number; readonly changes: ChangeLog },
  ) {
    super();
    const { onTrouble = () => {}, onRecovery = () => {}, coordination = singleServer } = options;
    this.subtrees = new RemovedSubtrees({
      ...{ level, onTrouble },
      transact: (work, given) => this.transact(work, given),
      readAhead: (records) => this.readAhead(records),
    });
    this.settled = new SettledBlobs({ level, blobs, onTrouble, coordination });
    this.returned = new ReturnedData(level, (work) => this.transact(work, { frees: true }), onTrouble);
    this.graphs = new CommittedGraphs(level, (found) => this.returned.remove(found));
    this.hidden = new StagedGraphs({
      ...{ level, isShared: coordination.hasOthers },
      assertSpace: (bytes) => blobs.space.assertFor(bytes, false),
      transact: (work, given) => this.transact(work, given),
    });
    const queueOptions: CommitQueueOptions = {
      level,
      ...{ changes, bytes, forgotten: this.settled.forgotten },
      quotaBytes: options.quotaBytes ?? 0,
      assertSpace: (needed, frees) => blobs.space.assertFor(needed, frees),
      committed: {
        record: (iri) => this.record(iri),
        graph: (record) => this.graphs.keysOf(record),
        graphBlocks: (graph, beginning) => this.graphs.blocks(graph, beginning),
        hasKeys: (keys) => this.graphs.has(keys),
        entry: (key) => this.entry(key),
        entries: (range) => this.entries(range),
        derived: (key, parse) => this.derived(key, parse),
        members: (container) => this.members(container),
        untilFree: (name) => this.removal(name),
      },
      listeners: this.inTransaction,
      complete: async (transaction) => {
        for (const each of this.completing) await each(transaction);
        settleKeptBlobs(transaction);
      },
      onStage: (transaction) => this.tell('stage', transaction),
      onCommit: (transaction) => this.apply(transaction),
      onDrop: (transaction, mayBeStored) => this.drop(transaction, mayBeStored),
      onFailure: (error) => this.recovery.begin(error),
      onBatch: (batch) => this.tellOfBatch(batch),
      foreignListeners: this.fromOthers,
    };
    const { order } = coordination;
    this.queue = order ? new SharedCommitQueue(queueOptions, order.bind(coordination)) : new CommitQueue(queueOptions);
    [this.coordination, this.changes] = [coordination, changes];
    this.recovery = new Recovery({ level, blobs, queue: this.queue, onTrouble, onRecovery });
  }

  /**
   * Opens a store on an open LevelDB, migrates earlier formats, and removes leftovers of uploads after a crash.
   * @param storage the storage's root IRI. A store belongs to one storage
   * @throws Error if the store belongs to another storage IRI or a later version
   */
  static async open(level: Level, folder: string, storage: string, options: StoreOptions = {}): Promise<Store> {
    const blobs = await adoptBlobs(level, { dataDir: folder, place: options.blobPlace }, storage);
    await migrate(level, options);
    const { hasOthers } = options.coordination ?? singleServer;
    await countResources(level);
    await completeDigests(level);
    const changes = await ChangeLog.open(level, storage, { ...options, hasOthers });
    const store = new Store(level, blobs, options, { bytes: await readCounter(level), changes });
    noteIndexes(folder, options.onTrouble);
    await store.coordination.freshen();
    const end = await lastEnd(level);
    if (end !== 'closed') blobs.afterCrash?.();
    await store.settled.begin(end === 'cut' || end === 'unsaid');
    await noteOpened(level);
    return store;
  }

  /**
   * Removes graphs in the background that an earlier process was writing or removing. Call it after the listeners of
   * transactions were added, because indexes remove their entries with the quads.
   * @param removeRest see `RemovedSubtrees`
   */
  async sweep(removeRest: RestRemoval): Promise<void> {
    await this.hidden.open();
    for (const container of await this.subtrees.open(removeRest)) this.queue.noteSubtree(container);
  }

  /** Deleted subtrees that are being removed: indexes may still have entries of their resources. */
  get removedSubtrees(): readonly string[] {
    return this.queue.removedSubtrees;
  }

  /** Bytes counted against the quota, including commits in progress. */
  get bytes(): number {
    return this.queue.bytes;
  }

  /** Count of waiting transactions, true if a batch has failed, and counts of resources and quads. */
  get commits(): Pick<CommitQueue, 'waiting' | 'hasFailed' | 'counts'> {
    return this.queue;
  }

  /** Returns the committed record of a resource. */
  record(iri: string): ResourceRecord | undefined {
    const cached = this.recordCache.get(iri);
    if (cached) return cached;
    const value = this.absent.has(iri) ? undefined : this.level.getSync(recordKey(iri));
    if (value === undefined) this.absent.set(iri, true);
    if (value === undefined) return undefined;
    const record = readRecord(iri, value);
    this.recordCache.set(iri, record);
    return record;
  }

  /** Returns the committed value of an entry (see `entryKey`). */
  entry(key: string): string | undefined {
    return givenValue(this.level.getSync(key));
  }

  /** Returns a committed entry, parsed. The result is cached until the entry changes, so a key must always be used with the same `parse`. */
  derived<T extends object>(key: string, parse: (value: string) => T): T | undefined {
    const known = this.derivations.get(key);
    if (known) return known as T;
    const value = this.entry(key);
    if (value === undefined) return undefined;
    const made = parse(value);
    this.derivations.set(key, made);
    return made;
  }

  /** Yields the committed entries of a range in blocks, in key order. */
  async *entries(range: KeyRange, options?: PageOptions): AsyncGenerator<[key: string, value: string][]> {
    yield* entryBlocks(this.level, range, options);
  }

  /** Yields the committed keys of a range in blocks, in order. */
  keys(range: KeyRange, options?: PageOptions): AsyncGenerator<string[]> {
    return keyBlocks(this.level, range, options);
  }

  /** Returns an RDF resource and the GSPO keys of its graph, from one committed state. */
  graph(iri: string): Promise<{ record: ResourceRecord; keys: readonly string[] } | undefined> {
    return this.graphs.withRecord(iri, this.record(iri));
  }

  /** Opens the committed state of an RDF resource; `undefined` if it does not exist. */
  async openGraph(iri: string): Promise<OpenGraph | undefined> {
    const snapshot = new StoreSnapshot(this.level);
    const [record] = await snapshot.records([iri]);
    if (record?.kind === 'rdf') {
      const blocks = () =>
        comparedBlocks(
          record,
          () => snapshot.keys(graphRange(iri)),
          (found) => this.returned.remove(found),
        );
      return { record, blocks, close: () => snapshot.close() };
    }
    await snapshot.close();
    return undefined;
  }

  /**
   * Loads a graph into the cache before a transaction replaces or deletes it, so that the transaction, for which all others
   * wait, does not read the disk.
   */
  async prefetch(record: ResourceRecord): Promise<void> {
    if (!this.graphs.isWorthPrefetching(record)) return;
    // Ignore a damaged graph here. The transaction handles it: it can be replaced and deleted.
    await this.graph(record.iri).catch((error: unknown) => {
      if (!(error instanceof DamagedGraphError)) throw error;
    });
  }

  /**
   * Prepares a transaction that deletes or moves many resources: reads their small graphs into memory, up to 64 Mi characters,
   * so that the transaction, for which all others wait, does not read the disk.
   */
  readAhead(records: readonly ResourceRecord[]): Prepare<void> {
    const small = records.filter(({ kind, triples = 0 }) => kind === 'rdf' && !isLargeGraph(triples));
    return async (after) => after(await this.graphs.readMany(small, maxReadAhead));
  }

  /**
   * Writes new graphs in slices, between which other transactions run. The graphs are invisible until a transaction publishes
   * them (`Transaction.publishGraph`). Otherwise they must be dropped (`dropLoaded`).
   * @returns the names of the written graphs, whose resources had no graph
   */
  loadGraphs(graphs: ReadonlyMap<string, GraphKeys>): Promise<ReadonlySet<string>> {
    return this.hidden.load(graphs);
  }

  /** Removes a graph written by `loadGraphs`. */
  dropLoaded(iri: string, keys: GraphKeys): void {
    this.hidden.drop(iri, keys);
  }

  /** Waits until no staged graph has the given name. @throws LwsError `too-busy` after half a minute */
  async nameFree(iri: string): Promise<void> {
    if (this.entry(stagedKey(iri)) !== undefined) await this.removal(iri);
  }

  private removal(graph: string): Promise<void> {
    return this.hidden.gone(graph, () => this.entry(stagedKey(graph)) ?? this.queue.reservation(graph));
  }

  /** Yields the members of a container in IRI order, from the first or a given member, of one committed state. */
  async *members(container: string, from?: string): AsyncGenerator<ResourceRecord[]> {
    for await (const entries of entryBlocks(this.level, memberRange(container, from)))
      for (let at = 0; at < entries.length; at += recordsAtATime)
        yield entries.slice(at, at + recordsAtATime).map(([key, value]) => readRecord(iriOfRecordKey(key), value));
  }

  /**
   * Runs `work` while no other transaction runs, commits the staged changes, and returns its result when they are on disk. If
   * `work` throws, nothing is written. `work` must check preconditions, authorization and quota, and only stage. It runs again
   * after `Again`: its state is outdated, it needs a preparation, or a graph of that name is being written or removed.
   * @throws errors of `work` and of preparations; LwsError `too-busy` after the last attempt, `storage-full` if the disk
   * rejects the batch
   */
  async transact<T, P>(work: Work<T, P>, options: TransactOptions<P> = {}): Promise<T> {
    const releases: ((error: unknown) => unknown)[] = [];
    let [failure, prepared]: [unknown, P?] = [undefined];
    const release = async (): Promise<void> => {
      for (const each of releases.splice(0)) await each(failure);
    };
    const prepare = async (): Promise<void> => {
      await release();
      prepared = await options.prepare!((each) => releases.push(each));
    };
    let [next, iri] = [options.prepare && prepare, options.iri];
    const attempt = async (): Promise<T> => {
      await next?.();
      await this.blobs.space.assertSome(options.frees);
      return this.queue.transact((tx) => work(tx, prepared as P), options);
    };
    try {
      for (let attempts = 0; attempts < maxAttempts; attempts++)
        try {
          const result = await (iri === undefined ? attempt() : afterOthers(iri, attempt));
          failure = undefined;
          return result;
        } catch (error) {
          failure = error;
          if (!(error instanceof Again)) throw error;
          if (typeof error.first === 'string') [next, iri] = [options.prepare && prepare, error.first];
          else next = error.first;
        }
      throw tooBusy('Too many concurrent changes. Nothing was changed. Retry in a few seconds.', 1);
    } finally {
      await release();
    }
  }

  /** Calls back before LevelDB is closed and reopened, so that other threads close it. */
  beforeReopening(pause: ReopeningPause): void {
    this.recovery.pauses.push(pause);
  }

  /** False while LevelDB is being reopened. */
  get isOpen(): boolean {
    return this.level.status === 'open';
  }

  /** Waits up to 5 seconds until the store can be read. @throws LwsError `too-busy` */
  opened(): Promise<void> {
    return untilOpen(() => this.isOpen);
  }

  /** Updates the caches for a committed transaction. */
  private apply(transaction: Transaction): void {
    // Do not cache new records: caching all of them costs more than reading those that are needed.
    for (const [iri, record] of transaction.records) {
      this.absent.delete(iri);
      if (!record) this.recordCache.delete(iri);
      else if (record.kind === 'container' || this.recordCache.has(iri)) this.recordCache.set(iri, record);
    }
    for (const [iri, { keys, isPartners }] of transaction.graphs)
      this.graphs.replaced(iri, transaction.records.get(iri)?.revision, isPartners ? undefined : keys);
    for (const key of transaction.entries.keys()) this.derivations.delete(key);
    this.hidden.committed(transaction);
    this.subtrees.committed(transaction);
    this.tell('commit', transaction);
    if (transaction.addedBlobs.size > 0 || transaction.removedBlobs.size > 0) void this.settled.committed(transaction);
  }

  private drop(transaction: Transaction, mayBeStored = false): void {
    this.tell('drop', transaction);
    // The caches have the previous state, which may differ from the state of the database.
    if (mayBeStored) {
      this.absent.clear();
      for (const iri of transaction.records.keys()) this.recordCache.delete(iri);
      for (const iri of transaction.graphs.keys()) this.graphs.replaced(iri, undefined, undefined);
      for (const key of transaction.entries.keys()) this.derivations.delete(key);
    }
    if (transaction.addedBlobs.size > 0 && !mayBeStored) void this.settled.dropped(transaction);
  }

  /** Waits for pending commits and closes. */
  async close(): Promise<void> {
    await Promise.all([this.hidden.close(), this.subtrees.close()]);
    await this.recovery.stop();
    await this.queue.idle();
    await this.coordination.close();
    await Promise.all([this.settled.close(), this.changes.close()]);
    if (!this.queue.hasFailed) await noteClosed(this.level);
    await this.level.close();
    this.options.onClose?.();
  }
}
