/**
 * Lifecycle of the in-memory index: a separate thread builds it at the first query, the query threads receive it with the graphs
 * that have changed since, and it is rebuilt after many changes.
 */
import type { Log } from '../../log.js';
import type { Store } from '../../storage/transactions/store.js';
import { Thread } from '../../threads/thread.js';
import { memoryOfProcess, threadLimits } from '../../threads/thread-limits.js';
import { processBudget } from './index-budget.js';
import { bytesOf } from './index-data.js';
import { LayeredGraphs } from './layered-graphs.js';
import type { BuilderFunctions, BuiltIndex } from './memory-index-builder.js';
import type { GraphChanges, MemoryAsked, MemoryBase, QueryThread } from './memory-layers.js';

export interface MemoryIndexOptions {
  /** Directory of the LevelDB. */
  readonly folder: string;
  readonly store: Pick<Store, 'onStage' | 'onCommit' | 'onDrop' | 'kept' | 'grow' | 'growsAt' | 'changes'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** Maximum number of quads of a storage with an index; 0 disables indexes. */
  readonly maxQuads: number;
  /** Minimum number of quads of an index that is saved to a file. */
  readonly keptFrom?: number;
  /** Number of changed graphs that never lead to a rebuild: queries read them one by one. */
  readonly fewGraphs?: number;
  /** Minimum time between two builds. */
  readonly pauseMs?: number;
  /** Minimum time between two builds as a multiple of the last build's duration. */
  readonly pauseTimes?: number;
  /** Time until the next build after one that failed or found too many quads. */
  readonly retryMs?: number;
  /** Time without a query after which the index is dropped. */
  readonly idleMs?: number;
}

/** Memory that a server needs for everything else, and bytes per quad for an index and for the one that replaces it. */
const [besides, bytesOfQuad] = [448 << 20, 512];
/** Default maximum number of quads of an index. */
export const mostQuads = 1_000_000;

/** Returns the maximum number of quads of an index in the memory of this process. */
export const quadsInMemory = (): number =>
  Math.min(mostQuads, Math.max(0, Math.floor((memoryOfProcess() - besides) / bytesOfQuad)));

/** Approximate number of quads of a resource. */
const quadsOfGraph = 20;
/** With this multiple of the changes that lead to a rebuild, the old index is dropped before the new one is complete. */
const tooMany = 4;
/** With this share of `maxQuads`, the build of all indexes on disk starts, so that they exist before the in-memory index is dropped. */
const worthGrowing = 0.8;

export class MemoryIndex {
  private readonly changed = new LayeredGraphs();
  /** Query threads, with the number of the last change that each received. */
  private readonly threads = new Map<QueryThread, number>();
  private base: MemoryBase | undefined;
  private quads = 0;
  private builder: Thread<BuilderFunctions> | undefined;
  private isBuilding = false;
  private built: Promise<void> | undefined;
  private saver: Thread<BuilderFunctions> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;
  private isPaused = false;
  private version = 0;
  /** Earliest time of the next build, as a timestamp. */
  private nextAt = 0;
  /** The last build did not produce an index. */
  private hasFailed = false;
  private isTold = false;
  /** True if a query has arrived since the last build began. */
  private isUsed = false;
  private idle: NodeJS.Timeout | undefined;

  constructor(private readonly options: MemoryIndexOptions) {
    options.store.growsAt = options.maxQuads * worthGrowing;
    processBudget.allow(options.maxQuads);
    options.store.onStage((transaction) => {
      if (transaction.graphs.size > 0) this.changed.stage(transaction);
    });
    options.store.onDrop((transaction) => this.changed.settle(transaction));
    options.store.onCommit((transaction) => {
      if (transaction.graphs.size === 0) return;
      this.changed.settle(transaction);
      this.review();
    });
  }

  /**
   * Called for a query that requires the index, because the quads have one index on disk only. Waits for the in-memory index, or
   * for all indexes on disk. Returns `undefined` if there is no in-memory index.
   */
  async ready(): Promise<MemoryAsked | undefined> {
    const { store } = this.options;
    this.use();
    if (!this.base && !store.kept.orders.isComplete && !this.isClosed) {
      if (this.hasFailed || !this.hasRoom) await store.grow();
      else {
        this.start();
        await this.built;
      }
    }
    return this.asked;
  }

  /** Called for each query. The first one starts a build, so a server without queries has no index. */
  use(): void {
    const { idleMs = 3_600_000 } = this.options;
    if (this.isClosed) return;
    this.isUsed = true;
    this.idle ??= setTimeout(() => this.leave(), idleMs).unref();
    this.idle.refresh();
    if (this.base) processBudget.use(this, bytesOf(this.base.data));
    if (this.base) this.review();
    else if (!this.hasRoom) this.tellOfNone();
    else if (!this.isBuilding) this.later(this.nextAt - Date.now());
  }

  /** Builds the index in the background. */
  start(): void {
    if (this.isClosed || this.isPaused || this.isBuilding) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.isUsed = false;
    const sequence = this.changed.begin();
    this.isBuilding = true;
    this.built = this.build(sequence);
  }

