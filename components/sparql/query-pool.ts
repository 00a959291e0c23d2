/**
 * The threads that queries run in: bounded in number, time and memory, shared fairly between clients, one of them ready. It
 * must not know what a query means.
 */
import { Readable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { LwsError } from '../../lib/errors.js';
import type { MemoryIndex } from './memory-index.js';
import type {
  FromQueryWorker,
  QueryTask,
  QueryWorkerData,
  ServiceAnswer,
  ServiceCall,
  ToQueryWorker,
  WorkerScope,
} from './messages.js';
import { gone, interrupted, outOfMemory, refusalOf, timeout, tooBusy } from './query-errors.js';

export interface PoolOptions extends QueryWorkerData {
  readonly size: number;
  readonly memoryMb: number;
  /** Queries that may wait. */
  readonly queue: number;
  readonly memory?: MemoryIndex | undefined;
}

export interface QueryJob {
  readonly task: QueryTask;
  /** Whose query it is. */
  readonly client: string;
  /** What the client may read, asked when the worker has its snapshot. */
  readonly scope: () => Promise<WorkerScope>;
  /** Aborts when the client goes away. */
  readonly gone: AbortSignal;
  /** Answers what the worker cannot decide. */
  readonly decide: (iris: readonly string[]) => Promise<readonly boolean[]>;
  /** Asks another endpoint, as long as the query runs. */
  readonly callService: (call: ServiceCall, ended: AbortSignal) => Promise<ServiceAnswer>;
}

export interface QueryAnswer {
  readonly mediaType: string;
  readonly body: Readable;
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
    const [ready] = this.idle.keys();
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
    let body: Readable | undefined;
    let deadline: NodeJS.Timeout | undefined;
    let failure: LwsError | undefined;
    let settled = false;
    /** Chunks that are pushed and not yet taken. */
    let untaken = 0;
    const ended = new AbortController();
    const { memory } = this.options;
    const asked = memory?.asked;
    const post = (message: ToQueryWorker): void => worker.postMessage(message);
    const settle = (error: unknown, reuse: boolean): void => {
      settled = true;
      ended.abort();
      job.gone.removeEventListener('abort', onGone);
      clearTimeout(deadline);
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      this.count(job.client, -1);
      if (reuse) this.rest(worker);
      if (error === undefined) body?.push(null);
      // After the first byte only a broken connection says that the answer is not whole.
      else if (body) body.destroy(error as Error);
      else reject(error);
      this.next();
    };
    const kill = (error: LwsError): void => {
      failure = error;
      void worker.terminate();
    };
    const begin = (mediaType: string): void => {
      body = new Readable({
        read: () => {
          for (; untaken > 0; untaken--) post({ more: true });
        },
        highWaterMark: 256 << 10,
        // A client that goes away ends its query.
        destroy: (error, done) => {
          if (!settled) kill(gone());
          done(error);
        },
      });
      body.on('error', () => {});
      resolve({ mediaType, body });
    };
    const take = (chunk: Uint8Array): void => {
      untaken++;
      if (body!.push(chunk)) for (; untaken > 0; untaken--) post({ more: true });
    };
    /** What the worker waits for, unless the query has ended meanwhile. */
    const answered = <T>(promise: Promise<T>, tell: (value: T) => void): void => {
      promise.then(
        (value) => settled || tell(value),
        (cause: unknown) => kill(new LwsError('query-limit', 'The query was interrupted.', { cause })),
      );
    };
    const onGone = (): void => kill(gone());
    const onMessage = (message: FromQueryWorker): void => {
      if ('ready' in message) {
        deadline = setTimeout(() => kill(timeout(this.options)), this.options.timeoutMs);
        answered(job.scope(), (scope) => post({ scope, changes: asked && memory?.changes(worker, asked) }));
      } else if ('chunk' in message) {
        if (message.mediaType !== undefined) begin(message.mediaType);
        take(message.chunk);
        if (message.isLast) settle(undefined, true);
      } else if ('decide' in message) {
        const { id, iris } = message.decide;
        answered(job.decide(iris), (answers) => post({ decided: { id, answers } }));
      } else if ('service' in message) {
        const { id, ...call } = message.service;
        answered(job.callService(call, ended.signal), (answer) => post({ serviced: { id, answer } }));
      } else settle(refusalOf(message.fault), true);
    };
    const onError = (error: Error & { code?: string }): void => {
      failure ??= error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? outOfMemory(error) : interrupted(error);
    };
    const onExit = (): void => settle(failure ?? interrupted(), false);
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    job.gone.addEventListener('abort', onGone, { once: true });
    post({ task: job.task, asked });
  }
}
