/** The worker thread of `documents.ts`: receives one task at a time and answers it. It has no state and no store. */
import { parentPort, workerData } from 'node:worker_threads';
import { LwsError } from '../errors.js';
import { checkOf } from '../query/limits.js';
import { loadParser } from '../query/parse/sparql-parser.js';
import { loadQueryEngine } from '../query/query-engine.js';
import { type FromWorker, linesAtATime, type Task, type ToWorker } from '../threads/worker-task.js';
import { type PackedDocument, tasks } from './document-tasks.js';
import { endedUpdate } from './documents.js';

const port = parentPort!;
const send = (message: FromWorker, transfer: ArrayBuffer[] = []): void => port.postMessage(message, transfer);
let lines: string[] = [];

port.on('message', (message: ToWorker) => {
  if ('lines' in message) {
    for (const line of message.lines) lines.push(line);
    return;
  }
  const received = lines;
  lines = [];
  void answer(message.task, received);
});

/** Only the worker of updates needs the engine, and its deadline must not pay for loading it. */
const engine = (workerData as { engine?: boolean } | null)?.engine
  ? Promise.all([loadParser(), loadQueryEngine()])
  : undefined;

async function answer({ name, arguments: given }: Omit<Task, 'lines'>, received: string[]): Promise<void> {
  try {
    await engine;
    send({ ready: true });
    const result = await perform(name, { ...given, lines: received } as never);
    // Bytes have a method of that name.
    const keys = result instanceof Uint8Array ? undefined : (result as { keys?: readonly string[] } | undefined)?.keys;
    if (keys) for (let at = 0; at < keys.length; at += linesAtATime) send({ lines: keys.slice(at, at + linesAtATime) });
    const { keys: _sent, ...value } = (keys ? result : { result }) as Record<string, unknown>;
    const buffers = buffersOf(result);
    send({ value: keys ? value : value['result'], isSpent: buffers.length > 0 }, buffers);
  } catch (error) {
    const { message, stack } = error as Error;
    send({ fault: { code: error instanceof LwsError ? error.code : undefined, message, stack } });
  }
}

/** A packed graph moves instead of being copied. */
function buffersOf(result: unknown): ArrayBuffer[] {
  const { packed } = (result ?? {}) as Partial<PackedDocument>;
  return (packed?.chunks ?? []).flatMap(({ lengths, text }) => [lengths.buffer, text.buffer]);
}

/** Ends an update by itself before its thread has to be killed. */
const updateCheck = ({ timeoutMs }: { timeoutMs: number }): (() => void) =>
  checkOf({ timeoutMs, timeout: () => endedUpdate(), outOfMemory: () => endedUpdate() });

function perform(name: string, given: never): unknown {
  switch (name) {
    case 'parse':
      return tasks.parseLarge(given);
    case 'render':
      return tasks.render(given);
    case 'checkJson':
      return tasks.checkJson(given);
    case 'patchJson':
      return tasks.patchJson(given);
    case 'readChange':
      return tasks.readChange(given);
    case 'update':
      return tasks.update({ ...(given as object), assertTime: updateCheck(given) } as never);
    default:
      throw new Error(`No task is called ${name}.`);
  }
}
