/**
 * One query in one thread, from its task to the end of its answer: limits, what the thread asks for, and how fast its answer is
 * taken. It must not know who else waits.
 */
import { Readable } from 'node:stream';
import type { Worker } from 'node:worker_threads';
import { LwsError } from '../../../lib/errors.js';
import type { GraphScope } from '../../../lib/query/access/readable-graphs.js';
import type { ServiceAnswer, ServiceCall } from '../../../lib/query/access/service-call.js';
import type { MemoryIndex } from '../../../lib/query/memory/memory-index.js';
import type { FromQueryWorker, QueryTask, ToQueryWorker } from './messages.js';
import { gone, interrupted, outOfMemory, refusalOf, timeout } from './query-errors.js';

export interface QueryJob {
  readonly task: QueryTask;
  /** Whose query it is. */
  readonly client: string;
  /** What the client may read; asked, or asked again, when the worker has its snapshot. */
  readonly scope: () => Promise<GraphScope>;
  /** Aborts when the client goes away. */
  readonly gone: AbortSignal;
  /** Answers what the worker cannot decide. */
  readonly decide: (iris: readonly string[]) => Promise<readonly boolean[]>;
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
export function askWorker(worker: Worker, job: QueryJob, host: WorkerHost): Promise<QueryAnswer> {
  return new Promise((resolve, reject) => work(worker, job, host, resolve, reject));
}

function work(
  worker: Worker,
  job: QueryJob,
  host: WorkerHost,
  resolve: (answer: QueryAnswer) => void,
  reject: (error: unknown) => void,
): void {
  let body: Readable | undefined;
  let deadline: NodeJS.Timeout | undefined;
  let failure: LwsError | undefined;
  let settled = false;
  /** Chunks that are pushed and not yet taken. */
  let untaken = 0;
  let ended: AbortController | undefined;
  /** The scope that the query has begun with, until it is known to hold still. */
  let presumed: GraphScope | undefined;
  let held: FromQueryWorker[] | undefined;
  const { memory } = host;
  const asked = memory?.asked;
  const post = (message: ToQueryWorker): void => worker.postMessage(message);
  const settle = (error: unknown, reuse: boolean): void => {
    if (settled) return;
    settled = true;
    ended?.abort();
    job.gone.removeEventListener('abort', onGone);
    clearTimeout(deadline);
    worker.off('message', onMessage).off('error', onError).off('exit', onExit);
    if (error === undefined) body?.push(null);
    // After the first byte only a broken connection says that the answer is not whole.
    else if (body) body.destroy(error as Error);
    else reject(error);
    host.ended(reuse);
  };
  // A thread ends when it has done what cannot be interrupted; nobody waits for that.
  const kill = (error: LwsError): void => {
    void worker.terminate();
    settle(error, false);
  };
  const begin = (mediaType: string): void => {
    body = new Readable({
      read: () => tellTaken(),
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
  const tellTaken = (): void => {
    for (; untaken > 0 && !settled; untaken--) post({ more: true });
  };
  const take = (chunk: Uint8Array, isLast: boolean): void => {
    untaken++;
    if (body!.push(chunk) && !isLast) tellTaken();
  };
  /** What the worker waits for, unless the query has ended meanwhile. */
  const answered = <T>(promise: Promise<T>, tell: (value: T) => void): void => {
    promise.then(
      (value) => settled || tell(value),
      (cause: unknown) => kill(new LwsError('query-limit', 'The query was interrupted.', { cause })),
    );
  };
  const onGone = (): void => kill(gone());
  const begun = (): void => {
    host.loaded.add(worker);
    deadline = setTimeout(() => kill(timeout(host)), host.timeoutMs);
  };
  /** Holds back what a presumed scope has led to, until the scope, asked again, is the same. */
  const onMessage = (message: FromQueryWorker): void => {
    if (presumed === undefined) handle(message);
    else if (held) held.push(message);
    else {
      held = [message];
      answered(job.scope(), (scope) => {
        if (scope !== presumed) return kill(interrupted());
        presumed = undefined;
        for (const each of held!) handle(each);
      });
    }
  };
  const handle = (message: FromQueryWorker): void => {
    if ('ready' in message) {
      begun();
      answered(job.scope(), (scope) => post({ scope, changes: asked && memory?.changes(worker, asked) }));
    } else if ('chunk' in message) {
      const { chunk, mediaType, isLast } = message;
      if (mediaType !== undefined && isLast)
        resolve({ mediaType, body: Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength) });
      else {
        if (mediaType !== undefined) begin(mediaType);
        take(chunk, isLast);
      }
      if (isLast) settle(undefined, true);
    } else if ('decide' in message) {
      const { id, iris } = message.decide;
      answered(job.decide(iris), (answers) => post({ decided: { id, answers } }));
    } else if ('service' in message) {
      const { id, ...call } = message.service;
      ended ??= new AbortController();
      answered(job.callService(call, ended.signal), (answer) => post({ serviced: { id, answer } }));
    } else settle(refusalOf(message.fault), true);
  };
  const onError = (error: Error & { code?: string }): void => {
    failure ??= error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? outOfMemory(error) : interrupted(error);
  };
  const onExit = (): void => settle(failure ?? interrupted(), false);
  worker.on('message', onMessage).on('error', onError).on('exit', onExit);
  job.gone.addEventListener('abort', onGone, { once: true });
  // Saves a way there and back: what most may read is the same for everything. The changes that an index in memory needs,
  // and the time that a new thread takes, are only known when it has begun.
  if (asked || !host.loaded.has(worker)) post({ task: job.task, asked });
  else
    answered(job.scope(), (scope) => {
      if (typeof scope !== 'string') return post({ task: job.task });
      presumed = scope;
      begun();
      post({ task: job.task, scope });
    });
}
