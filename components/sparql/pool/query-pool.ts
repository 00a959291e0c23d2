/**
 * The threads that queries run in: bounded in number, time and memory, shared fairly between clients, one of them ready. It
 * must not know what a query means.
 */
import { Worker } from 'node:worker_threads';
import type { MemoryIndex } from '../../../lib/query/memory/memory-index.js';
import type { QueryWorkerData } from './messages.js';
import { gone, tooBusy } from './query-errors.js';
import { askWorker, type QueryAnswer, type QueryJob } from './worker-query.js';

export interface PoolOptions extends QueryWorkerData {
  readonly size: number;
  readonly memoryMb: number;
  /** Queries that may wait. */
  readonly queue: number;
  readonly memory?: MemoryIndex | undefined;
}

interface Waiting {
  readonly job: QueryJob;
  readonly resolve: (answer: QueryAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/** A worker that nobody needs for so long is let go. */
const idleMs = 600_000;

export class QueryPool {
  private readonly idle = new Map<Worker, NodeJS.Timeout>();
  private readonly all = new Set<Worker>();
  private readonly waiting: Waiting[] = [];
  /** Threads that have begun a query before. */
  private readonly loaded = new WeakSet<Worker>();
  private readonly running = new Map<string, number>();
  private closed = false;

  constructor(private readonly options: PoolOptions) {}

  /**
   * Runs a query, and resolves when its answer begins.
   * @throws LwsError `too-busy` over the waiting queue; `query-limit` at a limit; what the worker refuses
   */
  run(job: QueryJob): Promise<QueryAnswer> {
    const { queue, size } = this.options;
    const own = this.waiting.filter(({ job: { client } }) => client === job.client).length;
    // A client fills its own part of the queue, never everybody's.
    const isFull = own >= queue || this.waiting.length >= queue * 8;
    const mayStart = this.all.size - this.idle.size < size && own === 0 && this.mayRun(job);
    if (this.closed || (isFull && !mayStart)) return Promise.reject(tooBusy());
    return new Promise((resolve, reject) => {
      const waiting = { job, resolve, reject };
      this.waiting.push(waiting);
      const leave = (): void => {
        const at = this.waiting.indexOf(waiting);
        if (at < 0) return;
        this.waiting.splice(at, 1);
        reject(gone());
      };
      job.gone.addEventListener('abort', leave, { once: true });
      if (job.gone.aborted) leave();
      this.next();
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const { reject } of this.waiting.splice(0)) reject(tooBusy());
    for (const timer of this.idle.values()) clearTimeout(timer);
    await Promise.all([...this.all].map((worker) => worker.terminate()));
  }

  /** One client never holds the last worker, unless there is only one. */
  private mayRun({ client }: QueryJob): boolean {
    return (this.running.get(client) ?? 0) < Math.max(1, this.options.size - 1);
  }

  private next(): void {
    const busy = this.all.size - this.idle.size;
    if (busy >= this.options.size) return;
    const at = this.waiting.findIndex(({ job }) => this.mayRun(job));
    if (at < 0) return;
    const [waiting] = this.waiting.splice(at, 1);
    const resting = [...this.idle.keys()];
    const ready = resting.find((each) => this.loaded.has(each)) ?? resting[0];
    const worker = ready ?? this.spawn();
    clearTimeout(this.idle.get(worker));
    this.idle.delete(worker);
    this.count(waiting!.job.client, 1);
    this.work(worker, waiting!);
    // The next query, or the one after a killed worker, should not wait for the engine to load.
    if (this.idle.size === 0 && this.all.size <= this.options.size) this.rest(this.spawn());
    this.next();
  }

  private count(client: string, change: 1 | -1): void {
    const count = (this.running.get(client) ?? 0) + change;
    if (count > 0) this.running.set(client, count);
    else this.running.delete(client);
  }

  private spawn(): Worker {
    const { folder, storage, timeoutMs, memoryMb } = this.options;
    const workerData: QueryWorkerData = { folder, storage, timeoutMs };
    const worker = new Worker(new URL('./query-worker.js', import.meta.url), {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    });
    worker.unref();
    this.options.memory?.serve(worker);
    worker.on('error', () => {});
    worker.once('exit', () => {
      clearTimeout(this.idle.get(worker));
      this.all.delete(worker);
      this.idle.delete(worker);
      if (!this.closed) this.next();
    });
    this.all.add(worker);
    return worker;
  }

  private rest(worker: Worker): void {
    if (!this.all.has(worker)) return;
    const end = (): void => {
      this.idle.delete(worker);
      void worker.terminate();
    };
    this.idle.set(worker, setTimeout(end, idleMs).unref());
  }

  private work(worker: Worker, { job, resolve, reject }: Waiting): void {
    askWorker(worker, job, {
      ...this.options,
      loaded: this.loaded,
      ended: (reuse) => {
        this.count(job.client, -1);
        if (reuse) this.rest(worker);
      },
      next: () => this.next(),
    }).then(resolve, reject);
  }
}
