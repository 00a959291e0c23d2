/**
 * The store: one LevelDB with the graphs and the records, and the blobs. `transact` is the only way to write; readers see committed states
 * alone.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { lruCache } from '../../caches.js';
import type { WrittenBatch } from '../../metrics.js';
import type { BlobPlace, Blobs } from '../blobs/blobs.js';
import { adoptBlobs } from '../graphs/adopt.js';
import { CommittedGraphs } from '../graphs/committed-graphs.js';
import { type MigrationOptions, migrate } from '../graphs/format.js';
import { GraphInTheWay, stagedKey } from '../graphs/staged-keys.js';
import type { GraphKeys } from '../keys/graph-keys.js';
import { IndexSet } from '../keys/index-set.js';
import {
  iriOfRecordKey,
  type KeyRange,
  memberRange,
  type ResourceRecord,
  readRecord,
  recordKey,
} from '../keys/records.js';
import {
  beingOpened,
  entryBlocks,
  givenValue,
  keyBlocks,
  type Level,
  type PageOptions,
} from '../level/durable-level.js';
import { lastEnd, noteClosed, noteOpened } from '../level/last-end.js';
import { noteIndexes } from '../level/quadstore-file.js';
import { readCounter } from '../level/quota.js';
import { ChangeLog } from './change-log.js';
import {
  CommitQueue,
  type CommitQueueOptions,
  type TransactionListener,
  type TransactOptions,
  type Work,
} from './commit-queue.js';
import { type Coordination, singleServer } from './coordination.js';
import type { KeptQuads } from './index-backfill.js';
import { type Pause, Recovery } from './recovery.js';
import { SettledBlobs } from './settled-blobs.js';
import { SharedCommitQueue } from './shared-commit-queue.js';
import { StagedGraphs } from './staged-graphs.js';
import type { Transaction } from './transaction.js';

/** Called back for transactions; `StoreListeners` says when. */
type Listener = (transaction: Transaction) => void;

export class StoreListeners {
  protected readonly inTransaction: TransactionListener[] = [];
  protected readonly fromOthers: TransactionListener[] = [];
  private readonly batchListeners: ((batch: WrittenBatch) => void)[] = [];
  private readonly listeners = { stage: [] as Listener[], commit: [] as Listener[], drop: [] as Listener[] };

  /**
   * Calls back inside every transaction that changed a resource, when its work is done. What the listener stages is
   * written with the transaction, and an error of the listener undoes it: an index cannot lag, an event cannot be lost.
   */
  onTransaction(listener: TransactionListener): void {
    this.inTransaction.push(listener);
  }

  /** Calls back for every transaction that another server of the storage has committed, before its changes can be seen here. */
  onForeign(listener: TransactionListener): void {
    this.fromOthers.push(listener);
  }

  /** Calls back for every transaction that is going to be written, before any reader can see its changes. */
  onStage(listener: Listener): void {
    this.listeners.stage.push(listener);
  }

  /** Calls back after every commit, before it is acknowledged. For caches. */
  onCommit(listener: Listener): void {
    this.listeners.commit.push(listener);
  }

  /** Calls back for every staged transaction that is not stored, or may not be (a failed batch). */
  onDrop(listener: Listener): void {
    this.listeners.drop.push(listener);
  }

  /** Calls back after every batch that is on the disk. */
  onBatch(listener: (batch: WrittenBatch) => void): void {
    this.batchListeners.push(listener);
  }

  protected tellOfBatch(batch: WrittenBatch): void {
    for (const listener of this.batchListeners) listener(batch);
  }

  protected tell(of: 'stage' | 'commit' | 'drop', transaction: Transaction): void {
    for (const listener of this.listeners[of]) listener(transaction);
  }
}

/** What a store is opened with. */
export interface StoreOptions extends MigrationOptions {
  /** Notified of a failure that no request can be answered with: a blob that could not be removed, a failed batch. */
  readonly onTrouble?: (message: string, error: unknown) => void;
  /** Notified when such a failure has been overcome without the operator. */
  readonly onRecovery?: (message: string) => void;
  /** Agreement with the other servers of the storage. Absent if there are none. */
  readonly coordination?: Coordination | undefined;
  /** Location of the blobs. Default: the folder `blobs/`. */
  readonly blobPlace?: BlobPlace | undefined;
  /** Called when the store is closed. */
  readonly onClose?: () => void;
  /** Bytes that the store may hold (see quota.ts); 0 or absent: any number. */
  readonly quotaBytes?: number;
}

export class Store extends StoreListeners {
  readonly isTransaction = false;
  private readonly recordCache = lruCache<ResourceRecord>(20_000);
  private readonly graphs: CommittedGraphs;
  private readonly hidden: StagedGraphs;
  private readonly derivations = lruCache<object>(5_000);
  private readonly queue: CommitQueue;
  readonly coordination: Coordination;
  private readonly recovery: Recovery;
  private readonly settled: SettledBlobs;
  readonly changes: ChangeLog;
  /** With so many quads, they get all orders. */
  growsAt = Number.POSITIVE_INFINITY;