  private async build(sequence: number): Promise<void> {
    const { folder, maxQuads, store, keptFrom = 50_000, pauseMs = 10_000, pauseTimes = 10 } = this.options;
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
      built = await builder.call('build', { folder, maxQuads, keptFrom, storage: store.changes.storage });
    } catch (error) {
      failure = error;
    }
    // Errors of writing the file are ignored: without it, the next start is only slower.
    this.saver = builder;
    const saved = built && !this.isClosed ? builder.call('save', undefined).catch(() => {}) : Promise.resolve();
    const ended = saved.then(() => builder.end()).finally(endTurn);
    if (!built) await ended;
    this.builder = undefined;
    this.isBuilding = false;
    if (this.isClosed) return;
    if (this.isPaused) return this.drop();
    const ms = Math.round(performance.now() - began);
    this.nextAt = Date.now() + Math.max(pauseMs, pauseTimes * ms);
    if (built) this.adopt({ version: ++this.version, sequence, data: built.data }, built.changed ?? [], ms);
    else this.giveUp(failure);
  }

  /** True if a build is running or planned. */
  get isAtWork(): boolean {
    return this.isBuilding || this.timer !== undefined;
  }

  /** Sends a new thread the index, now and after each change. */
  serve(thread: QueryThread): void {
    this.threads.set(thread, 0);
    void thread.exited.then(() => this.threads.delete(thread));
    if (this.base) tell(thread, this.base);
  }

  /** Records that a thread now serves another storage. */
  forget(thread: QueryThread): void {
    this.threads.delete(thread);
  }

  /** Number of quads of graphs that changed since the index was built, before or after their change. */
  get changedQuads(): number {
    return this.changed.quads;
  }

  /** Index information for a query before its snapshot is taken. */
  get asked(): MemoryAsked | undefined {
    return this.base && { version: this.base.version, sequence: this.changed.sequence };
  }

  /** Index information for a query after its snapshot is taken, or `undefined` if it cannot use the index. */
  changes(thread: QueryThread, { version }: MemoryAsked): GraphChanges | undefined {
    if (this.base?.version !== version || (this.isOver(tooMany) && this.isDispensable)) return undefined;
    const changes = this.changed.since(Math.max(this.threads.get(thread) ?? 0, this.base.sequence));
    this.threads.set(thread, this.changed.sequence);
    return changes;
  }

  /** Ends a running build and blocks new ones until the returned function is called. The next query then starts a build. */
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
    await this.saver?.end();
  }

  private adopt(base: MemoryBase, changed: readonly string[], ms: number): void {
    this.quads = base.data.quads.count;
    this.changed.forget(base.sequence);
    this.changed.add(changed, quadsOfGraph);
    this.give(base);
    [this.hasFailed, this.isTold] = [false, false];
    const facts = { quads: this.quads, bytes: bytesOf(base.data), changed: changed.length, ms };
    this.options.log.info(facts, 'The in-memory index is ready.');
    this.review();
  }

  private give(base: MemoryBase | undefined): void {
    this.base = base;
    for (const thread of this.threads.keys()) tell(thread, base);
    if (base) processBudget.use(this, bytesOf(base.data));
    else processBudget.free(this);
  }

  private giveUp(failure: unknown): void {
    const { log, store, retryMs = 300_000 } = this.options;
    if (failure) log.warn({ err: failure }, 'The in-memory index could not be built.');
    else this.tellOfNone();
    this.hasFailed = true;
    if (!this.isDispensable) void store.grow();
    this.nextAt = Date.now() + retryMs;
    this.drop();
  }

  /** Queries that cannot use the index read from disk. */
  private get isDispensable(): boolean {
    return this.options.store.kept.orders.isComplete;
  }

  /** Logs once why queries do not use an index. */
  private tellOfNone(): void {
    const { log, maxQuads } = this.options;
    if (!this.isTold && maxQuads > 0)
      log.info(
        `There is no in-memory index: the storage has more than ${maxQuads} quads, or their texts are too long.`,
      );
    this.isTold = true;
  }

  /** True if an index of the storage's size is allowed. */
  private get hasRoom(): boolean {
    const { store, maxQuads } = this.options;
    return maxQuads > 0 && store.kept.quads <= maxQuads;
  }

  /** Drops the index after `idleMs` without a query, or if other storages were queried more recently and need the memory. */
  leave(): void {
    // A running build needs the changed graphs, which `drop` would forget.
    if (this.isBuilding) return void this.idle?.refresh();
    this.isUsed = false;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.drop();
  }

  private drop(): void {
    this.give(undefined);
    this.changed.end();
  }

  /** Plans a rebuild after many changes. */
  private review(): void {
    if (!this.base || this.isBuilding || !this.isOver(1)) return;
    // Queries that have waited for an index can use it, whatever is written meanwhile.
    if (this.isOver(tooMany) && (this.isDispensable || Date.now() >= this.nextAt)) this.drop();
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

const tell = (thread: QueryThread, base: MemoryBase | undefined): void => {
  // The call fails only if the thread ends, which then needs no index.
  thread.call('use', base).catch(() => {});
};
