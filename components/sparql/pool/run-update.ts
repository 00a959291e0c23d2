/**
 * Computes the changes of an update as JSON lines, in a worker thread. The main thread authorizes and writes them.
 */

import type { AskOptions } from '../../../lib/query/answers.js';
import { type GraphUpdate, graphUpdates } from '../../../lib/query/change-set.js';
import { computeUpdate, type UpdateOptions } from '../../../lib/query/graphs-update.js';
import { readGraphsUpdate } from '../../../lib/query/parse/read-update.js';
import { snapshotState } from '../../../lib/query/state-before.js';
import { assertName } from '../../../lib/resources/bulk.js';
import type { StagedNames } from '../../../lib/storage/graphs/staged-keys.js';
import { isContainerIri } from '../../../lib/storage/keys/records.js';
import { slices } from '../../../lib/tools/collections.js';
import { LwsError } from '../../../lib/tools/errors.js';
import type { Purpose, QueryTask } from './messages.js';
import { interrupted } from './query-errors.js';
import type { QueryRun, RunTaskOptions } from './query-execution.js';

export interface UpdateRunOptions
  extends Pick<UpdateOptions, 'readable' | 'assertTime'>,
    Pick<RunTaskOptions, 'level' | 'snapshot'> {
  readonly memory: AskOptions['memory'] | undefined;
  readonly storage: string;
  /** Graphs that are being written or deleted. */
  readonly hidden: StagedNames;
  /** Asks the authorizer. Absent: the caller can read everything. */
  readonly decide: ((iris: readonly string[], purpose: Purpose) => Promise<readonly boolean[]>) | undefined;
}

/** A changed graph, followed by lines with its keys. */
export type UpdateLine =
  | { readonly graph: Omit<GraphUpdate, 'added' | 'removed'> }
  | { readonly added: readonly string[] }
  | { readonly removed: readonly string[] };

const keysOfLine = 200;
/** Maximum characters of the keys of one operation, and of all inserted and deleted keys. */
const [maxMade, maxChanged] = [32 << 20, 16 << 20];

/**
 * Runs an update.
 * @throws LwsError as `readGraphsUpdate`, `computeUpdate` or `assertName`, `bad-request` for an invalid graph, or if both request
 * and update name a dataset
 */
export async function runUpdate(
  task: QueryTask,
  { systemPrefix, defaultGraph }: NonNullable<QueryTask['update']>,
  { storage, hidden, decide, readable, assertTime, ...opened }: UpdateRunOptions,
): Promise<QueryRun> {
  const { query, base, defaultGraphs, namedGraphs } = task;
  const isGiven = defaultGraphs !== undefined || namedGraphs !== undefined;
  const ofDefault = defaultGraph === undefined ? undefined : { iri: defaultGraph, isRead: !isGiven };
  const update = await readGraphsUpdate(query, { base, defaultGraph: ofDefault });
  if (isGiven && update.namesDataset)
    throw new LwsError(
      'bad-request',
      'The dataset is named twice: by using-graph-uri or using-named-graph-uri, and by USING or WITH. Use one of them.',
    );
  const dataset = isGiven ? { defaultGraphs: defaultGraphs ?? [], namedGraphs: namedGraphs ?? [] } : {};
  const graphs = await computeUpdate(update.steps, {
    ...{ ...dataset, readable, assertTime, maxMade, maxChanged },
    state: snapshotState(opened, assertTime),
    maxSolutions: task.maxResults,
    mayKnow: decide && ((iris) => decide(iris, 'know')),
    mayMake: decide && ((iris) => decide(iris, 'make')),
    assertName: (iri) => assertGraph(iri, { rootIri: storage, systemPrefix }, hidden),
  });
  return { mediaType: 'application/x-ndjson', chunks: linesOf(graphUpdates(graphs, update.prefixes)) };
}

/** Asserts that a name is valid for an RDF resource. @throws LwsError */
function assertGraph(
  iri: string,
  names: { readonly rootIri: string; readonly systemPrefix: string },
  hidden: StagedNames,
): void {
  const shown = iri.slice(0, 200);
  try {
    assertName(names, iri);
  } catch (error) {
    if (!(error instanceof LwsError)) throw error;
    const code = error.code === 'not-found' ? 'bad-request' : error.code;
    throw new LwsError(
      code,
      `The graph ${shown} cannot be changed: its name is not valid for a resource of this storage. ${error.message}`,
    );
  }
  if (isContainerIri(iri))
    throw new LwsError('bad-request', `The graph ${shown} cannot be changed: it is the name of a container.`);
  // Reject a graph that is being deleted, because its quads would be visible again.
  if (hidden.has(iri)) throw interrupted();
}

async function* linesOf(graphs: AsyncIterable<GraphUpdate>): AsyncGenerator<string> {
  for await (const { added, removed, after, ...graph } of graphs) {
    yield line({ graph: { ...graph, after: after && { size: after.size } } });
    for (const keys of slices(added, keysOfLine)) yield line({ added: keys });
    for (const keys of slices(removed, keysOfLine)) yield line({ removed: keys });
  }
}

const line = (value: UpdateLine): string => `${JSON.stringify(value)}\n`;
