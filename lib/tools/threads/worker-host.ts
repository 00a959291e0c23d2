/** Worker side of a `Thread`. Imported in worker threads only. */
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort, type Transferable, workerData } from 'node:worker_threads';
import { releaseMemoryWhenIdle } from './idle-memory.js';
import {
  type ArgumentsOf,
  endAt,
  type FromThread,
  type Functions,
  faultOf,
  heldAt,
  type ResultOf,
  type ThreadData,
  type ToThread,
} from './messages.js';

/** Maximum number of unconsumed parts. */
const maxUnderWay = 8;

const port = parentPort!;
const { shared, data, niceness } = workerData as ThreadData;
if (niceness > 0 && process.platform === 'linux')
  try {
    // On Linux, each thread has its own priority.
    setPriority(Number(readlinkSync('/proc/thread-self').split('/')[2]), niceness);
  } catch {
    // Sandboxes may forbid this. The thread then has normal priority.
  }

const post = (message: FromThread, moves: readonly Transferable[] = []): void => port.postMessage(message, moves);

const unwanted = 'The caller of this worker thread has left.';

/** Value of `data` with which the owner created the thread. */
export const threadData: unknown = data;

/** Returns true if the owner has told the thread to end. */
export const isEnding = (): boolean => Atomics.load(shared, endAt) !== 0;

/** Throws if the owner has told the thread to end. Cheap enough for inner loops. */
export function assertWanted(): void {
  if (isEnding()) throw new Error(unwanted);
}

/** Pending calls to the owner, by ID. */
const questions = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
const callers = new Map<number, Caller<never, never>>();
let count = 0;

/** Caller of a function: receives parts of the result, and can be called back. */
export class Caller<Questions, Part> {
  /** Buffers in the result that are transferred instead of copied. */
  readonly moves: Transferable[] = [];
  private underWay = 0;
  private wake: (() => void) | undefined;

  constructor(private readonly call: number) {}

  /** Sends a part without backpressure. */
  tell(part: Part, moves?: readonly Transferable[]): void {
    this.underWay++;
    post({ call: this.call, part }, moves);
  }

  /** Sends a part and resolves when there is room for another part. @throws Error if the thread was told to end */
  async send(part: Part, moves?: readonly Transferable[]): Promise<void> {
    this.tell(part, moves);
    while (this.underWay >= maxUnderWay && !isEnding())
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    assertWanted();
  }

  /** Calls a function of the caller. @throws Error if the thread was told to end */
  async ask<N extends keyof Questions & string>(
    name: N,
    ...given: ArgumentsOf<Questions[N]>
  ): Promise<ResultOf<Questions[N]>> {
    assertWanted();
    const question = ++count;
    const answer = new Promise<unknown>((resolve, reject) => questions.set(question, { resolve, reject }));
    post({ call: this.call, question, name, given });
    return (await answer) as ResultOf<Questions[N]>;
  }

  /** Called when the caller has consumed a part. */
  taken(): void {
    this.underWay--;
    this.wakeUp();
  }

  wakeUp(): void {
    this.wake?.();
  }
}

interface Closable {
  close(): Promise<void>;
}

const held = new Set<Closable>();

/** Opens a resource that must be closed before the thread is killed. @throws Error if the thread was told to end */
export async function acquire<T extends Closable>(open: () => Promise<T>): Promise<T> {
  Atomics.add(shared, heldAt, 1);
  try {
    assertWanted();
    const opened = await open();
    held.add(opened);
    return opened;
  } catch (error) {
    Atomics.sub(shared, heldAt, 1);
    throw error;
  }
}

/** Closes a resource before the thread ends. */
export async function release(opened: Closable): Promise<void> {
  await opened.close();
  if (held.delete(opened)) Atomics.sub(shared, heldAt, 1);
}

/** Serves functions to the owner of the thread. @param opened resolves when their modules are loaded; if it rejects, the thread crashes */
export function serve(functions: Functions, opened: Promise<unknown> = Promise.resolve()): void {
  const leave = async (): Promise<void> => {
    if (callers.size > 0) return;
    await opened;
    for (const each of held) await release(each);
    process.exit();
  };
  const answer = async ({ call, name, given }: Extract<ToThread, { call: number }>): Promise<void> => {
    const caller = new Caller<never, never>(call);
    callers.set(call, caller);
    await opened;
    try {
      const value = await functions[name]!(given as never, caller as never);
      post({ call, value }, caller.moves);
    } catch (error) {
      post({ call, fault: faultOf(error) });
    }
    callers.delete(call);
    if (isEnding()) await leave();
  };
  port.on('message', (message: ToThread) => {
    if ('call' in message) void answer(message);
    else if ('taken' in message) callers.get(message.taken)?.taken();
    else if ('answered' in message) {
      questions.get(message.answered)?.resolve(message.value);
      questions.delete(message.answered);
    } else {
      for (const { reject } of questions.values()) reject(new Error(unwanted));
      for (const caller of callers.values()) caller.wakeUp();
      void leave();
    }
  });
  void opened.then(() => {
    post({ ready: true });
    releaseMemoryWhenIdle();
  });
}