  private constructor(
    readonly level: Level,
    readonly blobs: Blobs,
    private readonly options: StoreOptions,
    { folder, bytes, changes }: { readonly folder: string; readonly bytes: number; readonly changes: ChangeLog },
  ) {
    super();
    const { onTrouble = () => {}, onRecovery = () => {}, coordination = singleServer } = options;
    this.settled = new SettledBlobs({ level, blobs, onTrouble, coordination });
    this.graphs = new CommittedGraphs(level);
    this.hidden = new StagedGraphs({
      ...{ level, isShared: coordination.hasOthers, width: () => this.kept.orders.width },
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
        keysWithObject: (graph, object) =>
          this.kept.orders.isComplete ? this.graphs.withObject(graph, object) : undefined,
        hasKeys: (keys) => this.graphs.has(keys),
        entry: (key) => this.entry(key),
        entries: (range) => this.entries(range),
        derived: (key, parse) => this.derived(key, parse),
        members: (container) => this.members(container),
      },
      listeners: this.inTransaction,
      onStage: (transaction) => this.tell('stage', transaction),
      onCommit: (transaction) => this.apply(transaction),
      onDrop: (transaction, mayBeStored) => this.drop(transaction, mayBeStored),
      onFailure: (error) => this.recovery.begin(error),
      onBatch: (batch) => this.tellOfBatch(batch),
      onOrders: ({ orders }) => noteIndexes(folder, orders, onTrouble),
      foreignListeners: this.fromOthers,
    };
    const { order } = coordination;
    this.queue = order ? new SharedCommitQueue(queueOptions, order.bind(coordination)) : new CommitQueue(queueOptions);
    [this.coordination, this.changes] = [coordination, changes];
    this.recovery = new Recovery({ level, blobs, queue: this.queue, onTrouble, onRecovery });
  }

  /**
   * Opens a store on an open LevelDB, migrates one of an earlier format, and sweeps what a crash may have left of uploads.
   * @param storage the storage's root IRI; a store belongs to one
   * @throws Error when the store was made for another storage IRI or by a later version
   */
  static async open(level: Level, folder: string, storage: string, options: StoreOptions = {}): Promise<Store> {
    const blobs = await adoptBlobs(level, { dataDir: folder, place: options.blobPlace }, storage);
    await migrate(level, options);
    const { hasOthers } = options.coordination ?? singleServer;
    const changes = await ChangeLog.open(level, storage, { ...options, hasOthers });
    const store = new Store(level, blobs, options, { folder, bytes: await readCounter(level), changes });
    noteIndexes(folder, store.kept.orders, options.onTrouble);
    await store.coordination.freshen();
    await store.settled.begin((await lastEnd(level)) !== 'whole');
    await store.hidden.open();
    await noteOpened(level);
    return store;
  }

  /** Bytes that count against the quota, those of commits under way included. */
  get bytes(): number {
    return this.queue.bytes;
  }

  /** How many transactions wait, and whether a batch could not be written. */
  get commits(): Pick<CommitQueue, 'waiting' | 'hasFailed'> {
    return this.queue;
  }

  /** The orders that committed quads have keys in, and how many quads there are. */
  get kept(): KeptQuads {
    return this.queue.kept;
  }

  /** Gives the quads all orders, or one, while it goes on as ever. Resolves when they have them, or when that is broken off. */
  reorder(wanted: IndexSet): Promise<void> {
    return this.queue.reorder(wanted);
  }

  grow(): Promise<void> {
    return this.reorder(IndexSet.all);
  }

  /** Has the quads get all orders when there are, or with so many more will be, too many for one (`growsAt`), or when they are getting them. */
  expect(more: number): void {
    const { orders, quads, wanted } = this.kept;
    if (!orders.isComplete && !wanted && (quads + more >= this.growsAt || orders.last !== undefined)) void this.grow();
  }

  /** The committed record of a resource. */
  record(iri: string): ResourceRecord | undefined {
    const cached = this.recordCache.get(iri);
    if (cached) return cached;
    const value = this.level.getSync(recordKey(iri));
    if (value === undefined) return undefined;
    const record = readRecord(iri, value);
    this.recordCache.set(iri, record);
    return record;
  }

  /** The committed value of an entry (see `entryKey`). */
  entry(key: string): string | undefined {
    return givenValue(this.level.getSync(key));
  }

  /**
   * A committed entry, parsed. The result is cached until the entry changes, so a key must always be asked for with the
   * same `parse`.
   */
  derived<T extends object>(key: string, parse: (value: string) => T): T | undefined {
    const known = this.derivations.get(key);
    if (known) return known as T;
    const value = this.entry(key);
    if (value === undefined) return undefined;
    const made = parse(value);
    this.derivations.set(key, made);
    return made;
  }

