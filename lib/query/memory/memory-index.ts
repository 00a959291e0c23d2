/**
 * Lifecycle of the query index. A separate thread builds the index at the first query. Query threads receive the index, and for
 * each query the graphs changed since. After many changes, the index is built again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '../../storage/transactions/store.js';
import { tooBusy } from '../../tools/errors.js';
import type { Log } from '../../tools/log.js';
import { Thread } from '../../tools/threads/thread.js';
import { memoryOfProcess, threadLimits } from '../../tools/threads/thread-limits.js';
import { processBudget } from './index-budget.js';
import { bytesOf, filesOf, indexedQuads, isInMemory } from './index-data.js';
import { indexFolder } from './index-folder.js';
import { LayeredGraphs } from './layered-graphs.js';
import type { BuilderFunctions, BuiltIndex } from './memory-index-builder.js';
import type { GraphChanges, MemoryAsked, MemoryBase, QueryThread } from './memory-layers.js';

export interface MemoryIndexOptions {
  /** Directory of the LevelDB. */
  readonly folder: string;
  readonly store: Pick<Store, 'onStage' | 'onCommit' | 'onDrop' | 'changes' | 'returned'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** Maximum memory for the pages of the index, in bytes. Other pages are read from the index files. */
  readonly memory: number;
  /** Minimum count of quads of an index in files. */
  readonly filesFrom?: number;
  /** Maximum count of changed graphs that never leads to a rebuild. Queries read changed graphs separately. */
  readonly fewGraphs?: number;
  /** Minimum time between two builds, in milliseconds. */
  readonly pauseMs?: number;
  /** Minimum time between two builds as a multiple of the last build's duration. */
  readonly pauseTimes?: number;
  /** Time from a failed build to the next one, in milliseconds. */
  readonly retryMs?: number;
  /** Time without a query after which the index is dropped, in milliseconds. */
  readonly idleMs?: number;
  /** Count of changed graphs after which the files are renewed even without a query. */
  readonly renewFrom?: number;
}

/** Memory reserved for the rest of a server, share of the remaining memory for indexes, and maximum for indexes, in bytes. */
const [besides, share, mostMemory] = [448 << 20, 0.25, 512 << 20];

/** Returns the maximum memory of indexes in this process, in bytes. */
export const memoryForIndexes = (): number =>
  Math.min(mostMemory, Math.max(16 << 20, Math.floor((memoryOfProcess() - besides) * share)));

export interface IndexState {
  /** Count of quads when the index was built. 0 without an index. */
  readonly quads: number;
  /** Memory of the index, in bytes. */
  readonly bytes: number;
  /** Count of graphs that have changed since the index was built. Queries read changed graphs separately. */
  readonly changedGraphs: number;
  readonly isBuilding: boolean;
  /** Seconds since the start of the running build. 0 if no build is running. */
  readonly buildSeconds: number;
}

/** Assumed average count of quads per graph. */
const quadsOfGraph = 20;
/** Factor above the threshold of a rebuild from which the old index is dropped before the new index is complete. */
const tooMany = 4;
/** Value of `Retry-After`, in seconds. */
const retryAfter = 10;

export class MemoryIndex {
  private readonly changed = new LayeredGraphs();
  /** Query threads, each with the sequence number of the last change that it received. */
  private readonly threads = new Map<QueryThread, number>();
  private base: MemoryBase | undefined;
  /** Memory of the base, in bytes. Cached, since summing 30 buffers for each query would take 2 % of the time of a lookup. */
  private bytes = 0;
  private quads = 0;
  private builder: Thread<BuilderFunctions> | undefined;
  private isBuilding = false;
  private built: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;
  private isPaused = false;
  private version = 0;
  /** Earliest time of the next build, as a timestamp. */
  private nextAt = 0;
  /** Count of changes of graphs since the last build began. */
  private unread = 0;
  /** True while the files are renewed although no query needs the index. */
  private isUnasked = false;
  /** True if the last build has failed. */
  private hasFailed = false;
  /** Start of the last build, as a timestamp. */
  private startedAt = 0;
  /** True if a query has arrived since the last build began. */
  private isUsed = false;
  private idle: NodeJS.Timeout | undefined;

  constructor(private readonly options: MemoryIndexOptions) {
    processBudget.allow(options.memory);
    options.store.onStage((transaction) => {
      if (transaction.graphs.size > 0) this.changed.stage(transaction);
    });
    options.store.onDrop((transaction) => this.changed.drop(transaction));
    options.store.onCommit((transaction) => {
      if (transaction.graphs.size === 0) return;
      this.changed.settle(transaction);
      this.review();
      this.count(transaction.graphs.size);
    });
  }

  /**
   * Counts changes. After many changes, the files are renewed even without a query. Otherwise the change log would not reach
   * back to the files, and the first query after a restart would wait for a build from all quads.
   */
  private count(changed: number): void {
    this.unread += changed;
    if (this.unread < (this.options.renewFrom ?? 25_000) || this.isBuilding || this.isClosed) return;
    this.unread = 0;
    if (!indexFolder(this.options.folder).hasFiles) return;
    this.isUnasked = this.base === undefined;
    this.later(this.nextAt - Date.now());
  }

