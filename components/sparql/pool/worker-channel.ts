/** One query in one thread, from its task to the end of its answer: limits, what the thread asks for, and how fast its answer is taken. */
import { Readable } from 'node:stream';
import type { Worker } from 'node:worker_threads';
import type { Standing } from '../../../lib/component/access.js';
import { LwsError } from '../../../lib/component/basics.js';
import type { MemoryAsked, MemoryIndex, ServiceAnswer, ServiceCall } from '../../../lib/component/memory.js';
import type { GraphScope } from '../../../lib/component/query.js';
import { endThread } from './end-thread.js';
import type { FromQueryWorker, Purpose, QueryTask, ToQueryWorker } from './messages.js';
import { gone, interrupted, outOfMemory, refusalOf, timeout } from './query-errors.js';

export interface QueryJob {
  readonly task: QueryTask;
  /** Whose query it is. */
  readonly client: string;
  readonly standing: Standing;
  /** What the client may read; asked, or asked again, when the worker has its snapshot. */
  readonly scope: () => Promise<GraphScope>;
  /** Aborts when the client goes away. */
  readonly gone: AbortSignal;
  /** Answers what the worker cannot decide. */
  readonly decide: (iris: readonly string[], purpose: Purpose) => Promise<readonly boolean[]>;
  /** Asks another endpoint, as long as the query runs. */
  readonly callService: (call: ServiceCall, ended: AbortSignal) => Promise<ServiceAnswer>;
}

export interface QueryAnswer {
  readonly mediaType: string;
  /** A small answer comes whole. */
  readonly body: Buffer | Readable;
}

export interface WorkerHost {
  readonly timeoutMs: number;
  readonly memory?: MemoryIndex | undefined;
  /** Threads that have begun a query before. */
  readonly loaded: WeakSet<Worker>;
  /** The query has ended; the thread may be used again, or is gone. */
  readonly ended: (reuse: boolean) => void;
}

/** Resolves when the answer begins. @throws LwsError `query-limit` at a limit; what the worker refuses */
export const askWorker = (worker: Worker, job: QueryJob, host: WorkerHost): Promise<QueryAnswer> =>
  new Promise((resolve, reject) => new WorkerQuery({ worker, job, host, resolve, reject }).start());

