/**
 * The life of the index in memory: a thread of its own builds it at the first query, the threads that queries run in get it together with
 * the graphs that changed since, and it is built anew when many have changed.
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
  /** The folder of the LevelDB. */
  readonly folder: string;
  readonly store: Pick<Store, 'onStage' | 'onCommit' | 'onDrop' | 'kept' | 'grow' | 'growsAt' | 'changes'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** A storage with more quads has no index; 0: none has one. */
  readonly maxQuads: number;
  /** An index of so many quads is kept as a file, too. */
  readonly keptFrom?: number;
  /** Up to so many changed graphs never lead to a new build: queries read them one by one. */
  readonly fewGraphs?: number;
  /** The shortest time between two builds. */
  readonly pauseMs?: number;
  /** The time between two builds is at least so many times the duration of the last one. */
  readonly pauseTimes?: number;
  /** The time until the next build after one that failed or found too many quads. */
  readonly retryMs?: number;
  /** The index is dropped after so long without a query. */
  readonly idleMs?: number;
}

/** What a server needs besides, and bytes of memory for each quad of an index: of its own, and of one that is built in its place. */
const [besides, bytesOfQuad] = [448 << 20, 512];
/** No index has more quads, unless a setting says so. */
export const mostQuads = 1_000_000;

/** How many quads an index may have in the memory that this process has. */
export const quadsInMemory = (): number =>
  Math.min(mostQuads, Math.max(0, Math.floor((memoryOfProcess() - besides) / bytesOfQuad)));

/** About as many quads as a resource has. */
const quadsOfGraph = 20;
/** With so many times the changes that lead to a new build, the old index is dropped before the new one is there. */
const tooMany = 4;
/** With this share of `maxQuads`, quads get all orders on the disk, so that they are there before the index is not. */
const worthGrowing = 0.8;

export class MemoryIndex {
  private readonly changed = new LayeredGraphs();
  /** The threads that queries run in, each with the number of the last change that it was told of. */
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
  /** When the next build may begin, as a timestamp. */
  private nextAt = 0;
  /** The last build did not lead to an index. */
  private hasFailed = false;
  private isTold = false;
  /** A query has come since the last build began. */
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
   * What a query is told that cannot do without the index, since the quads are in one order alone: waits for the index, or until the quads
   * have all orders. `undefined`: there is no index.
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

  /** Called for each query. The first one starts a build: a server without queries has no index. */
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
    // The file is written beside: without one, it is only slower.
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

  /** A build is running or planned. */
  get isAtWork(): boolean {
    return this.isBuilding || this.timer !== undefined;
  }

  /** Gives a new thread the index, now and whenever it changes. */
  serve(thread: QueryThread): void {
    this.threads.set(thread, 0);
    void thread.exited.then(() => this.threads.delete(thread));
    if (this.base) tell(thread, this.base);
  }

  /** Notes that a thread is another storage's from here on. */
  forget(thread: QueryThread): void {
    this.threads.delete(thread);
  }

  /** Quads of graphs that changed since the index was built, before or after their change. */
  get changedQuads(): number {
    return this.changed.quads;
  }

  /** What a query is told before its snapshot is taken. */
  get asked(): MemoryAsked | undefined {
    return this.base && { version: this.base.version, sequence: this.changed.sequence };
  }

  /** What a query is told after its snapshot is taken; `undefined`: it cannot use the index. */
  changes(thread: QueryThread, { version }: MemoryAsked): GraphChanges | undefined {
    if (this.base?.version !== version || (this.isOver(tooMany) && this.isDispensable)) return undefined;
    const changes = this.changed.since(Math.max(this.threads.get(thread) ?? 0, this.base.sequence));
    this.threads.set(thread, this.changed.sequence);
    return changes;
  }

  /** Ends a running build and allows no other one until the returned function is called; the next query then starts one. */
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
    this.options.log.info(facts, 'The index in memory is ready.');
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
    if (failure) log.warn({ err: failure }, 'The index in memory could not be built.');
    else this.tellOfNone();
    this.hasFailed = true;
    if (!this.isDispensable) void store.grow();
    this.nextAt = Date.now() + retryMs;
    this.drop();
  }

  /** Queries that cannot use the index read the disk. */
  private get isDispensable(): boolean {
    return this.options.store.kept.orders.isComplete;
  }

  /** Says once why queries go without. */
  private tellOfNone(): void {
    const { log, maxQuads } = this.options;
    if (!this.isTold && maxQuads > 0)
      log.info(`There is no index in memory: there are more than ${maxQuads} quads, or their texts are too long.`);
    this.isTold = true;
  }

  /** There may be an index of so many quads as the storage has. */
  private get hasRoom(): boolean {
    const { store, maxQuads } = this.options;
    return maxQuads > 0 && store.kept.quads <= maxQuads;
  }

  /** Drops the index: no query has come for `idleMs`, or other storages have asked later and need the memory. */
  leave(): void {
    // A build needs the graphs that change while it runs, which `drop` would forget.
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

  /** Plans a new build when much has changed. */
  private review(): void {
    if (!this.base || this.isBuilding || !this.isOver(1)) return;
    // Who has waited for an index gets to use it, however much is written meanwhile.
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
  // The call fails only when the thread ends, which then needs no index.
  thread.call('use', base).catch(() => {});
};
