/**
 * The commit queue: one transaction runs at a time, on the state that all earlier ones leave, also those whose batch is
 * still being written. Whatever has run while one batch was on its way to the disk goes into the next (group commit);
 * each keeps its own verdict, and none is acknowledged before its batch is synced. It must not know what is cached.
 */

import { breathe, fillBatch } from './batch-filling.js';
import { commitInDoubt, storageFull } from './blobs.js';
import { type BatchWriter, type Level, writeBatch } from './durable-level.js';
import { quotaExceeded } from './quota.js';
import { metaKey, parentOf, type ResourceRecord } from './records.js';
import { Transaction, type TransactionBase } from './transaction.js';

/** The committed state below the transactions under way. */
export interface CommittedState {
  record(iri: string): ResourceRecord | undefined;
  graph(record: ResourceRecord): Promise<readonly string[]>;
  entry(key: string): string | undefined;
  derived<T extends object>(key: string, parse: (value: string) => T): T | undefined;
  members(container: string): AsyncIterable<readonly ResourceRecord[]>;
}

export interface CommitQueueOptions {
  readonly level: Level;
  readonly committed: CommittedState;
  /** Bytes that count against the quota, as the last batch left them. */
  readonly bytes: number;
  /** The most that these may be; 0: any number. */
  readonly quotaBytes: number;
  /** Called in every transaction that changed something, after its work: what they stage is part of it. */
  readonly listeners: readonly TransactionListener[];
  /** Called when a transaction is going to be written, before anybody can read of it. */
  readonly onStage: (transaction: Transaction) => void;
  /** Called when a transaction is on the disk, before it is acknowledged. */
  readonly onCommit: (transaction: Transaction) => void;
  readonly onFailure: (error: unknown) => void;
}

export type TransactionListener = (transaction: Transaction) => void | Promise<void>;

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

export class CommitQueue implements TransactionBase {
  readonly isTransaction = true;
  private readonly records = new Map<string, Overlaid<ResourceRecord | null>>();
  private readonly graphs = new Map<string, Overlaid<readonly string[] | undefined>>();
  private readonly entries = new Map<string, Overlaid<string | null>>();
  private pending: PendingCommit[] = [];
  private writer: Promise<unknown> = Promise.resolve();
  private flushing: Promise<void> | undefined;
  private lastCommit: Promise<void> = Promise.resolve();
  private sequence = 0;
  private failure: unknown;
  /** Those of commits under way included. */
  bytes: number;

  constructor(private readonly options: CommitQueueOptions) {
    this.bytes = options.bytes;
  }

  record(iri: string): ResourceRecord | undefined {
    const overlaid = this.records.get(iri);
    return overlaid ? (overlaid.value ?? undefined) : this.options.committed.record(iri);
  }

  async graph(record: ResourceRecord): Promise<readonly string[]> {
    const overlaid = this.graphs.get(record.iri);
    return overlaid ? (overlaid.value ?? []) : this.options.committed.graph(record);
  }

  entry(key: string): string | undefined {
    const overlaid = this.entries.get(key);
    return overlaid ? (overlaid.value ?? undefined) : this.options.committed.entry(key);
  }

  derived<T extends object>(key: string, parse: (value: string) => T): T | undefined {
    const overlaid = this.entries.get(key);
    if (!overlaid) return this.options.committed.derived(key, parse);
    return overlaid.value === null ? undefined : parse(overlaid.value);
  }

  async members(container: string): Promise<ResourceRecord[]> {
    // Taken before the scan: a commit that ends during it takes its changes out of the overlay.
    const overlaid = [...this.records].filter(([iri]) => parentOf(iri) === container && iri !== container);
    const members = new Map<string, ResourceRecord>();
    for await (const records of this.options.committed.members(container))
      for (const record of records) members.set(record.iri, record);
    for (const [iri, { value }] of overlaid)
      if (value) members.set(iri, value);
      else members.delete(iri);
    return [...members.values()];
  }

