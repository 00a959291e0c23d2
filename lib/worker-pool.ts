/**
 * Worker threads that run tasks which could hold up the HTTP thread, and that can be killed. It must not know what the
 * tasks do. Long lists of texts travel in parts, because receiving one message blocks the receiver.
 */
import { type TransferListItem, Worker } from 'node:worker_threads';

export interface Task {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** A long list of texts. */
  readonly lines?: readonly string[];
}

export interface TaskResult {
  readonly value: unknown;
  readonly lines: string[];
}

/** How a task failed in the worker, as far as it survives the way between threads. */
export interface TaskFault {
  readonly code: string | undefined;
  readonly message: string;
  readonly stack: string | undefined;
}

/** A task did not end by itself: `deadline`, `memory`, `busy` (too many are waiting), `crash` or `closed`. */
export class TaskAborted extends Error {
  constructor(
    readonly why: 'deadline' | 'memory' | 'busy' | 'crash' | 'closed',
    cause?: unknown,
  ) {
    super(`A worker task was ended: ${why}`, { cause });
    this.name = 'TaskAborted';
  }
}

/** The task itself threw. */
export class TaskFailed extends Error {
  constructor(readonly fault: TaskFault) {
    super(fault.message);
    this.name = 'TaskFailed';
  }
}

export type ToWorker = { readonly lines: readonly string[] } | { readonly task: Omit<Task, 'lines'> };
export type FromWorker =
  | { readonly ready: true }
  | { readonly lines: string[] }
  | { readonly value: unknown }
  | { readonly fault: TaskFault };

export const linesAtATime = 4000;

interface Job {
  readonly task: Task;
  readonly deadlineMs: number | undefined;
  readonly resolve: (result: TaskResult) => void;
  readonly reject: (error: unknown) => void;
}

export interface PoolOptions {
  /** At most this many workers at once. */
  readonly size: number;
  /** At most this many tasks wait. */
  readonly queue: number;
  /** A worker without work ends after this many milliseconds; absent: one stays, ready. */
  readonly idleMs?: number;
  readonly memoryMb: number;
  /** The heap's nursery; a small one keeps an idle worker small. */
  readonly nurseryMb?: number;
  readonly workerData?: unknown;
}

export class WorkerPool {
  /** The workers without a task, with the timer that ends each. */
  private readonly idle = new Map<Worker, NodeJS.Timeout | undefined>();
  private readonly all = new Set<Worker>();
  private readonly waiting: Job[] = [];
  private closed = false;

  constructor(
    private readonly script: URL,
    private readonly options: PoolOptions,
  ) {}

  /** Starts one worker before it is needed. */
  warm(): void {
    if (this.all.size === 0 && !this.closed) this.idle.set(this.spawn(), undefined);
  }

  /**
   * Runs a task.
   * @param deadlineMs the worker is killed this long after it began on the task
   * @throws TaskFailed when the task throws, TaskAborted when it had to be ended or could not begin
   */
  run(task: Task, deadlineMs?: number): Promise<TaskResult> {
    if (this.closed) return Promise.reject(new TaskAborted('closed'));
    if (this.waiting.length >= this.options.queue) return Promise.reject(new TaskAborted('busy'));
    return new Promise((resolve, reject) => {
      this.waiting.push({ task, deadlineMs, resolve, reject });
      this.next();
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const job of this.waiting.splice(0)) job.reject(new TaskAborted('closed'));
    await Promise.all([...this.all].map((worker) => worker.terminate()));
  }

  private next(): void {
    if (this.waiting.length === 0) return;
    let [worker] = this.idle.keys();
    if (!worker && this.all.size < this.options.size) worker = this.spawn();
    if (!worker) return;
    clearTimeout(this.idle.get(worker));
    this.idle.delete(worker);
    this.work(worker, this.waiting.shift()!);
  }

  private spawn(): Worker {
    const { memoryMb, nurseryMb, workerData } = this.options;
    const resourceLimits = {
      maxOldGenerationSizeMb: memoryMb,
      ...(nurseryMb === undefined ? {} : { maxYoungGenerationSizeMb: nurseryMb }),
    };
    const worker = new Worker(this.script, { resourceLimits, workerData });
    // A server that has nothing else to do may end; work in progress is held by the request that waits for it.
    worker.unref();
    // A job in progress has its own listeners; without one an error only means that a fresh worker is needed.
    worker.on('error', () => {});
    worker.once('exit', () => {
      this.all.delete(worker);
      this.idle.delete(worker);
      if (!this.closed && this.options.idleMs === undefined) this.warm();
      this.next();
    });
    this.all.add(worker);
    return worker;
  }

  private work(worker: Worker, job: Job): void {
    const lines: string[] = [];
    let deadline: NodeJS.Timeout | undefined;
    let aborted: TaskAborted | undefined;
    const settle = (finish: () => void, reuse: boolean): void => {
      clearTimeout(deadline);
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      if (reuse) this.release(worker);
      finish();
    };
    const onMessage = (message: FromWorker): void => {
      if ('lines' in message) for (const line of message.lines) lines.push(line);
      else if ('value' in message) settle(() => job.resolve({ value: message.value, lines }), true);
      else if ('fault' in message) settle(() => job.reject(new TaskFailed(message.fault)), true);
      else if (job.deadlineMs !== undefined)
        deadline = setTimeout(() => {
          aborted = new TaskAborted('deadline');
          void worker.terminate();
        }, job.deadlineMs);
    };
    const onError = (error: Error & { code?: string }): void => {
      aborted = new TaskAborted(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'crash', error);
    };
    const onExit = (): void => settle(() => job.reject(aborted ?? new TaskAborted('crash')), false);
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    void this.send(worker, job.task);
  }

  private async send(worker: Worker, { lines = [], ...task }: Task): Promise<void> {
    for (let at = 0; at < lines.length; at += linesAtATime) {
      worker.postMessage({ lines: lines.slice(at, at + linesAtATime) } satisfies ToWorker);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const bytes = task.arguments['bytes'];
    // The bytes of an upload belong to the task alone: they move instead of being copied.
    const moved: TransferListItem[] =
      bytes instanceof Uint8Array && bytes.byteLength === bytes.buffer.byteLength && bytes.buffer instanceof ArrayBuffer
        ? [bytes.buffer]
        : [];
    worker.postMessage({ task } satisfies ToWorker, moved);
  }

  private release(worker: Worker): void {
    if (!this.all.has(worker)) return;
    const { idleMs } = this.options;
    const end = (): void => {
      // Out of the idle ones at once: a task must not be given to a worker that is about to end.
      this.idle.delete(worker);
      void worker.terminate();
    };
    this.idle.set(worker, idleMs === undefined ? undefined : setTimeout(end, idleMs).unref());
    this.next();
  }
}
