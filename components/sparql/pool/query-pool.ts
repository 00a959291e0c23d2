/** Pool of query threads, which the clients of a storage share. */
import { priorityOf } from '../../../lib/authorization/client.js';
import type { IndexState, MemoryIndex } from '../../../lib/query/memory/memory-index.js';
import { RememberedStaged } from '../../../lib/storage/transactions/remembered-staged.js';
import type { Store } from '../../../lib/storage/transactions/store.js';
import { getOrMake } from '../../../lib/tools/collections.js';
import { type Metric, metric } from '../../../lib/tools/metrics.js';
import { ThreadSlots } from '../../../lib/tools/threads/thread-slots.js';
import { spareThreads, WorkerPool } from '../../../lib/tools/threads/worker-pool.js';
import { AskedQuery, type QueryAnswer, type QueryJob } from './asked-query.js';
import type { QueryThreadData, TimeLimit } from './messages.js';
import { refusalOf } from './query-errors.js';
import type { QueryFunctions } from './query-worker.js';
import type { ShortQueries } from './short-queries.js';

export interface QueryPoolOptions extends QueryThreadData {
  readonly size: number;
  /** Maximum threads for all unprivileged callers together. */
  readonly strangers: number;
  readonly timeoutMs: number;
  readonly strangerTimeoutMs: number;
  readonly memoryMb: number;
  /** Maximum queued queries. */
  readonly queue: number;
  readonly memory?: MemoryIndex | undefined;
  /** Store for short queries in the HTTP thread. Absent: all queries run in worker threads. */
  readonly store?: Store;
  /** True if controllers of this storage are the operators of the process. */
  readonly isHome?: boolean;
}

/** Idle time after which a thread is ended, in milliseconds. */
const idleMs = 600_000;

/** Grace period before a busy thread is terminated, in milliseconds. */
const graceMs = 200;

/**
 * When the HTTP thread loads the modules for short queries: after `manyQueries` queries, in the first interval (`pauseMs`) with
 * at most `pauseShare` of load. Loads them after `mostLooks` intervals at the latest, because a busy server gains most.
 */
const [manyQueries, pauseMs, pauseShare, mostLooks] = [8, 250, 0.2, 20];

/** Thread slots by memory limit, shared by all pools of this process. */
const placesOf = new Map<number, ThreadSlots>();

/** The pool of this process that preloads a thread. */
let warmed: QueryPool | undefined;

export class QueryPool {
  private readonly threads: WorkerPool<QueryFunctions>;
  private short: ShortQueries | undefined;
  private asked = 0;
  private pausing: NodeJS.Timeout | undefined;

  constructor(private readonly options: QueryPoolOptions) {
    const { size, strangers, queue, memoryMb, folder, storage, memory } = options;
    const places = getOrMake(placesOf, memoryMb, () => new ThreadSlots());
    places.allow(size + spareThreads);
    this.threads = new WorkerPool({
      places,
      script: new URL('./query-worker.js', import.meta.url),
      size,
      queue,
      memoryMb,
      idleMs,
      isShared: true,
      graceMs,
      // Controllers always have a free thread, unless there is only one.
      ranks: [size, Math.max(1, size - 1), strangers],
      data: { folder, storage } satisfies QueryThreadData,
      onSpawn: (thread) => memory?.serve(thread),
      onLeave: (thread) => memory?.forget(thread),
    });
  }

  /** Preloads one thread per process, for any number of storages. */
  warm(): void {
    warmed ??= this;
    if (warmed === this) this.threads.warm();
  }