interface Given {
  readonly worker: Worker;
  readonly job: QueryJob;
  readonly host: WorkerHost;
  readonly resolve: (answer: QueryAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/** A query that is under way; it settles once. */
class WorkerQuery {
  private body: Readable | undefined;
  /** Chunks that are pushed and not yet taken. */
  private untaken = 0;
  private deadline: NodeJS.Timeout | undefined;
  private failure: LwsError | undefined;
  private settled = false;
  /** Ends its calls of other endpoints. */
  private calls: AbortController | undefined;
  /** The scope that the query has begun with, until it is known to hold still. */
  private presumed: GraphScope | undefined;
  private held: FromQueryWorker[] | undefined;
  private readonly asked: MemoryAsked | undefined;

  constructor(private readonly given: Given) {
    this.asked = given.host.memory?.asked;
  }

  start(): void {
    const { worker, job, host } = this.given;
    const { asked } = this;
    const task = { ...job.task, timeoutMs: host.timeoutMs };
    worker.on('message', this.onMessage).on('error', this.onError).on('exit', this.onExit);
    job.gone.addEventListener('abort', this.onGone, { once: true });
    // Saves a way there and back: what most may read is the same for everything. The changes that an index in memory needs,
    // and the time that a new thread takes, are only known when it has begun.
    if (asked || !host.loaded.has(worker)) this.post({ task, asked });
    else
      this.answered(job.scope(), (scope) => {
        if (typeof scope !== 'string') return this.post({ task });
        this.presumed = scope;
        this.begun();
        this.post({ task, scope });
      });
  }

  /** Holds back what a presumed scope has led to, until the scope, asked again, is the same. */
  private readonly onMessage = (message: FromQueryWorker): void => {
    if (this.presumed === undefined) this.handle(message);
    else if (this.held) this.held.push(message);
    else {
      const held = [message];
      this.held = held;
      this.answered(this.given.job.scope(), (scope) => {
        if (scope !== this.presumed) return this.kill(interrupted());
        this.presumed = undefined;
        for (const each of held) this.handle(each);
      });
    }
  };

  private readonly onError = (error: Error & { code?: string }): void => {
    this.failure ??= error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? outOfMemory(error) : interrupted(error);
  };

  private readonly onExit = (): void => this.settle(this.failure ?? interrupted(), false);

  private readonly onGone = (): void => this.kill(gone());

  private handle(message: FromQueryWorker): void {
    const { worker, job, host } = this.given;
    if ('ready' in message) {
      this.begun();
      const { asked } = this;
      this.answered(job.scope(), (scope) =>
        this.post({ scope, changes: asked && host.memory?.changes(worker, asked) }),
      );
    } else if ('chunk' in message) this.take(message);
    else if ('decide' in message) {
      const { id, iris, purpose } = message.decide;
      this.answered(job.decide(iris, purpose), (answers) => this.post({ decided: { id, answers } }));
    } else if ('service' in message) {
      const { id, ...call } = message.service;
      this.calls ??= new AbortController();
      this.answered(job.callService(call, this.calls.signal), (answer) => this.post({ serviced: { id, answer } }));
    } else this.settle(refusalOf(message.fault), true);
  }

  private begun(): void {
    const { worker, host } = this.given;
    host.loaded.add(worker);
    this.deadline = setTimeout(() => this.kill(timeout(host)), host.timeoutMs);
  }

  private take({ chunk, mediaType, isLast }: Extract<FromQueryWorker, { chunk: unknown }>): void {
    if (mediaType !== undefined && isLast)
      this.given.resolve({ mediaType, body: Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength) });
    else {
      if (mediaType !== undefined) this.begin(mediaType);
      this.untaken++;
      if (this.body!.push(chunk) && !isLast) this.tellTaken();
    }
    if (isLast) this.settle(undefined, true);
  }

  private begin(mediaType: string): void {
    const body = new Readable({
      read: () => this.tellTaken(),
      highWaterMark: 256 << 10,
      // A client that goes away ends its query.
      destroy: (error, done) => {
        if (!this.settled) this.kill(gone());
        done(error);
      },
    });
    body.on('error', () => {});
    this.body = body;
    this.given.resolve({ mediaType, body });
  }

  private tellTaken(): void {
    for (; this.untaken > 0 && !this.settled; this.untaken--) this.post({ more: true });
  }

  private post(message: ToQueryWorker): void {
    this.given.worker.postMessage(message);
  }

  /** What the worker waits for, unless the query has ended meanwhile. */
  private answered<T>(promise: Promise<T>, tell: (value: T) => void): void {
    promise.then(
      (value) => this.settled || tell(value),
      (cause: unknown) => this.kill(new LwsError('query-limit', 'The query was interrupted.', { cause })),
    );
  }

  /** A thread ends when it has done what cannot be interrupted; nobody waits for that. */
  private kill(error: LwsError): void {
    void endThread(this.given.worker);
    this.settle(error, false);
  }

  private settle(error: unknown, reuse: boolean): void {
    if (this.settled) return;
    this.settled = true;
    const { worker, job, host, reject } = this.given;
    this.calls?.abort();
    job.gone.removeEventListener('abort', this.onGone);
    clearTimeout(this.deadline);
    worker.off('message', this.onMessage).off('error', this.onError).off('exit', this.onExit);
    if (error === undefined) this.body?.push(null);
    // After the first byte only a broken connection says that the answer is not whole.
    else if (this.body) this.body.destroy(error as Error);
    else reject(error);
    host.ended(reuse);
  }
}
