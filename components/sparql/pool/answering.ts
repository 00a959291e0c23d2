/** Answers a query over one snapshot, in a query thread or, for short queries, in the HTTP thread. Independent of the caller. */

import { readableGraphs } from '../../../lib/query/access/readable-graphs.js';
import type { ServiceCall } from '../../../lib/query/access/service-call.js';
import type { AskOptions } from '../../../lib/query/answers.js';
import { NeedsIndexError } from '../../../lib/query/dataset.js';
import type { MemoryLayers, MemoryView } from '../../../lib/query/memory/memory-layers.js';
import type { TextCall } from '../../../lib/query/parse/text-patterns.js';
import type { PastFact } from '../../../lib/query/past-graphs.js';
import { DamagedSegmentError } from '../../../lib/query/segments/page-file.js';
import { stagedGraphs } from '../../../lib/storage/graphs/staged-keys.js';
import type { Level, LevelSnapshot } from '../../../lib/storage/level/durable-level.js';
import { ownedBy } from '../../../lib/storage/level/owned-entries.js';
import type { RememberedStaged } from '../../../lib/storage/transactions/remembered-staged.js';
import { LwsError } from '../../../lib/tools/errors.js';
import type { Caller } from '../../../lib/tools/threads/worker-host.js';
import type { AnswerPart, AskedTask, Purpose, QueryQuestions, TimeLimit } from './messages.js';
import { catchingUp, interrupted } from './query-errors.js';
import { type QueryRun, runQuery } from './query-execution.js';
import { runUpdate } from './run-update.js';
import { scopeFromMessage } from './scope-message.js';

const encoder = new TextEncoder();

/** Maximum count of changed graphs for which a query updates the index. Above, it reads the graphs that it names instead. */
const fewPending = 100;

/** Maximum number of a caller's own resources to load. With more, each graph is authorized separately. */
const maxOwned = 1000;

export interface QueryHost extends Pick<AskOptions, 'loadEngine' | 'assertTerm'> {
  readonly level: Level;
  readonly layers: MemoryLayers;
  readonly storage: string;
  /** Cache of staged graphs. Absent: staged graphs are read for each query. */
  readonly hidden?: RememberedStaged;
  /** Returns a check that is called between two blocks of rows, and throws when the query must end. */
  limits(limit: TimeLimit): () => void;
}

/** Interface to the thread that sent the query: receives parts of the result, and answers questions. */
export type Asking = Pick<Caller<QueryQuestions, AnswerPart>, 'ask' | 'send' | 'moves'>;

/** Starts a query or an update. */
async function start(
  { level, layers, storage, hidden: remembered, limits, loadEngine, assertTerm }: QueryHost,
  { task, limit, asked, presumed, snapshot }: AskedTask & { readonly snapshot: LevelSnapshot },
  caller: Asking,
): Promise<QueryRun> {
  const hiddenThen = remembered?.of(level, snapshot) ?? (() => stagedGraphs(level, snapshot));
  const decide = async (iris: readonly string[], purpose: Purpose = 'read'): Promise<readonly boolean[]> => {
    const answers = await caller.ask('decide', iris, purpose);
    if (answers.length !== iris.length) throw new Error('The number of decisions differs from the number of graphs.');
    return answers;
  };
  const answer = presumed === undefined ? await caller.ask('scope') : undefined;
  const scope = answer ? scopeFromMessage(answer.scope) : presumed!;
  const changes = answer?.changes;
  if (changes) layers.record(changes);
  const assertTime = limits(limit);
  const memory = async (): Promise<MemoryView | undefined> =>
    asked &&
    changes &&
    (await currentView(layers.view(asked, changes.unsettled, { level, snapshot, check: assertTime })));
  const owner = typeof scope === 'object' ? scope.owner : undefined;
  const owned = owner === undefined ? undefined : await ownedBy({ level, snapshot }, owner, maxOwned);
  const hidden = await hiddenThen();
  const permissions = { level, snapshot, scope, within: task.within, owned, decide };
  const run = {
    level,
    snapshot,
    readable: readableGraphs({ ...permissions, hidden }),
    callService: (call: ServiceCall) => caller.ask('service', call),
    searchTexts: task.hasTextSearch ? (call: TextCall) => caller.ask('texts', call) : undefined,
    assertTime,
    assertTerm,
    loadEngine,
  };
  if (!task.update) {
    const admits = (states: readonly PastFact[]) => caller.ask('past', states);
    const past = task.past && {
      ...{ ...task.past, storage, within: task.within, admits },
      permitted: readableGraphs(permissions),
    };
    // If many graphs have changed, reading the graphs that the query names is faster than updating the index.
    return runQuery(task, { memory, isBehind: layers.pending > fewPending, past, ...run });
  }
  return runUpdate(task, task.update, {
    ...{ ...run, memory: await memory(), hidden, storage },
    decide: scope === 'everything' ? undefined : decide,
  });
}

/** Waits for the view. @throws LwsError `too-busy` if reading changed graphs exceeds a limit: the query is not the cause */
async function currentView(view: Promise<MemoryView | undefined>): Promise<MemoryView | undefined> {
  try {
    return await view;
  } catch (error) {
    if (error instanceof LwsError && error.code === 'query-limit') throw catchingUp(error);
    throw error;
  }
}

/**
 * Answers a query. Returns the last part of the result, so that a small result is one message.
 * @throws NeedsIndexError before the first part, or the error that ends the query
 */
export async function answered(host: QueryHost, given: AskedTask, caller: Asking): Promise<AnswerPart> {
  const snapshot = host.level.snapshot();
  let isSent = false;
  try {
    const { chunks, ...head } = await start(host, { snapshot, ...given }, caller);
    const partOf = (text: string): AnswerPart => ({ chunk: encoder.encode(text), ...head });
    let last: string | undefined;
    for await (const text of chunks) {
      if (last !== undefined) {
        const part = partOf(last);
        await caller.send(part, [part.chunk.buffer]);
        isSent = true;
      }
      last = text;
    }
    const part = partOf(last ?? '');
    caller.moves.push(part.chunk.buffer);
    return part;
  } catch (error) {
    if (!(error instanceof DamagedSegmentError)) throw error;
    await caller.ask('damaged', error.message);
    throw isSent ? interrupted(error) : new NeedsIndexError();
  } finally {
    await snapshot.close();
  }
}
