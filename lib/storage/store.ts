/**
 * The store: one LevelDB with the graphs and the records, and the blob directory beside it. `transact` is the only way
 * to write; readers see committed states alone. It must not know HTTP, authorization or syntaxes.
 *
 * One transaction runs at a time, on the state that all earlier ones leave, also those whose batch is still being
 * written. Whatever has run while one batch was on its way to the disk goes into the next (group commit); each keeps
 * its own verdict, and none is acknowledged before its batch is synced.
 */
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { LwsError } from '../errors.js';
import { Blobs, storageFull } from './blobs.js';
import { type BatchWriter, entryBlocks, keyBlocks, type Level, type LevelSnapshot, writeBatch } from './durable-level.js';
import { graphPrefix, otherKeys } from './quad-keys.js';
import {
  allGarbage,
  blobKey,
  garbageKey,
  iriOfRecordKey,
  memberRange,
  metaKey,
  parentOf,
  rangeOf,
  readRecord,
  recordKey,
  type ResourceRecord,
  writeRecord,
} from './records.js';
import { Transaction, type TransactionBase } from './transaction.js';

export interface StoreOptions {
  /** Told of a failure that no request can be answered with: a blob that could not be removed, a failed batch. */
  readonly onTrouble?: (message: string, error: unknown) => void;
}