  /** The committed entries of a range, in the order of their keys. */
  async *entries(range: KeyRange, options?: PageOptions): AsyncGenerator<[key: string, value: string][]> {
    yield* entryBlocks(this.level, range, options);
  }

  /** The committed keys of a range, in order. */
  keys(range: KeyRange, options?: PageOptions): AsyncGenerator<string[]> {
    return keyBlocks(this.level, range, options);
  }

  /** An RDF resource and the GSPO keys of its graph, of one committed state. */
  graph(iri: string): Promise<{ record: ResourceRecord; keys: readonly string[] } | undefined> {
    return this.graphs.withRecord(iri, this.record(iri));
  }

  /**
   * Reads a graph that a transaction is going to replace or delete into the cache, so that the transaction, for which
   * all others wait, need not read the disk.
   */
  async prefetch(record: ResourceRecord): Promise<void> {
    if (this.graphs.isWorthPrefetching(record)) await this.graph(record.iri);
  }

  /**
   * Writes a new large graph in slices, between which other transactions run. It is hidden until a transaction raises it
   * (`Transaction.raiseGraph`); when none does, it has to be dropped (`dropLoaded`).
   * @returns false, and nothing is written, where the resource has a graph already
   */
  loadGraph(iri: string, keys: GraphKeys): Promise<boolean> {
    return this.hidden.load(iri, keys);
  }

  /** Removes what `loadGraph` has written. */
  dropLoaded(iri: string, keys: GraphKeys): void {
    this.hidden.drop(iri, keys);
  }

  /** The members of a container in the order of their IRIs, from the first or a given one on, of one committed state. */
  async *members(container: string, from?: string): AsyncGenerator<ResourceRecord[]> {
    for await (const entries of entryBlocks(this.level, memberRange(container, from)))
      yield entries.map(([key, value]) => readRecord(iriOfRecordKey(key), value));
  }

  /**
   * Runs `work` while no other transaction runs, commits what it staged, and returns its result when that is on the disk.
   * When `work` throws, nothing is written. Preconditions, authorization and quota belong inside. It is run again when a graph
   * of the same name is still being written or removed.
   * @throws what `work` throws; LwsError `storage-full` when the disk does not take the batch
   */
  async transact<T>(work: Work<T>, options: TransactOptions = {}): Promise<T> {
    for (;;) {
      await this.blobs.space.assertSome(options.frees);
      try {
        return await this.queue.transact(work, options);
      } catch (error) {
        if (!(error instanceof GraphInTheWay)) throw error;
        await this.hidden.gone(error.graph, () => this.entry(stagedKey(error.graph)));
      }
    }
  }

  /** Calls back before LevelDB is closed to be opened again: other threads that have it open must close it. */
  beforeReopening(pause: Pause): void {
    this.recovery.pauses.push(pause);
  }

  /** Whether the store can be read: not while LevelDB is opened again. */
  get isOpen(): boolean {
    return this.level.status === 'open';
  }

  /** Waits up to 5 seconds until the store can be read. @throws LwsError `too-busy` */
  async opened(): Promise<void> {
    for (let at = 0; !this.isOpen; at++) await (at < 50 ? sleep(100) : Promise.reject(beingOpened()));
  }

  /** Updates the caches for a transaction whose batch is on the disk. */
  private apply(transaction: Transaction): void {
    // New records are not cached: to cache all of them costs more than to read from the disk those that are asked for.
    for (const [iri, record] of transaction.records) {
      if (!record) this.recordCache.delete(iri);
      else if (record.kind === 'container' || this.recordCache.has(iri)) this.recordCache.set(iri, record);
    }
    for (const [iri, { keys, isPartners }] of transaction.graphs)
      this.graphs.replaced(iri, transaction.records.get(iri)?.revision, isPartners ? undefined : keys);
    for (const key of transaction.entries.keys()) this.derivations.delete(key);
    this.hidden.committed(transaction);
    this.expect(0);
    this.tell('commit', transaction);
    if (transaction.addedBlobs.size > 0 || transaction.removedBlobs.size > 0) void this.settled.committed(transaction);
  }

  private drop(transaction: Transaction, mayBeStored = false): void {
    this.tell('drop', transaction);
    if (transaction.addedBlobs.size > 0 && !mayBeStored) void this.settled.dropped(transaction);
  }

  /** Waits for the commits under way and closes. */
  async close(): Promise<void> {
    await this.hidden.close();
    await this.recovery.stop();
    await this.queue.idle();
    await this.coordination.close();
    await Promise.all([this.settled.close(), this.changes.close()]);
    if (!this.queue.hasFailed) await noteClosed(this.level);
    await this.level.close();
    this.options.onClose?.();
  }
}
