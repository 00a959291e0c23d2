/**
 * The thread that queries run in: it opens the server's LevelDB for itself, answers one query at a time, and may be ended
 * at any moment. It must not know who asks.
 */
import { hiddenGraphs } from '../../../lib/component/graphs.js';
import { type Level, type LevelSnapshot, openLevel, ownedBy } from '../../../lib/component/level.js';
import { type MemoryBase, MemoryLayers, type ServiceCall } from '../../../lib/component/memory.js';
import { checkOf, loadParser, loadStockEngine, NeedsIndexError, readableGraphs } from '../../../lib/component/query.js';
import { assertWanted, type Caller, hold, serve, threadData } from '../../../lib/component/serve.js';
import type { AnswerPart, AskedTask, Purpose, QueryQuestions, QueryThreadData, TimeLimit } from './messages.js';
import { interrupted, outOfMemory, timeout } from './query-errors.js';
import { type QueryRun, runQuery } from './query-execution.js';
import { runUpdate } from './run-update.js';

/** Somebody who owns more than so many resources is asked for graph by graph. */
const maxOwned = 1000;
/** A query that needs the index begins again when it is there, and again where a later one has come meanwhile. */
const maxAttempts = 5;

const { folder, storage } = threadData as QueryThreadData;
const layers = new MemoryLayers();
const opened = hold(() => openLevel(folder));

/** What is called between two blocks of rows; throws when the query has to end. */
function limits(limit: TimeLimit): () => void {
  const check = checkOf({ timeoutMs: limit.timeoutMs, timeout: () => timeout(limit), outOfMemory });
  return () => {
    assertWanted();
    check();
  };
}

interface Opened {
  readonly level: Level;
  readonly snapshot: LevelSnapshot;
}

/** Begins a query, or an update. */
async function start(
  { level, snapshot }: Opened,
  { task, limit, asked, presumed }: AskedTask,
  caller: Caller<QueryQuestions, AnswerPart>,
): Promise<QueryRun> {
  const decide = async (iris: readonly string[], purpose: Purpose = 'read'): Promise<readonly boolean[]> => {
    const answers = await caller.ask('decide', iris, purpose);
    if (answers.length !== iris.length) throw new Error('The decisions are not those that were asked for.');
    return answers;
  };
  const { scope, changes } =
    presumed === undefined ? await caller.ask('scope') : { scope: presumed, changes: undefined };
  const memory = asked && changes && (await layers.view(asked, changes, level, snapshot));
  const owner = typeof scope === 'object' ? scope.owner : undefined;
  const owned = owner === undefined ? undefined : await ownedBy({ level, snapshot }, owner, maxOwned);
  const hidden = await hiddenGraphs(level, snapshot);
  const run = {
    level,
    snapshot,
    readable: readableGraphs({ level, snapshot, scope, within: task.within, hidden, owned, decide }),
    memory,
    callService: (call: ServiceCall) => caller.ask('service', call),
    assertTime: limits(limit),
    loadEngine: loadStockEngine,
  };
  if (!task.update) return runQuery(task, run);
  return runUpdate(task, task.update, {
    ...run,
    hidden,
    storage,
    decide: scope === 'everything' ? undefined : decide,
  });
}

const functions = {
  /** The index in memory from here on; `undefined`: there is none. */
  use(base: MemoryBase | undefined): void {
    layers.use(base);
  },

  /** One part is kept back and is the answer, so that a small one is one message. */
  async answer(given: AskedTask, caller: Caller<QueryQuestions, AnswerPart>): Promise<AnswerPart> {
    for (let attempt = 0; attempt < maxAttempts; attempt++)
      try {
        return await answered(given, caller);
      } catch (error) {
        if (!(error instanceof NeedsIndexError)) throw error;
        // The snapshot has to be later than what the index knows of changes.
        given = { ...given, asked: await caller.ask('index'), presumed: undefined };
      }
    throw interrupted();
  },
};

/** @throws NeedsIndexError before anything is sent */
async function answered(given: AskedTask, caller: Caller<QueryQuestions, AnswerPart>): Promise<AnswerPart> {
  const level = await opened;
  const snapshot = level.snapshot();
  try {
    const { mediaType, chunks } = await start({ level, snapshot }, given, caller);
    const partOf = (text: string): AnswerPart => ({ mediaType, chunk: new TextEncoder().encode(text) });
    let last: string | undefined;
    for await (const text of chunks) {
      if (last !== undefined) {
        const part = partOf(last);
        await caller.send(part, [part.chunk.buffer]);
      }
      last = text;
    }
    const part = partOf(last ?? '');
    caller.moves.push(part.chunk.buffer);
    return part;
  } finally {
    await snapshot.close();
  }
}

export type QueryFunctions = typeof functions;

serve(functions, Promise.all([opened, loadParser(), loadStockEngine()]));
