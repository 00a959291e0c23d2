/** Queries in worker threads that are shared between clients. */
import { priorityOf } from '../../../lib/authorization/client.js';
import { type Metric, metric } from '../../../lib/metrics.js';
import type { MemoryIndex } from '../../../lib/query/memory/memory-index.js';
import { RememberedStaged } from '../../../lib/storage/transactions/remembered-staged.js';
import type { Store } from '../../../lib/storage/transactions/store.js';
import { spareThreads, ThreadSlots, WorkerPool } from '../../../lib/threads/worker-pool.js';
import { AskedQuery, type QueryAnswer, type QueryJob } from './asked-query.js';
import type { QueryThreadData, TimeLimit } from './messages.js';
import { refusalOf } from './query-errors.js';
import type { QueryFunctions } from './query-worker.js';
import type { ShortQueries } from './short-queries.js';

export interface QueryPoolOptions extends QueryThreadData {
  readonly size: number;
  /** The most threads that strangers hold together. */
  readonly strangers: number;
  readonly timeoutMs: number;
  readonly strangerTimeoutMs: number;
  readonly memoryMb: number;
  /** Queries that may wait. */
  readonly queue: number;
  readonly memory?: MemoryIndex | undefined;
  /** What short queries are answered from without a thread; absent: none is. */
  readonly store?: Store;
  /** Controllers of this storage are the operators of the process. */
  readonly isHome?: boolean;
}

/** A thread that nobody needs for so long is let go. */
const idleMs = 600_000;

/** A thread that computes without a pause is killed so long after it was told to end. */
const graceMs = 200;

/**
 * After so many queries, the HTTP thread loads what it answers short ones with, in a pause: so many milliseconds of which it takes so large a part.
 * Where none has come after so many looks, it does not wait for one any longer.
 */
const [manyQueries, pauseMs, pauseShare, mostLooks] = [8, 250, 0.2, 240];

/** The threads of all pools of this process whose queries have the same memory, by that. */
const placesOf = new Map<number, ThreadSlots>();

/** The pool of this process that has a thread loaded ahead. */
let warmed: QueryPool | undefined;

export class QueryPool {
  private readonly threads: WorkerPool<QueryFunctions>;
  private short: ShortQueries | undefined;
  private asked = 0;
  private pausing: NodeJS.Timeout | undefined;

  constructor(private readonly options: QueryPoolOptions) {
    const { size, strangers, queue, memoryMb, folder, storage, memory } = options;
    const places = placesOf.get(memoryMb) ?? new ThreadSlots();
    placesOf.set(memoryMb, places);
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
      // Who controls the storage always finds a thread, unless there is only one.
      ranks: [size, Math.max(1, size - 1), strangers],
      data: { folder, storage } satisfies QueryThreadData,
      onSpawn: (thread) => memory?.serve(thread),
      onLeave: (thread) => memory?.forget(thread),
    });
  }

  /** Loads one thread before it is needed: one for a process, whatever number of storages it has. */
  warm(): void {
    warmed ??= this;
    if (warmed === this) this.threads.warm();
  }

  /**
   * Runs a query, and resolves when its answer begins.
   * @throws LwsError `too-busy` over the waiting queue; `query-limit` at a limit; what the worker refuses
   */
  async run(job: QueryJob): Promise<QueryAnswer> {
    const { memory } = this.options;
    memory?.use();
    const rules = { memory, limit: this.limitOf(job) };
    if (++this.asked === manyQueries && this.options.store) this.loadShort(this.options.store);
    const short = await this.short?.run(job, rules);
    if (short) return short;
    const { client, gone, standing } = job;
    return new Promise((resolve, reject) => {
      const query = new AskedQuery(job, rules, resolve);
      this.threads
        .run({ client, rank: priorityOf(standing), gone, work: (thread) => query.run(thread) })
        .catch((error: unknown) => reject(refusalOf(error, rules.limit)));
    });
  }

  /** Waits until the thread has little to do: what is loaded takes it a tenth of a second. */
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

  private limitOf({ standing, task }: QueryJob): TimeLimit {
    const { timeoutMs: ofAll, strangerTimeoutMs } = this.options;
    const isStranger = standing === 'stranger' && strangerTimeoutMs < ofAll;
    const most = isStranger ? strangerTimeoutMs : ofAll;
    if (task.timeoutMs !== undefined && task.timeoutMs < most)
      return { timeoutMs: task.timeoutMs, by: 'the parameter timeout' };
    return { timeoutMs: most, by: `lws.sparql.endpoint.${isStranger ? 'stranger-' : ''}timeout-seconds` };
  }

  /** For those who watch the server. */
  measures(): readonly Metric[] {
    const { threads, busy, killed, waiting, begun } = this.threads.state;
    return [
      metric('gauge', 'sparql_threads', 'Threads for queries.', threads),
      metric('gauge', 'sparql_threads_busy', 'Queries that run, each on a snapshot.', busy),
      metric('gauge', 'sparql_queries_waiting', 'Queries that wait for a thread.', waiting),
      metric('counter', 'sparql_queries_total', 'Queries that were begun in a thread of their own.', begun),
      metric(
        'counter',
        'sparql_short_queries_total',
        'Queries that the HTTP thread answered.',
        this.short?.answered ?? 0,
      ),
      metric('counter', 'sparql_threads_killed_total', 'Threads that were ended with their query.', killed),
    ];
  }

  /** Ends all queries; those that come wait until what it returns is called. */
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
