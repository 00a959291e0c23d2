/** Owner's side of a worker thread: calls its functions and ends it safely. */
import { type ResourceLimits, type Transferable, Worker } from 'node:worker_threads';
import {
  type ArgumentsOf,
  endAt,
  errorOf,
  type FromThread,
  type Functions,
  heldAt,
  type ResultOf,
  type ThreadData,
  ThreadEnded,
  type ToThread,
} from './messages.js';
import type { Caller } from './worker-host.js';

export interface ThreadOptions {
  /** Script that calls `serve`. */
  readonly script: URL;
  readonly limits: ResourceLimits;
  /** Value of `threadData` in the thread. */
  readonly data?: unknown;
  /** Time in milliseconds after which a thread that was told to end is killed regardless of open resources. Absent: never. */
  readonly graceMs?: number | undefined;
}

type CallerOf<F> = Extract<ArgumentsOf<F>[1], Caller<never, never>>;

/** Options of a call. */
export interface CallOptions<F> {
  /** Functions that the thread may call during this call. If a function throws, the call and the thread end. */
  readonly answers?: CallerOf<F> extends Caller<infer Questions, never> ? Questions : never;
  /** Receives a part of the result. Further parts may be sent before the promise resolves. */
  readonly take?: (part: CallerOf<F> extends Caller<never, infer Part> ? Part : never) => unknown;
  /** Buffers in the argument that are transferred instead of copied. */
  readonly moves?: readonly Transferable[];
  /** Timeout in milliseconds, after which the call and its thread end. Starts with the call, or when the thread has loaded. */
  readonly deadlineMs?: number | undefined;
  /** Signal that the caller has disconnected, which ends the thread. */
  readonly gone?: AbortSignal | undefined;
}

interface OpenCall {
  readonly options: CallOptions<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
  /** Rejects immediately and ends the thread. */
  abort(error: unknown): void;
  deadline?: NodeJS.Timeout;
}

type Answers = Readonly<Record<string, (...given: readonly unknown[]) => unknown>>;

/** Scheduling priority of new threads relative to the HTTP thread (Linux): 0 to 19, as in nice(2). */
export const priority = { niceness: 0 };

export class Thread<F extends Functions = Functions> {
  private readonly worker: Worker;
  private readonly shared = new Int32Array(new SharedArrayBuffer(8));
  private readonly calls = new Map<number, OpenCall>();
  private count = 0;
  /** True when the thread has loaded its modules. */
  isReady = false;
  private hasExited = false;
  private failure = new ThreadEnded('crash');
  /** Resolves when the thread has ended, for any reason. */
  readonly exited: Promise<void>;

  constructor(private readonly options: ThreadOptions) {
    const { script, limits, data } = options;
    const workerData: ThreadData = { shared: this.shared, data, niceness: priority.niceness };
    this.worker = new Worker(script, { resourceLimits: limits, workerData });
    // An idle thread does not keep the process alive, but a call does.
    this.worker.unref();
    this.worker.on('message', (message: FromThread) => this.hear(message));
    this.worker.on('error', (error: Error & { code?: string }) => {
      this.failure = new ThreadEnded(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'crash', error);
    });
    this.exited = new Promise((resolve) =>
      this.worker.once('exit', () => {
        this.hasExited = true;
        for (const { reject } of this.calls.values()) reject(this.failure);
        resolve();
      }),
    );
  }

  /** True if the thread was told to end, or has ended. */
  get isEnding(): boolean {
    return this.hasExited || Atomics.load(this.shared, endAt) !== 0;
  }

  /** Calls a function of the thread. @throws the error of the function, ThreadEnded */
  async call<N extends keyof F & string>(
    name: N,
    given: ArgumentsOf<F[N]>[0],
    options: CallOptions<F[N]> = {},
  ): Promise<ResultOf<F[N]>> {
    if (this.hasExited) throw this.failure;
    const id = ++this.count;
    const { gone, moves } = options;
    let call!: OpenCall;
    const answer = new Promise<unknown>((resolve, reject) => {
      const abort = (error: unknown): void => {
        reject(error);
        void this.end();
      };
      call = { options: options as CallOptions<unknown>, resolve, reject, abort };
    });
    const onGone = (): void => call.abort(new ThreadEnded('gone'));
    gone?.addEventListener('abort', onGone, { once: true });
    if (this.calls.size === 0) this.worker.ref();
    this.calls.set(id, call);
    this.post({ call: id, name, given }, moves);
    if (this.isReady) startClock(call);
    if (gone?.aborted) onGone();
    try {
      return (await answer) as ResultOf<F[N]>;
    } finally {
      clearTimeout(call.deadline);
      gone?.removeEventListener('abort', onGone);
      this.calls.delete(id);
      if (this.calls.size === 0 && !this.isEnding) this.worker.unref();
    }
  }

  /**
   * Ends the thread and resolves when it has ended. A thread killed while LevelDB reads for it can leave an iterator open, which
   * crashes the process when the store is closed. A thread with open resources is therefore told to end, and its calls end first.
   */
  end(): Promise<void> {
    if (this.isEnding) return this.exited;
    this.worker.ref();
    Atomics.store(this.shared, endAt, 1);
    const kill = (): void => void this.worker.terminate();
    if (Atomics.load(this.shared, heldAt) === 0) kill();
    else {
      this.post({ end: true });
      const { graceMs } = this.options;
      // Code that computes without a pause does not receive the message: kill the thread after `graceMs`.
      const timer = graceMs === undefined ? undefined : setTimeout(kill, graceMs);
      void this.exited.then(() => clearTimeout(timer));
    }
    return this.exited;
  }

  private post(message: ToThread, moves: readonly Transferable[] = []): void {
    this.worker.postMessage(message, moves);
  }

  private hear(message: FromThread): void {
    if ('ready' in message) {
      this.isReady = true;
      for (const call of this.calls.values()) startClock(call);
      return;
    }
    const { call: id } = message;
    const call = this.calls.get(id);
    if (!call) return;
    const { take, answers } = call.options;
    if ('value' in message) call.resolve(message.value);
    // Calls of a thread that was told to end fail with the reason of the end.
    else if ('fault' in message) call.reject(this.isEnding ? this.failure : errorOf(message.fault));
    else if ('part' in message)
      void this.follow(call, async () => {
        await take?.(message.part as never);
        return { taken: id };
      });
    else
      void this.follow(call, async () => ({
        answered: message.question,
        value: await (answers as Answers)[message.name]!(...message.given),
      }));
  }

  /** Runs a function that the thread called and sends it the result. */
  private async follow({ abort }: OpenCall, work: () => Promise<ToThread>): Promise<void> {
    try {
      this.post(await work());
    } catch (error) {
      abort(error);
    }
  }
}

function startClock(call: OpenCall): void {
  const { deadlineMs } = call.options;
  if (deadlineMs !== undefined) call.deadline = setTimeout(() => call.abort(new ThreadEnded('deadline')), deadlineMs);
}