  /**
   * Waits for the index, for a query that reads many graphs. Returns `undefined` without an index.
   * @param waitMs maximum time to wait for a build
   * @throws LwsError `too-busy` if the build fails or takes longer
   */
  async ready(waitMs: number): Promise<MemoryAsked | undefined> {
    this.use();
    if (!this.base && !this.isClosed) {
      if (this.hasFailed && Date.now() < this.nextAt) throw unavailable();
      this.start();
      await this.wait(waitMs);
      if (this.hasFailed) throw unavailable();
    }
    return this.asked;
  }

  private async wait(waitMs: number): Promise<void> {
    const waited = new AbortController();
    const isBuilt = await Promise.race([
      Promise.resolve(this.built).then(() => true),
      sleep(waitMs, false, { signal: waited.signal, ref: false }).catch(() => true),
    ]);
    waited.abort();
    if (isBuilt) return;
    throw tooBusy(
      `The index for queries has been under construction for ${this.state.buildSeconds} seconds. Retry later, or name the graphs to read.`,
      retryAfter,
    );
  }

  /** Called for each query. The first query starts a build, so that a server without queries has no index. */
  use(): void {
    const { idleMs = 3_600_000 } = this.options;
    if (this.isClosed) return;
    this.isUsed = true;
    this.idle ??= setTimeout(() => this.leave(), idleMs).unref();
    this.idle.refresh();
    if (this.base) processBudget.use(this, this.bytes);
    if (this.base) this.review();
    else if (!this.isBuilding) this.later(this.nextAt - Date.now());
  }

  /** Builds the index in the background. */
  start(): void {
    if (this.isClosed || this.isPaused || this.isBuilding) return;
    this.unread = 0;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.isUsed = false;
    const sequence = this.changed.begin();
    this.isBuilding = true;
    this.startedAt = Date.now();
    this.built = this.build(sequence);
  }

  private async build(sequence: number): Promise<void> {
    const { folder, memory, store, filesFrom = 50_000, pauseMs = 10_000, pauseTimes = 10 } = this.options;
    const endTurn = await processBudget.turn();
    if (this.isClosed || this.isPaused) {
      endTurn();
      this.isBuilding = false;
      return this.drop();
    }
    const began = performance.now();
    const script = new URL('./memory-index-builder.js', import.meta.url);
    const builder = new Thread<BuilderFunctions>({ script, limits: threadLimits() });
    this.builder = builder;
    let built: BuiltIndex | undefined;
    let failure: unknown;
    try {
      built = await builder.call('build', {
        folder,
        memory,
        filesFrom,
        storage: store.changes.storage,
        isRenewal: this.base !== undefined,
        used: this.base ? filesOf(this.base.data) : [],
      });
      if (built?.differing?.length) {
        // The keys are removed without an entry in the change log. So the files are withdrawn: after a restart, they would
        // contain these keys.
        indexFolder(folder).withdraw();
        await store.returned.removeFrom(built.differing);
      }
    } catch (error) {
      [built, failure] = [undefined, error];
    }
    await builder.end().finally(endTurn);
    this.builder = undefined;
    this.isBuilding = false;
    if (this.isClosed) return;
    if (this.isPaused) return this.drop();
    const ms = Math.round(performance.now() - began);
    this.nextAt = Date.now() + Math.max(pauseMs, pauseTimes * ms);
    // Without a query, only the files are renewed. The index is not loaded, which leaves memory to other storages.
    const isUnasked = this.isUnasked && !this.isUsed;
    this.isUnasked = false;
    if (isUnasked) {
      if (failure) this.options.log.warn({ err: failure }, 'The files of the index could not be renewed.');
      else this.options.log.info({ ms }, 'The files of the index are renewed.');
      this.drop();
    } else if (built) this.adopt({ version: ++this.version, sequence, data: built.data }, built, ms);
    else this.giveUp(failure);
  }

  /** State of the index, shown to operators. */
  get state(): IndexState {
    return {
      quads: this.base ? this.quads : 0,
      bytes: this.bytes,
      changedGraphs: this.changed.size,
      isBuilding: this.isBuilding,
      buildSeconds: this.isBuilding ? Math.round((Date.now() - this.startedAt) / 1000) : 0,
    };
  }

  /** True if a build is running or planned. */
  get isAtWork(): boolean {
    return this.isBuilding || this.timer !== undefined;
  }

  /** Registers a query thread, which receives the current index and each later index. */
  serve(thread: QueryThread): void {
    this.threads.set(thread, 0);
    void thread.exited.then(() => this.threads.delete(thread));
    if (this.base) void tell(thread, this.base);
  }

  /** Unregisters a thread that now serves another storage. */
  forget(thread: QueryThread): void {
    this.threads.delete(thread);
  }