interface PendingCommit {
  readonly transaction: Transaction;
  readonly sequence: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface Overlaid<T> {
  readonly value: T;
  readonly sequence: number;
}

const storeVersion = '1';
const quadsAtATime = 1000;
const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class Store {
  private readonly recordCache = new LRUCache<string, ResourceRecord>({ max: 20_000 });
  /** Small graphs by resource, valid for one revision; its size is counted in keys. */
  private readonly graphCache = new LRUCache<string, { revision: string; keys: readonly string[] }>({
    maxSize: 40_000,
    maxEntrySize: 2_000,
    sizeCalculation: ({ keys }) => keys.length + 1,
  });
  private readonly records = new Map<string, Overlaid<ResourceRecord | null>>();
  private readonly graphs = new Map<string, Overlaid<readonly string[] | undefined>>();
  private pending: PendingCommit[] = [];
  private writer: Promise<unknown> = Promise.resolve();
  private flushing: Promise<void> | undefined;
  private lastCommit: Promise<void> = Promise.resolve();
  private sequence = 0;
  private stagedBytes = 0;
  private failure: unknown;

  private constructor(
    readonly level: Level,
    readonly blobs: Blobs,
    private readonly options: StoreOptions,
  ) {}

  /**
   * Opens a store on an open LevelDB and sweeps what a crash may have left of uploads.
   * @param storage the storage's root IRI; a store belongs to one
   * @throws Error when the store was made for another storage IRI or by a later version
   */
  static async open(level: Level, folder: string, storage: string, options: StoreOptions = {}): Promise<Store> {
    const blobs = new Blobs(join(folder, 'blobs'));
    await blobs.open();
    const store = new Store(level, blobs, options);
    await store.adopt(storage);
    store.stagedBytes = Number((await level.get(metaKey('bytes'))) ?? 0);
    await store.sweep();
    return store;
  }

  private async adopt(storage: string): Promise<void> {
    const version = await this.level.get(metaKey('version'));
    if (version === undefined) {
      const entries = [metaKey('version'), metaKey('storage')] as const;
      await writeBatch(
        this.level,
        (batch) => batch.put(entries[0], storeVersion),
        () => [entries[1], storage],
      );
      return;
    }
    if (version !== storeVersion)
      throw new Error(`The storage was written by a later version (format ${version}); this one reads ${storeVersion}.`);
    const owner = await this.level.get(metaKey('storage'));
    if (owner !== storage)
      throw new Error(
        `The storage was made for ${owner}, and lws.base-uri says ${storage}. The IRIs of all resources begin with it, ` +
          'so it cannot change: set lws.base-uri back, or choose another lws.data-dir.',
      );
  }

  /** Removes files of uploads that never committed, and of blobs that nothing refers to any more. */
  private async sweep(): Promise<void> {
    for (const blob of await this.blobs.inDoubt()) {
      if ((await this.level.get(blobKey(blob))) === undefined) await this.blobs.remove(blob);
      else await this.blobs.confirm(blob);
    }
    for await (const keys of keyBlocks(this.level, allGarbage()))
      for (const key of keys) {
        await this.blobs.remove(key.slice(garbageKey('').length));
        await this.level.del(key);
      }
  }

  /** Bytes that count against the quota, those of commits under way included. */
  get bytes(): number {
    return this.stagedBytes;
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

  /** An RDF resource and the GSPO keys of its graph, of one committed state. */
  async graph(iri: string): Promise<{ record: ResourceRecord; keys: readonly string[] } | undefined> {
    const known = this.record(iri);
    const cached = this.graphCache.get(iri);
    if (known && cached?.revision === known.revision) return { record: known, keys: cached.keys };
    const snapshot = this.level.snapshot();
    try {
      const value = this.level.getSync(recordKey(iri), { snapshot });
      if (value === undefined) return undefined;
      const record = readRecord(iri, value);
      const keys = await this.readGraph(iri, snapshot);
      this.graphCache.set(iri, { revision: record.revision, keys });
      return { record, keys };
    } finally {
      await snapshot.close();
    }
  }

  private async readGraph(iri: string, snapshot?: LevelSnapshot): Promise<string[]> {
    const found: string[] = [];
    for await (const keys of keyBlocks(this.level, rangeOf(graphPrefix(iri)), snapshot ? { snapshot } : {}))
      for (const key of keys) found.push(key);
    return found;
  }

  /**
   * A container and its members in the order of their IRIs, of one committed state.
   * @param after yield only members whose name comes after this one
   */
  async *members(container: string): AsyncGenerator<ResourceRecord[]> {
    for await (const entries of entryBlocks(this.level, memberRange(container)))
      yield entries.map(([key, value]) => readRecord(iriOfRecordKey(key), value));
  }

  /**
   * Runs `work` alone, then commits what it staged, and returns its result when that is on the disk. When `work` throws,
   * nothing is written. Preconditions, authorization and quota belong inside.
   * @throws what `work` throws; LwsError `storage-full` when the disk does not take the batch
   */
  async transact<T>(work: (transaction: Transaction) => Promise<T> | T): Promise<T> {
    await this.blobs.assertSpace();
    const { result, committed } = await this.alone(async () => {
      if (this.failure !== undefined) throw this.refusal();
      const transaction = new Transaction(this.staged);
      const result = await work(transaction);
      return { result, committed: this.stage(transaction) };
    });
    await committed;
    return result;
  }

  private alone<T>(work: () => Promise<T>): Promise<T> {
    const run = this.writer.then(work);
    this.writer = run.catch(() => {});
    return run;
  }

  /** The state that the next transaction starts from. */
  private readonly staged: TransactionBase = ((store: Store): TransactionBase => ({
    record: (iri) => {
      const overlaid = store.records.get(iri);
      return overlaid ? (overlaid.value ?? undefined) : store.record(iri);
    },
    graph: async (record) => {
      const overlaid = store.graphs.get(record.iri);
      if (overlaid) return overlaid.value ?? [];
      const cached = store.graphCache.get(record.iri);
      return cached?.revision === record.revision ? cached.keys : store.readGraph(record.iri);
    },
    members: async (container) => {
      // Taken before the scan: a commit that ends during it takes its changes out of the overlay.
      const overlaid = [...store.records].filter(([iri]) => parentOf(iri) === container && iri !== container);
      const members = new Map<string, ResourceRecord>();
      for await (const records of store.members(container)) for (const record of records) members.set(record.iri, record);
      for (const [iri, { value }] of overlaid)
        if (value) members.set(iri, value);
        else members.delete(iri);
      return [...members.values()];
    },
    get bytes() {
      return store.stagedBytes;
    },
  }))(this);

  /** Lays a finished transaction over the state and queues it. Returns when it is durable. */
  private stage(transaction: Transaction): Promise<void> {
    // What it saw may not be durable yet, and its answer tells of it.
    if (transaction.isEmpty) return this.lastCommit;
    const sequence = ++this.sequence;
    for (const [iri, value] of transaction.records) this.records.set(iri, { value, sequence });
    for (const [iri, { keys }] of transaction.graphs) this.graphs.set(iri, { value: keys, sequence });
    this.stagedBytes = transaction.bytes;
    const committed = new Promise<void>((resolve, reject) => {
      this.pending.push({ transaction, sequence, resolve, reject });
    });
    this.lastCommit = committed;
    committed.catch(() => {});
    this.flushing ??= this.flush().finally(() => {
      this.flushing = undefined;
    });
    return committed;
  }

  private async flush(): Promise<void> {
    // The transactions that are waiting for the writer right now join the first batch.
    await breathe();
    while (this.pending.length > 0) {
      const group = this.pending;
      this.pending = [];
      const bytes = String(this.stagedBytes);
      try {
        await writeBatch(
          this.level,
          async (batch) => {
            for (const { transaction } of group) await fillBatch(batch, transaction);
          },
          () => [metaKey('bytes'), bytes],
        );
      } catch (error) {
        this.fail(error, group);
        return;
      }
      for (const commit of group) this.apply(commit);
    }
  }

  /** The batch is on the disk: readers may see it. */
  private apply({ transaction, sequence, resolve }: PendingCommit): void {
    for (const [iri, record] of transaction.records) {
      if (record) this.recordCache.set(iri, record);
      else this.recordCache.delete(iri);
      if (this.records.get(iri)?.sequence === sequence) this.records.delete(iri);
    }
    for (const [iri, { keys }] of transaction.graphs) {
      const record = transaction.records.get(iri);
      if (record && keys) this.graphCache.set(iri, { revision: record.revision, keys });
      else this.graphCache.delete(iri);
      if (this.graphs.get(iri)?.sequence === sequence) this.graphs.delete(iri);
    }
    resolve();
    for (const listener of this.commitListeners) listener(transaction);
    if (transaction.addedBlobs.size > 0 || transaction.removedBlobs.size > 0) void this.settleBlobs(transaction);
  }

  private readonly commitListeners: ((transaction: Transaction) => void)[] = [];

  /** Calls back after every commit, before any later request is served; for caches. */
  onCommit(listener: (transaction: Transaction) => void): void {
    this.commitListeners.push(listener);
  }

  private async settleBlobs({ addedBlobs, removedBlobs }: Transaction): Promise<void> {
    try {
      for (const blob of addedBlobs.keys()) await this.blobs.confirm(blob);
      for (const blob of removedBlobs) {
        await this.blobs.remove(blob);
        await this.level.del(garbageKey(blob));
      }
    } catch (error) {
      this.options.onTrouble?.('A blob could not be settled; the next start will.', error);
    }
  }

  /**
   * A batch could not be written. LevelDB's log may end in half a record, behind which nothing must be written: the
   * store takes no further write until it is opened again. Everything acknowledged is on the disk, and readable.
   */
  private fail(error: unknown, group: readonly PendingCommit[]): void {
    this.failure = error;
    this.options.onTrouble?.('The disk did not take a write; the storage is read-only until the server restarts.', error);
    const lost = [...group, ...this.pending];
    this.pending = [];
    this.records.clear();
    this.graphs.clear();
    for (const { reject } of lost) reject(this.refusal());
  }

  private refusal(): LwsError {
    return storageFull('a batch could not be written; the store is read-only until a restart', this.failure);
  }

  /** Waits for the commits under way and closes. */
  async close(): Promise<void> {
    await this.writer;
    await this.flushing;
    await this.level.close();
  }
}

/** Writes a transaction's changes into a batch, in slices that leave the event loop to others. */
async function fillBatch(batch: BatchWriter, transaction: Transaction): Promise<void> {
  for (const [iri, record] of transaction.records) {
    if (record) batch.put(recordKey(iri), writeRecord(record));
    else batch.del(recordKey(iri));
  }
  for (const [blob, iri] of transaction.addedBlobs) batch.put(blobKey(blob), iri);
  for (const blob of transaction.removedBlobs) {
    batch.del(blobKey(blob));
    batch.put(garbageKey(blob), '');
  }
  let quads = 0;
  for (const { added, removed } of transaction.graphs.values()) {
    for (const [keys, write] of [
      [removed, (key: string) => batch.del(key)],
      [added, (key: string) => batch.put(key, '')],
    ] as const)
      for (const key of keys) {
        write(key);
        for (const other of otherKeys(key)) write(other);
        if (++quads % quadsAtATime === 0) await breathe();
      }
  }
}