  /**
   * Runs `work` alone, then commits what it staged, and returns its result when that is on the disk.
   * @param frees the work only deletes, which the quota never refuses
   * @throws what `work` throws, and then nothing is written; LwsError `quota-exceeded`, `storage-full` when the disk refuses
   *   the batch
   */
  async transact<T>(work: (transaction: Transaction) => Promise<T> | T, frees = false): Promise<T> {
    const { result, committed } = await this.alone(async () => {
      if (this.failure !== undefined) throw this.refusal();
      const transaction = new Transaction(this);
      const result = await work(transaction);
      if (!frees) this.assertQuota(transaction);
      if (transaction.changes.length > 0 || transaction.announcements.length > 0)
        for (const listener of this.options.listeners) await listener(transaction);
      // The batch before it may have failed meanwhile, and with it the state that this one saw.
      if (this.failure !== undefined) throw this.refusal();
      return { result, committed: this.stage(transaction) };
    });
    await committed;
    return result;
  }

  private assertQuota({ bytes }: Transaction): void {
    const { quotaBytes } = this.options;
    if (quotaBytes > 0 && bytes > quotaBytes && bytes > this.bytes) throw quotaExceeded();
  }

  private alone<T>(work: () => Promise<T>): Promise<T> {
    const run = this.writer.then(work);
    this.writer = run.catch(() => {});
    return run;
  }

  /** Lays a finished transaction over the state and queues it. Returns when it is durable. */
  private stage(transaction: Transaction): Promise<void> {
    // What it saw may not be durable yet, and its answer tells of it.
    if (transaction.isEmpty) return this.lastCommit;
    this.options.onStage(transaction);
    const sequence = ++this.sequence;
    for (const [iri, value] of transaction.records) this.records.set(iri, { value, sequence });
    for (const [iri, { keys }] of transaction.graphs) this.graphs.set(iri, { value: keys, sequence });
    for (const [key, value] of transaction.entries) this.entries.set(key, { value, sequence });
    this.bytes = transaction.bytes;
    const committed = new Promise<void>((resolve, reject) => {
      this.pending.push({ transaction, sequence, resolve, reject });
    });
    this.lastCommit = committed;
    // Whoever waits for it hears of a failure; when nobody does, it is no unhandled one.
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
      const bytes = String(this.bytes);
      const fill = async (batch: BatchWriter): Promise<void> => {
        for (const { transaction } of group) await fillBatch(batch, transaction);
      };
      try {
        await writeBatch(this.options.level, fill, () => [metaKey('bytes'), bytes]);
      } catch (error) {
        this.fail(error, group);
        return;
      }
      for (const commit of group) this.settle(commit);
    }
  }

  /** The batch is on the disk: its changes leave the overlay, because readers see them now. */
  private settle({ transaction, sequence, resolve }: PendingCommit): void {
    this.options.onCommit(transaction);
    for (const iri of transaction.records.keys())
      if (this.records.get(iri)?.sequence === sequence) this.records.delete(iri);
    for (const iri of transaction.graphs.keys())
      if (this.graphs.get(iri)?.sequence === sequence) this.graphs.delete(iri);
    for (const key of transaction.entries.keys())
      if (this.entries.get(key)?.sequence === sequence) this.entries.delete(key);
    resolve();
  }

  /**
   * A batch could not be written. LevelDB's log may end in half a record, behind which nothing must be written: the
   * store takes no further write until it is opened again. Everything acknowledged is on the disk, and readable.
   */
  private fail(error: unknown, group: readonly PendingCommit[]): void {
    this.failure = error;
    this.options.onFailure(error);
    const lost = [...group, ...this.pending];
    this.pending = [];
    this.records.clear();
    this.graphs.clear();
    this.entries.clear();
    for (const { reject } of lost) reject(commitInDoubt(error));
  }

  private refusal(): Error {
    return storageFull('a batch could not be written; the store is read-only until a restart', this.failure);
  }

  /** Whether a batch failed, after which nothing more must be written. */
  get failed(): boolean {
    return this.failure !== undefined;
  }

  /** Waits for the transactions and batches under way. */
  async idle(): Promise<void> {
    await this.writer;
    await this.flushing;
  }
}
