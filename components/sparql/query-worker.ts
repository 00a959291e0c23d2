/**
 * The thread that queries run in: it opens the server's LevelDB for itself, answers one query at a time, and may be killed
 * at any moment. It must not know who asks.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { LwsError } from '../../lib/errors.js';
import { openLevel } from '../../lib/storage/durable-level.js';
import { loadEngine, loadParser } from '../../lib/storage/sparql-update.js';
import { type MemoryAsked, MemoryLayers } from './engine/memory/memory-layers.js';
import type { FromQueryWorker, QueryTask, QueryWorkerData, ToQueryWorker } from './messages.js';
import { readableGraphs } from './readable-graphs.js';
import { runQuery } from './run-query.js';

/** Chunks that may be on their way without the reader having taken them. */
const mostUnderWay = 4;

const port = parentPort!;
const send = (message: FromQueryWorker, transfer: ArrayBuffer[] = []): void => port.postMessage(message, transfer);
const { folder } = workerData as QueryWorkerData;

type Scope = Extract<ToQueryWorker, { scope: unknown }>;

/** Those who wait for decisions, by the number of what they asked. */
const asking = new Map<number, (answers: readonly boolean[]) => void>();
let asked = 0;
let scoped: ((answer: Scope) => void) | undefined;
let taken: (() => void) | undefined;
let underWay = 0;
const layers = new MemoryLayers();

const opened = Promise.all([openLevel(folder), loadParser(), loadEngine()]);

port.on('message', (message: ToQueryWorker) => {
  if ('decided' in message) {
    const { id, answers } = message.decided;
    asking.get(id)?.(answers);
    asking.delete(id);
  } else if ('scope' in message) scoped?.(message);
  else if ('base' in message) layers.use(message.base);
  else if ('more' in message) {
    underWay--;
    taken?.();
  } else void answer(message.task, message.asked);
});

async function decide(iris: readonly string[]): Promise<readonly boolean[]> {
  const id = asked++;
  const answers = await new Promise<readonly boolean[]>((resolve) => {
    asking.set(id, resolve);
    send({ decide: { id, iris } });
  });
  if (answers.length !== iris.length) throw new Error('The decisions are not those that were asked for.');
  return answers;
}

const askScope = (): Promise<Scope> =>
  new Promise((resolve) => {
    scoped = resolve;
    send({ ready: true });
  });

/** Waits until the reader has room. */
async function room(): Promise<void> {
  while (underWay >= mostUnderWay)
    await new Promise<void>((resolve) => {
      taken = resolve;
    });
}

async function answer(task: QueryTask, index: MemoryAsked | undefined): Promise<void> {
  const [level] = await opened;
  const snapshot = level.snapshot();
  underWay = 0;
  asking.clear();
  try {
    const { scope, changes } = await askScope();
    const memory = index && changes && (await layers.view(index, changes, level, snapshot));
    const readable = readableGraphs({ level, snapshot, scope, within: task.within, decide });
    const { mediaType, chunks } = await runQuery(task, level, snapshot, readable, memory);
    let started = false;
    for await (const text of chunks) {
      if (!started) send({ mediaType });
      started = true;
      await room();
      const bytes = new TextEncoder().encode(text);
      underWay++;
      send({ chunk: bytes }, [bytes.buffer as ArrayBuffer]);
    }
    if (!started) send({ mediaType });
    send({ end: true });
  } catch (error) {
    const { message, stack } = error as Error;
    send({ fault: { code: error instanceof LwsError ? error.code : undefined, message, stack } });
  } finally {
    await snapshot.close();
  }
}
