/** Rebuilds a maintained index while the server runs other transactions. */
import { setTimeout as sleep } from 'node:timers/promises';
import { hiddenRange, isDropped, stagedKey } from '../../../lib/storage/graphs/staged-keys.js';
import { partsOfEntry, type ResourceRecord } from '../../../lib/storage/keys/records.js';
import { recordBlocks } from '../../../lib/storage/level/all-records.js';
import { Again } from '../../../lib/storage/transactions/again.js';
import type { TransactionListener } from '../../../lib/storage/transactions/staging-ahead.js';
import type { Store } from '../../../lib/storage/transactions/store.js';
import type { Transaction } from '../../../lib/storage/transactions/transaction.js';
import { clear, type MaintainedIndex } from './maintained-index.js';

type Entry = readonly [key: string, value: string];

/** Index entries computed from one record: all of them, or a part. */
interface Part {
  readonly record: ResourceRecord;
  readonly entries: readonly Entry[];
  readonly isLast: boolean;
}

/** Maximum count of entries per transaction. Writes of clients wait while the transaction runs. */
const entriesAtATime = 1_000;
/** Poll interval while a graph is being written, in milliseconds. */
const lookMs = 100;

/**
 * Rebuild in two phases. `removing`: deletes the entries of an earlier build; transactions are not indexed. `filling`:
 * transactions are indexed, and the entries of all resources are added. Each resource is added only if it is unchanged since it
 * was read, so that no outdated entry is added.
 */
export class BackgroundRebuild {
  private phase: 'idle' | 'removing' | 'filling' | 'complete';
  private began = 0;
  private progress = 0;
  private parts: Part[] = [];
  private size = 0;
  /** Resources that are being read. Transactions that change these resources wait. */
  private readonly held = new Map<string, Promise<void>>();

  constructor(
    private readonly index: MaintainedIndex,
    private readonly store: Store,
  ) {
    this.phase = index.isComplete(store) ? 'complete' : 'idle';
  }

  get isComplete(): boolean {
    return this.phase === 'complete';
  }

  /** Estimated seconds until the index is complete, from 1 to 60. */
  get secondsLeft(): number {
    if (this.progress === 0) return 60;
    const seconds = ((performance.now() - this.began) * (1 - this.progress)) / this.progress / 1000;
    return Math.min(60, Math.max(1, Math.ceil(seconds)));
  }

  /** Returns the transaction listener that replaces the index's own listener. */
  listener(index: TransactionListener): TransactionListener {
    return (tx) => {
      if (this.phase === 'idle' || this.phase === 'removing') return undefined;
      for (const { before, after } of this.held.size > 0 ? tx.changes : []) {
        const held = this.held.get((after ?? before)!.iri);
        if (held) throw new Again(() => held);
      }
      return index(tx);
    };
  }

  /**
   * Rebuilds the index. If interrupted, the next call starts again.
   * @returns the count of indexed resources
   * @throws errors of the store, and the reason of the signal
   */
  async run(onProgress: (done: number, total: number) => void, signal: AbortSignal): Promise<number> {
    const { index, store } = this;
    const { stateKey, state, spaces, prepare } = index.definition;
    [this.phase, this.progress, this.parts, this.size] = ['removing', 0, [], 0];
    await prepare?.();
    await index.abandon(store);
    for (const space of spaces) await clear(store, space, signal);
    // When this transaction is on disk, so are all earlier transactions, which were not indexed.
    const begin = (tx: Transaction): void => {
      this.phase = 'filling';
      tx.deleteEntry(stateKey);
    };
    await store.transact(begin, { frees: true });
    const loading = await this.loading();
    this.began = performance.now();
    const total = Math.max(1, store.commits.counts.resources);
    let done = 0;
    for await (const records of recordBlocks(store))
      for (const { iri } of records) {
        signal.throwIfAborted();
        await this.add(iri);
        done++;
        this.progress = Math.min(1, done / total);
        if (done % 200 === 0) onProgress(done, Math.max(done + 1, total));
      }
    await this.flush();
    for (const [iri, name] of loading) {
      while (store.entry(stagedKey(iri)) === name) await sleep(lookMs, undefined, { signal });
      await this.addHeld(iri);
    }
    onProgress(done, done);
    await store.transact((tx) => tx.putEntry(stateKey, state));
    this.phase = 'complete';
    return done;
  }

  /** Returns the graphs that are being written: their first slices were not indexed. */
  private async loading(): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    for await (const entries of this.store.entries(hiddenRange))
      for (const [key, name] of entries) if (!isDropped(name)) found.set(partsOfEntry(key)[1]!, name);
    return found;
  }

  /** Adds the entries of a resource. Few entries are written together with the entries of the next resources. */
  private async add(iri: string): Promise<void> {
    const record = this.store.record(iri);
    if (!record) return;
    try {
      await this.read(record);
    } catch (error) {
      // If the resource was replaced meanwhile, its old content may be deleted, so that reading fails. Read again.
      if (isSame(this.store.record(iri), record)) throw error;
      this.parts = this.parts.filter((part) => part.record !== record);
      await this.addHeld(iri);
    }
  }

  private async read(record: ResourceRecord): Promise<void> {
    let entries: Entry[] = [];
    for await (const block of this.index.definition.entriesOf(this.store, record))
      for (const entry of block) {
        entries.push(entry);
        if (entries.length < entriesAtATime) continue;
        this.take({ record, entries, isLast: false });
        entries = [];
        await this.flush();
      }
    this.take({ record, entries, isLast: true });
    if (this.size >= entriesAtATime) await this.flush();
  }

  private take(part: Part): void {
    this.parts.push(part);
    this.size += part.entries.length;
  }

  /** Writes the collected entries. Resources that changed since they were read are read again. */
  private async flush(): Promise<void> {
    for (const iri of await this.write()) await this.addHeld(iri);
  }

  /** Writes the collected entries. @returns the resources that changed after they were read */
  private async write(): Promise<ReadonlySet<string>> {
    const { parts } = this;
    [this.parts, this.size] = [[], 0];
    if (parts.length === 0) return new Set();
    return this.store.transact((tx) => {
      const changed = new Set<string>();
      for (const { record, entries, isLast } of parts) {
        const { iri } = record;
        const now = tx.record(iri);
        if (!isSame(now, record)) {
          if (now) changed.add(iri);
          continue;
        }
        if (isLast) this.index.definition.replaced?.(tx, iri);
        for (const [key, value] of entries) tx.putEntry(key, value);
      }
      return changed;
    });
  }

  /** Adds the entries of a resource while transactions that change it wait. */
  private async addHeld(iri: string): Promise<void> {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.held.set(iri, held);
    let others: ReadonlySet<string> = new Set();
    try {
      // When this transaction is on disk, so are all earlier changes of the resource.
      await this.store.transact((tx) => tx.deleteEntry(this.index.definition.stateKey), { frees: true });
      const record = this.store.record(iri);
      if (!record) return;
      await this.read(record);
      others = await this.write();
    } finally {
      this.held.delete(iri);
      release();
    }
    for (const other of others) await this.addHeld(other);
  }
}

/** True if a resource still has the same graph, content and links. */
const isSame = (a: ResourceRecord | undefined, b: ResourceRecord): boolean =>
  a !== undefined && a.revision === b.revision && a.linked === b.linked;