  /** Count of quads in graphs that have changed since the index was built. */
  get changedQuads(): number {
    return this.changed.quads;
  }

  /** Version of the index for a query, to be read before the snapshot of the query is taken. */
  get asked(): MemoryAsked | undefined {
    return this.base && { version: this.base.version, sequence: this.changed.sequence };
  }

  /** Returns the changes since the thread's last query, read after the snapshot. `undefined`: the index was replaced. */
  changes(thread: QueryThread, { version }: MemoryAsked): GraphChanges | undefined {
    if (this.base?.version !== version) return undefined;
    const changes = this.changed.since(Math.max(this.threads.get(thread) ?? 0, this.base.sequence));
    this.threads.set(thread, this.changed.sequence);
    return changes;
  }

  /** Drops the index and its files because a file is damaged. The next query starts a build. */
  discard(why: string): void {
    if (!this.base || this.isClosed) return;
    this.options.log.warn({ why }, 'The index is damaged and is built again.');
    indexFolder(this.options.folder).withdraw();
    if (!this.isBuilding) this.drop();
    this.nextAt = 0;
  }

  /** Ends a running build and prevents builds until the returned function is called. The next query then starts a build. */
  async pause(): Promise<() => void> {
    this.isPaused = true;
    await this.endBuild();
    this.nextAt = 0;
    return () => {
      this.isPaused = false;
    };
  }

  async close(): Promise<void> {
    this.isClosed = true;
    processBudget.free(this);
    clearTimeout(this.timer);
    clearTimeout(this.idle);
    await this.endBuild();
  }

  private async endBuild(): Promise<void> {
    await this.builder?.end();
    await this.built;
  }

  private adopt(base: MemoryBase, { changed = [], from }: BuiltIndex, ms: number): void {
    this.quads = indexedQuads(base.data);
    this.changed.forget(base.sequence);
    this.changed.add(changed, quadsOfGraph);
    this.give(base);
    this.hasFailed = false;
    const facts = { quads: this.quads, bytes: this.bytes, from, changed: changed.length, ms };
    this.options.log.info(facts, 'The index is ready.');
    this.review();
  }

  private give(base: MemoryBase | undefined): void {
    this.base = base;
    this.bytes = base ? bytesOf(base.data) : 0;
    const told = [...this.threads.keys()].map((thread) => tell(thread, base));
    if (base) processBudget.use(this, this.bytes);
    else processBudget.free(this);
    if (base) void Promise.all(told).then(() => this.clean());
  }

  /** Removes outdated files when the threads have opened the current files. */
  private async clean(): Promise<void> {
    if (!this.base || this.isBuilding || this.isClosed) return;
    const { folder, log } = this.options;
    const failed = (err: unknown): void => log.warn({ err }, 'Outdated files of the index could not be removed.');
    await indexFolder(folder).clean(filesOf(this.base.data)).catch(failed);
  }

  private giveUp(failure: unknown): void {
    const { log, retryMs = 300_000 } = this.options;
    if (failure) log.warn({ err: failure }, 'The index could not be built.');
    this.hasFailed = true;
    this.nextAt = Date.now() + retryMs;
    this.drop();
  }

  /** True if queries do not read files of the index. */
  get isInMemory(): boolean {
    return this.base !== undefined && isInMemory(this.base.data);
  }

  /** Drops the index after `idleMs` without a query, or if other storages were queried more recently and need the memory. */
  leave(): void {
    // A running build needs the records of changed graphs, which `drop` would delete.
    if (this.isBuilding) return void this.idle?.refresh();
    this.isUsed = false;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.drop();
  }

  private drop(): void {
    this.give(undefined);
    this.changed.stop();
  }

  /** Plans a rebuild after many changes. */
  private review(): void {
    if (!this.base || this.isBuilding || !this.isOver(1)) return;
    // The old index is kept until the next build may start, so that queries can use it.
    if (this.isOver(tooMany) && Date.now() >= this.nextAt) this.drop();
    if (this.isUsed) this.later(this.nextAt - Date.now());
  }

  private later(ms: number): void {
    this.timer ??= setTimeout(
      () => {
        this.timer = undefined;
        this.start();
      },
      Math.max(0, ms),
    ).unref();
  }

  private isOver(times: number): boolean {
    const { fewGraphs = 2000 } = this.options;
    const graphs = times * Math.max(fewGraphs, this.quads / quadsOfGraph / quadsOfGraph);
    return this.changed.size > graphs || this.changed.quads > graphs * quadsOfGraph;
  }
}

const unavailable = (): Error =>
  tooBusy('The index for queries could not be built. The log says why. Name the graphs to read, or retry later.', 300);

const tell = async (thread: QueryThread, base: MemoryBase | undefined): Promise<void> => {
  // The call fails if the thread ends or cannot open the files. A new thread then replaces it and tries again.
  await thread.call('use', base).catch(() => void thread.end());
};
