/**
 * Query thread: opens the server's LevelDB itself, runs one query at a time, and may be terminated at any moment. Independent
 * of the caller.
 */

import type { AssertTime } from '../../../lib/query/access/quad-matches.js';
import { NeedsIndexError } from '../../../lib/query/dataset.js';
import { checkOf, isWorn } from '../../../lib/query/limits.js';
import { type MemoryBase, MemoryLayers } from '../../../lib/query/memory/memory-layers.js';
import { loadParser } from '../../../lib/query/parse/sparql-parser.js';
import { loadStockEngine } from '../../../lib/query/query-engine.js';
import { openLevel } from '../../../lib/storage/level/durable-level.js';
import {
  acquire,
  assertWanted,
  type Caller,
  release,
  serve,
  threadData,
} from '../../../lib/tools/threads/worker-host.js';
import { answered } from './answering.js';
import type { AnswerPart, AskedTask, QueryQuestions, QueryThreadData, TimeLimit } from './messages.js';
import { interrupted, outOfMemory, timeout } from './query-errors.js';

/** Maximum attempts of a query, which restarts when its index is ready, and again if a newer index exists by then. */
const maxAttempts = 5;

const { folder: first } = threadData as QueryThreadData;
let { storage } = threadData as QueryThreadData;
let layers = new MemoryLayers();
let opened = acquire(() => openLevel(first));

/** Returns a check that is called between two blocks of rows, and throws when the query must end. */
function limits(limit: TimeLimit): AssertTime {
  const check = checkOf({ timeoutMs: limit.timeoutMs, timeout: () => timeout(limit), outOfMemory });
  return (work) => {
    assertWanted();
    check(work);
  };
}

const functions = {
  /** Closes a storage, and opens another one. Later messages concern the new storage. */
  async turnTo({ folder, storage: next }: QueryThreadData): Promise<void> {
    [storage, layers] = [next, new MemoryLayers()];
    opened = opened.then(release).then(() => acquire(() => openLevel(folder)));
    await opened;
  },

  /** Sets the index. @param base `undefined` if there is none */
  use(base: MemoryBase | undefined): void {
    layers.use(base);
  },

  async answer(given: AskedTask, caller: Caller<QueryQuestions, AnswerPart>): Promise<AnswerPart> {
    // End this thread if its memory is exhausted. The client receives 503, and the next query uses another thread.
    if (isWorn()) process.exit(1);
    const level = await opened;
    for (let attempt = 0; attempt < maxAttempts; attempt++)
      try {
        return await answered({ level, layers, storage, limits, loadEngine: loadStockEngine }, given, caller);
      } catch (error) {
        if (!(error instanceof NeedsIndexError)) throw error;
        // The snapshot must be newer than the changes of the index.
        given = { ...given, asked: await caller.ask('index'), presumed: undefined };
      }
    throw interrupted();
  },
};

export type QueryFunctions = typeof functions;

serve(functions, Promise.all([opened, loadParser(), loadStockEngine()]));
