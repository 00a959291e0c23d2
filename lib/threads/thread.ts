/** A thread as the one that has it sees it: its functions are called, and it is ended without harm. */
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
  /** It calls `serve`. */
  readonly script: URL;
  readonly limits: ResourceLimits;
  /** What `threadData` is in the thread. */
  readonly data?: unknown;
  /** A thread that is told to end is killed after so many milliseconds, whatever it holds; absent: never. */
  readonly graceMs?: number | undefined;
}

type CallerOf<F> = Extract<ArgumentsOf<F>[1], Caller<never, never>>;

/** How a function is called. */
export interface CallOptions<F> {
  /** What the thread may ask. What one of these throws ends the call, and the thread. */
  readonly answers?: CallerOf<F> extends Caller<infer Questions, never> ? Questions : never;
  /** Takes a part of the answer. Some parts may be sent of which what this returns has not resolved yet. */
  readonly take?: (part: CallerOf<F> extends Caller<never, infer Part> ? Part : never) => unknown;
  /** Buffers of what is given that move instead of being copied. */
  readonly moves?: readonly Transferable[];
  /** It is ended, with its thread, so many milliseconds after the call, or after the thread has loaded. */
  readonly deadlineMs?: number | undefined;
  /** Aborts when nobody waits for it any more, which ends the thread. */
  readonly gone?: AbortSignal | undefined;
}

interface OpenCall {
  readonly options: CallOptions<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
  /** Rejects at once, and ends the thread. */
  abort(error: unknown): void;
  deadline?: NodeJS.Timeout;
}

type Answers = Readonly<Record<string, (...given: readonly unknown[]) => unknown>>;

/** How much later than the HTTP thread new threads come where cores are short (Linux): 0 to 19, as of nice(2). */
export const priority = { niceness: 0 };

export class Thread<F extends Functions = Functions> {
  private readonly worker: Worker;
  private readonly shared = new Int32Array(new SharedArrayBuffer(8));
  private readonly calls = new Map<number, OpenCall>();
  private count = 0;
  /** It has loaded what it needs. */
  isReady = false;
  private hasExited = false;
  private failure = new ThreadEnded('crash');
  /** Resolves when it has ended, by itself or not. */
  readonly exited: Promise<void>;

  constructor(private readonly options: ThreadOptions) {
    const { script, limits, data } = options;
    const workerData: ThreadData = { shared: this.shared, data, niceness: priority.niceness };
    this.worker = new Worker(script, { resourceLimits: limits, workerData });
    // A server that has nothing else to do may end; a call keeps it.
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

  /** It was told to end, or has ended. */
  get isEnding(): boolean {
    return this.hasExited || Atomics.load(this.shared, endAt) !== 0;
  }

  /** Calls a function. @throws what it throws, ThreadEnded */
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
   * Ends it, and returns when it has ended. One that is killed while LevelDB reads for it can leave an iterator behind, which ends the
   * process when the store is closed: one that holds something is told, and its calls end before it does.
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
      // What computes without a pause does not hear of it.
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
    // What was told to end fails by that.
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

  /** Does what the thread waits for, and tells it. */
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
