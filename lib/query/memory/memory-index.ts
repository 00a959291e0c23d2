/**
 * The index in memory over the server's life: built in a thread of its own from the first query on, given to the threads that queries run
 * in, with what changed since, and built anew when that has become much.
 */
import type { Log } from '../../log.js';
import type { Store } from '../../storage/engine/store.js';
import { Thread } from '../../threads/thread.js';
import { threadLimits } from '../../threads/thread-limits.js';
import { bytesOf, type IndexData } from './index-data.js';
import { LayeredGraphs } from './layered-graphs.js';
import type { BuilderFunctions } from './memory-index-builder.js';
import type { GraphChanges, MemoryAsked, MemoryBase, QueryThread } from './memory-layers.js';

export interface MemoryIndexOptions {
  /** The folder of the LevelDB. */
  readonly folder: string;
  readonly store: Pick<Store, 'onStage' | 'onCommit' | 'onDrop'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** Without more quads than these there is an index. */
  readonly maxQuads: number;
  /** So many changed graphs are always read one by one. */
  readonly fewGraphs?: number;
  /** The shortest time between two builds. */
  readonly pauseMs?: number;
  /** A build that takes long is done again after so many times as long. */
  readonly pauseTimes?: number;
  /** When to try again where there were too many quads, or a build failed. */
  readonly retryMs?: number;
  /** Without a query for so long it is let go. */
  readonly idleMs?: number;
}

/** About as many quads as a resource has. */
const quadsOfGraph = 20;
/** Changes that are so many times as many as those that lead to a new build are not read from the index any more. */
const tooMany = 4;
/** Where there were too many quads, this part of what is possible has to be removed before it is worth reading them again. */
const worthRetrying = 0.1;

export class MemoryIndex {
  private readonly changed = new LayeredGraphs();
  /** The threads that queries run in, each with the last change that it was told of. */
  private readonly threads = new Map<QueryThread, number>();
  private base: MemoryBase | undefined;
  private quads = 0;
  private builder: Thread<BuilderFunctions> | undefined;
  private built: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;
  private isPaused = false;
  private version = 0;
  /** The next build may begin. */
  private nextAt = 0;
  private hadTooMany = false;
  /** Quads that there are fewer since the last build began. */
  private removed = 0;
  /** A query has come since the last build began. */
  private isUsed = false;
  private idle: NodeJS.Timeout | undefined;

  constructor(private readonly options: MemoryIndexOptions) {
    options.store.onStage((transaction) => {
      if (transaction.graphs.size > 0) this.changed.stage(transaction);
    });
    options.store.onDrop((transaction) => this.changed.settle(transaction));
    options.store.onCommit((transaction) => {
      if (transaction.graphs.size === 0) return;
      this.changed.settle(transaction);
      if (this.builder || this.hadTooMany)
        for (const { triples } of transaction.graphs.values()) this.removed += triples.before - triples.after;
      this.review();
    });
  }

  /** A query has come. The first one has the index built; where nobody asks, there is none. */
  use(): void {
    const { idleMs = 3_600_000 } = this.options;
    if (this.isClosed) return;
    this.isUsed = true;
    this.idle ??= setTimeout(() => this.leave(), idleMs).unref();
    this.idle.refresh();
    if (this.base) this.review();
    else if (!this.builder && !this.isHopeless) this.later(this.nextAt - Date.now());
  }

  /** Builds the index in the background. */
  start(): void {
    if (this.isClosed || this.isPaused || this.builder) return;
    [this.isUsed, this.removed] = [false, 0];
    const sequence = this.changed.begin();
    const script = new URL('./memory-index-builder.js', import.meta.url);
    const builder = new Thread<BuilderFunctions>({ script, limits: threadLimits() });
    this.builder = builder;
    this.built = this.build(builder, sequence);
  }

  private async build(builder: Thread<BuilderFunctions>, sequence: number): Promise<void> {
    const { folder, maxQuads, pauseMs = 10_000, pauseTimes = 10 } = this.options;
    const began = performance.now();
    let data: IndexData | undefined;
    let failure: unknown;
    try {
      data = await builder.call('build', { folder, maxQuads });
    } catch (error) {
      failure = error;
    }
    await builder.end();
    this.builder = undefined;
    if (this.isClosed) return;
    if (this.isPaused) return this.drop();
    const ms = Math.round(performance.now() - began);
    this.nextAt = Date.now() + Math.max(pauseMs, pauseTimes * ms);
    if (data) this.adopt({ version: ++this.version, sequence, data }, ms);
    else this.giveUp(failure);
  }

  /** It is being built, or will be soon. */
  get isAtWork(): boolean {
    return this.builder !== undefined || this.timer !== undefined;
  }

  /** Gives a new thread the index, now and whenever it changes. */
  serve(thread: QueryThread): void {
    this.threads.set(thread, 0);
    void thread.exited.then(() => this.threads.delete(thread));
    if (this.base) tell(thread, this.base);
  }

  /** What a query is told before its snapshot is taken. */
  get asked(): MemoryAsked | undefined {
    return this.base && { version: this.base.version, sequence: this.changed.sequence };
  }

  /** What a query is told after that; `undefined`: the index is of no use to it. */
  changes(thread: QueryThread, { version }: MemoryAsked): GraphChanges | undefined {
    if (this.base?.version !== version || this.isOver(tooMany)) return undefined;
    const changes = this.changed.since(Math.max(this.threads.get(thread) ?? 0, this.base.sequence));
    this.threads.set(thread, this.changed.sequence);
    return changes;
  }

  /** Builds nothing, and ends a build under way, until what it returns is called; the next query begins it again. */
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
    clearTimeout(this.timer);
    clearTimeout(this.idle);
    await this.endBuild();
  }

  private async endBuild(): Promise<void> {
    await this.builder?.end();
    await this.built;
  }

  private adopt(base: MemoryBase, ms: number): void {
    this.quads = base.data.quads.count;
    this.changed.forget(base.sequence);
    this.give(base);
    this.hadTooMany = false;
    this.options.log.info({ quads: this.quads, bytes: bytesOf(base.data), ms }, 'The index in memory is ready.');
    this.review();
  }

  private give(base: MemoryBase | undefined): void {
    this.base = base;
    for (const thread of this.threads.keys()) tell(thread, base);
  }

  private giveUp(failure: unknown): void {
    const { log, maxQuads, retryMs = 300_000 } = this.options;
    if (failure) log.warn({ err: failure }, 'The index in memory could not be built.');
    else if (!this.hadTooMany)
      log.info(`The storage has more than ${maxQuads} quads, so that there is no index of them in memory.`);
    this.hadTooMany = !failure;
    this.nextAt = Date.now() + retryMs;
    this.drop();
  }

  /** There were too many quads, and there still are about as many. */
  private get isHopeless(): boolean {
    return this.hadTooMany && this.removed < this.options.maxQuads * worthRetrying;
  }

  /** Nobody has asked for long. */
  private leave(): void {
    // What changes while an index is built has to be kept for it.
    if (this.builder) return void this.idle?.refresh();
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
    if (!this.base || this.builder || !this.isOver(1)) return;
    if (this.isOver(tooMany)) this.drop();
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
  // What it is told is of no use to a thread that ends.
  thread.call('use', base).catch(() => {});
};
