/**
 * Tasks in worker threads: one message with what is to be done, one with what came out. Long lists of strings travel in parts, because
 * receiving one message blocks the receiver.
 */
import type { TransferListItem, Worker } from 'node:worker_threads';
import { NotBegun } from './worker-job.js';
import type { WorkerPool } from './worker-pool.js';

export interface Task {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** A long list of strings. */
  readonly lines?: readonly string[];
  /** Whose task it is, where clients take turns, and before whom it comes. */
  readonly client?: string | undefined;
  readonly rank?: number | undefined;
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
  /** Spent: what the task has left in the memory of the thread goes with the thread alone. */
  | { readonly value: unknown; readonly isSpent?: boolean }
  | { readonly fault: TaskFault };

export const linesAtATime = 4000;

/**
 * Runs a task in a pool.
 * @param deadlineMs the thread is killed this long after it began on the task
 * @throws TaskFailed when the task throws, TaskAborted when it had to be ended or could not begin
 */
export async function runTask(pool: WorkerPool, task: Task, deadlineMs?: number): Promise<TaskResult> {
  try {
    const { client = '', rank = 0, ...work } = task;
    return await pool.run({
      client,
      rank,
      work: (worker, ended) => askWorker(worker, ended, { task: work, deadlineMs }),
    });
  } catch (error) {
    if (error instanceof NotBegun) throw new TaskAborted(error.why === 'busy' ? 'busy' : 'closed', error);
    throw error;
  }
}

function askWorker(
  worker: Worker,
  ended: (reuse: boolean) => void,
  { task, deadlineMs }: { readonly task: Task; readonly deadlineMs: number | undefined },
): Promise<TaskResult> {
  return new Promise((resolve, reject) => {
    const lines: string[] = [];
    let deadline: NodeJS.Timeout | undefined;
    let aborted: TaskAborted | undefined;
    const settle = (finish: () => void, reuse: boolean): void => {
      clearTimeout(deadline);
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      ended(reuse);
      finish();
    };
    const onMessage = (message: FromWorker): void => {
      if ('lines' in message) for (const line of message.lines) lines.push(line);
      else if ('value' in message) {
        settle(() => resolve({ value: message.value, lines }), !message.isSpent);
        if (message.isSpent) void worker.terminate();
      } else if ('fault' in message) settle(() => reject(new TaskFailed(message.fault)), true);
      else if (deadlineMs !== undefined)
        deadline = setTimeout(() => {
          aborted = new TaskAborted('deadline');
          void worker.terminate();
        }, deadlineMs);
    };
    const onError = (error: Error & { code?: string }): void => {
      aborted = new TaskAborted(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'crash', error);
    };
    const onExit = (): void => settle(() => reject(aborted ?? new TaskAborted('crash')), false);
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    void send(worker, task);
  });
}

async function send(worker: Worker, { lines = [], ...task }: Task): Promise<void> {
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
