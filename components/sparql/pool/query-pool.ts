/** Queries in worker threads that are shared between clients. */
import type { Worker } from 'node:worker_threads';
import { rankOf } from '../../../lib/component/access.js';
import { type Measure, measure } from '../../../lib/component/basics.js';
import type { MemoryIndex } from '../../../lib/component/memory.js';
import { NotBegun, WorkerPool } from '../../../lib/component/threads.js';
import { endThread } from './end-thread.js';
import type { QueryWorkerData } from './messages.js';
import { gone, tooBusy } from './query-errors.js';
import { askWorker, type QueryAnswer, type QueryJob } from './worker-channel.js';

export interface QueryPoolOptions extends QueryWorkerData {
  readonly size: number;
  /** The most threads that strangers hold together. */
  readonly strangers: number;
  readonly timeoutMs: number;
  readonly strangerTimeoutMs: number;
  readonly memoryMb: number;
  /** Queries that may wait. */
  readonly queue: number;
  readonly memory?: MemoryIndex | undefined;
}

/** A thread that nobody needs for so long is let go. */
const idleMs = 600_000;

export class QueryPool {
  private readonly threads: WorkerPool;
  /** Threads that have begun a query before. */
  private readonly loaded = new WeakSet<Worker>();

  constructor(private readonly options: QueryPoolOptions) {
    const { size, strangers, queue, memoryMb, folder, storage, memory } = options;
    this.threads = new WorkerPool({
      script: new URL('./query-worker.js', import.meta.url),
      size,
      queue,
      memoryMb,
      idleMs,
      isShared: true,
      end: endThread,
      // Who controls the storage always finds a thread, unless there is only one.
      ranks: [size, Math.max(1, size - 1), strangers],
      workerData: { folder, storage } satisfies QueryWorkerData,
      onSpawn: (worker) => memory?.serve(worker),
    });
  }

  /**
   * Runs a query, and resolves when its answer begins.
   * @throws LwsError `too-busy` over the waiting queue; `query-limit` at a limit; what the worker refuses
   */
  async run(job: QueryJob): Promise<QueryAnswer> {
    this.options.memory?.use();
    const { timeoutMs, strangerTimeoutMs } = this.options;
    const host = { ...this.options, timeoutMs: job.standing === 'stranger' ? strangerTimeoutMs : timeoutMs };
    try {
      return await this.threads.run({
        client: job.client,
        rank: rankOf(job.standing),
        gone: job.gone,
        work: (worker, ended) => askWorker(worker, job, { ...host, loaded: this.loaded, ended }),
      });
    } catch (error) {
      if (error instanceof NotBegun) throw error.why === 'gone' ? gone() : tooBusy();
      throw error;
    }
  }

  /** For those who watch the server. */
  measures(): readonly Measure[] {
    const { threads, busy, killed, waiting, begun } = this.threads.state;
    return [
      measure('gauge', 'sparql_threads', 'Threads for queries.', threads),
      measure('gauge', 'sparql_threads_busy', 'Queries that run, each on a snapshot.', busy),
      measure('gauge', 'sparql_queries_waiting', 'Queries that wait for a thread.', waiting),
      measure('counter', 'sparql_queries_total', 'Queries that were begun.', begun),
      measure('counter', 'sparql_threads_killed_total', 'Threads that were ended with their query.', killed),
    ];
  }

  /** Ends all queries; those that come wait until what it returns is called. */
  pause(): Promise<() => void> {
    return this.threads.pause();
  }

  close(): Promise<void> {
    return this.threads.close();
  }
}