  /**
   * Runs a query, and resolves when its result begins.
   * @throws LwsError `too-busy` if the queue is full, `query-limit` at a limit, or the error of the worker
   */
  async run(job: QueryJob): Promise<QueryAnswer> {
    const { memory } = this.options;
    memory?.use();
    const rules = { memory, limit: this.limitOf(job) };
    if (++this.asked === manyQueries && this.options.store) this.loadShort(this.options.store);
    const short = await this.short?.run(job, rules);
    if (short) return short;
    const { client, callerClass } = job;
    const gone = job.gone();
    return new Promise((resolve, reject) => {
      const query = new AskedQuery(job, rules, resolve);
      this.threads
        .run({ client, rank: priorityOf(callerClass), gone, work: (thread) => query.run(thread, gone) })
        .catch((error: unknown) => reject(refusalOf(error, rules.limit)));
    });
  }

  /** Loads the modules for short queries when the thread is nearly idle: loading blocks it for 0.1 s. */
  private loadShort(store: Store): void {
    const { eventLoopUtilization } = performance;
    let before = eventLoopUtilization();
    let looks = 0;
    this.pausing = setInterval(() => {
      const { utilization } = eventLoopUtilization(before);
      before = eventLoopUtilization();
      if (utilization > pauseShare && ++looks < mostLooks) return;
      clearInterval(this.pausing);
      void this.startShort(store);
    }, pauseMs).unref();
  }

  private async startShort(store: Store): Promise<void> {
    const { memory, storage, isHome = true } = this.options;
    const { ShortQueries } = await import('./short-queries.js');
    const hidden = new RememberedStaged(store);
    const short = await ShortQueries.load({ storage, level: () => store.level, hidden, isHome });
    memory?.serve(short);
    this.short = short;
  }

  private limitOf({ callerClass, task }: QueryJob): TimeLimit {
    const { timeoutMs: ofAll, strangerTimeoutMs } = this.options;
    const isStranger = callerClass === 'stranger' && strangerTimeoutMs < ofAll;
    const most = isStranger ? strangerTimeoutMs : ofAll;
    if (task.timeoutMs !== undefined && task.timeoutMs < most)
      return { timeoutMs: task.timeoutMs, by: task.limitedBy ?? 'the parameter timeout' };
    return { timeoutMs: most, by: `lws.sparql.endpoint.${isStranger ? 'stranger-' : ''}timeout-seconds` };
  }

  /** Returns the metrics of the pool. */
  metrics(): readonly Metric[] {
    const { threads, busy, killed, waiting, begun } = this.threads.state;
    return [
      metric('gauge', 'sparql_threads', 'Query threads.', threads),
      metric('gauge', 'sparql_threads_busy', 'Running queries, each on a snapshot.', busy),
      metric('gauge', 'sparql_queries_waiting', 'Queued queries.', waiting),
      metric('counter', 'sparql_queries_total', 'Queries started in a query thread.', begun),
      metric(
        'counter',
        'sparql_short_queries_total',
        'Queries answered in the HTTP thread.',
        this.short?.answered ?? 0,
      ),
      metric('counter', 'sparql_threads_killed_total', 'Threads terminated together with their query.', killed),
      ...(this.options.memory ? measuresOf(this.options.memory.state) : []),
    ];
  }

  /** Ends all queries. New queries wait until the returned function is called. */
  async pause(): Promise<() => void> {
    const paused = await Promise.all([this.threads.pause(), this.short?.pause()]);
    return () => {
      for (const goOn of paused) goOn?.();
    };
  }

  async close(): Promise<void> {
    if (warmed === this) warmed = undefined;
    clearInterval(this.pausing);
    await Promise.all([this.threads.close(), this.short?.pause()]);
  }
}

const measuresOf = ({ quads, bytes, changedGraphs, isBuilding, buildSeconds }: IndexState): readonly Metric[] => [
  metric('gauge', 'index_quads', 'Quads of the index for queries when it was built.', quads),
  metric('gauge', 'index_memory_bytes', 'Bytes of the index for queries in memory.', bytes),
  metric('gauge', 'index_changed_graphs', 'Graphs that have changed since the index was built.', changedGraphs),
  metric('gauge', 'index_building', '1 while the index is built.', isBuilding ? 1 : 0),
  metric('gauge', 'index_build_seconds', 'Duration of the running build.', buildSeconds),
];
