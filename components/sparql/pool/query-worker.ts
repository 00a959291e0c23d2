/**
 * The thread that queries run in: it opens the server's LevelDB for itself, answers one query at a time, and may be killed
 * at any moment. It must not know who asks.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { LwsError } from '../../../lib/component/basics.js';
import { hiddenGraphs } from '../../../lib/component/graphs.js';
import { openLevel, ownedBy } from '../../../lib/component/level.js';
import { MemoryLayers, type ServiceAnswer, type ServiceCall } from '../../../lib/component/memory.js';
import { checkOf, loadParser, loadQueryEngine, readableGraphs } from '../../../lib/component/query.js';
import type { FromQueryWorker, Purpose, QueryWorkerData, ToQueryWorker } from './messages.js';
import { interrupted, outOfMemory, timeout } from './query-errors.js';
import { runQuery } from './query-execution.js';
import { runUpdate } from './run-update.js';

/** Chunks that may be on their way without the reader having taken them. */
const maxUnderWay = 4;
/** Somebody who owns more than so many resources is asked for graph by graph. */
const maxOwned = 1000;

const port = parentPort!;
const send = (message: FromQueryWorker, transfer: ArrayBuffer[] = []): void => port.postMessage(message, transfer);
const { folder, storage } = workerData as QueryWorkerData;

type Scope = Exclude<Extract<ToQueryWorker, { scope: unknown }>, { task: unknown }>;

/** Those who wait for decisions, by the number of what they asked. */
const asking = new Map<number, (answers: readonly boolean[]) => void>();
/** Those who wait for other endpoints. */
const calling = new Map<number, (answer: ServiceAnswer) => void>();
let asked = 0;
let scoped: ((answer: Scope) => void) | undefined;
let taken: (() => void) | undefined;
let underWay = 0;
const layers = new MemoryLayers();

const opened = Promise.all([openLevel(folder), loadParser(), loadQueryEngine()]);

port.on('message', (message: ToQueryWorker) => {
  if ('decided' in message) {
    const { id, answers } = message.decided;
    asking.get(id)?.(answers);
    asking.delete(id);
  } else if ('serviced' in message) {
    const { id, answer } = message.serviced;
    calling.get(id)?.(answer);
    calling.delete(id);
  } else if ('task' in message) void answer(message);
  else if ('scope' in message) scoped?.(message);
  else if ('base' in message) layers.use(message.base);
  else if ('more' in message) {
    underWay--;
    taken?.();
  } else if ('stop' in message) stop();
});

async function decide(iris: readonly string[], purpose: Purpose = 'read'): Promise<readonly boolean[]> {
  const id = asked++;
  const answers = await new Promise<readonly boolean[]>((resolve) => {
    asking.set(id, resolve);
    send({ decide: { id, iris, purpose } });
  });
  if (answers.length !== iris.length) throw new Error('The decisions are not those that were asked for.');
  return answers;
}

/** This thread opens no sockets. */
const callService = (call: ServiceCall): Promise<ServiceAnswer> =>
  new Promise((resolve) => {
    const id = asked++;
    calling.set(id, resolve);
    send({ service: { id, ...call } });
  });

const askScope = (): Promise<Scope> =>
  new Promise((resolve) => {
    scoped = resolve;
    send({ ready: true });
  });

/** Waits until the reader has room. */
async function room(): Promise<void> {
  while (underWay >= maxUnderWay && !isStopped)
    await new Promise<void>((resolve) => {
      taken = resolve;
    });
  if (isStopped) throw interrupted();
}

/** Nobody waits for this thread any more. */
let isStopped = false;
let isAnswering = false;

function stop(): void {
  isStopped = true;
  taken?.();
  if (!isAnswering) void leave();
}

/** Ends the thread, with nothing left open. */
async function leave(): Promise<void> {
  const [level] = await opened;
  await level.close();
  process.exit();
}

/** What is called between two blocks of rows; throws when the query has to end. */
function limits(timeoutMs: number): () => void {
  const check = checkOf({ timeoutMs, timeout: () => timeout({ timeoutMs }), outOfMemory });
  return () => {
    if (isStopped) throw interrupted();
    check();
  };
}

async function answer({
  task,
  asked: index,
  scope: presumed,
}: Extract<ToQueryWorker, { task: unknown }>): Promise<void> {
  isAnswering = true;
  const [level] = await opened;
  const snapshot = level.snapshot();
  underWay = 0;
  asking.clear();
  calling.clear();
  try {
    const { scope, changes } = presumed === undefined ? await askScope() : { scope: presumed };
    const memory = index && changes && (await layers.view(index, changes, level, snapshot));
    const owner = typeof scope === 'object' ? scope.owner : undefined;
    const owned = owner === undefined ? undefined : await ownedBy({ level, snapshot }, owner, maxOwned);
    const hidden = await hiddenGraphs(level, snapshot);
    const readable = readableGraphs({ level, snapshot, scope, within: task.within, hidden, owned, decide });
    const run = {
      level,
      snapshot,
      readable,
      memory,
      callService,
      assertTime: limits(task.timeoutMs),
    };
    const { mediaType, chunks } = await (task.update
      ? runUpdate(task, task.update, {
          ...run,
          hidden,
          storage,
          decide: scope === 'everything' ? undefined : decide,
        })
      : runQuery(task, run));
    let isFirst = true;
    const write = async (text: string, isLast: boolean): Promise<void> => {
      await room();
      const chunk = new TextEncoder().encode(text);
      underWay++;
      send({ chunk, mediaType: isFirst ? mediaType : undefined, isLast }, [chunk.buffer as ArrayBuffer]);
      isFirst = false;
    };
    // One part is kept back, so that a small answer is one message.
    let last: string | undefined;
    for await (const text of chunks) {
      if (last !== undefined) await write(last, false);
      last = text;
    }
    await write(last ?? '', true);
  } catch (error) {
    const { message, stack } = error as Error;
    send({ fault: { code: error instanceof LwsError ? error.code : undefined, message, stack } });
  } finally {
    await snapshot.close();
    isAnswering = false;
    if (isStopped) await leave();
  }
}
