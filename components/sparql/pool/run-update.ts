/**
 * What an update would change, as lines of JSON: it is computed in a worker, which writes nothing, and written by the thread that has
 * the store. It must not know who asks.
 */
import { LwsError } from '../../../lib/component/basics.js';
import { isContainerIri } from '../../../lib/component/entries.js';
import { defaultTurtle, isLargeGraph, sortKeys } from '../../../lib/component/graphs.js';
import {
  type ChangedGraph,
  type ChangedGraphs,
  computeUpdate,
  type GraphsUpdateOptions,
  readGraphsUpdate,
} from '../../../lib/component/query.js';
import { assertName, type GraphUpdate } from '../../../lib/component/resources.js';
import { boundedPrefixes } from '../../../lib/component/writers.js';
import type { Purpose, QueryTask } from './messages.js';
import { interrupted } from './query-errors.js';
import type { QueryRun } from './query-execution.js';

export interface UpdateRunOptions
  extends Omit<GraphsUpdateOptions, 'assertName' | 'mayKnow' | 'mayMake' | 'maxSolutions'> {
  readonly storage: string;
  /** Graphs that are being written, or removed. */
  readonly hidden: ReadonlySet<string>;
  /** Asks the authorizer; absent: the caller may read everything. */
  readonly decide: ((iris: readonly string[], purpose: Purpose) => Promise<readonly boolean[]>) | undefined;
}

/** A graph that is changed; lines of its keys follow. */
export type UpdateLine =
  | { readonly graph: Omit<GraphUpdate, 'added' | 'removed'> }
  | { readonly added: readonly string[] }
  | { readonly removed: readonly string[] };

const keysOfLine = 200;
/** Triples of all graphs that are changed and are written anew for it. */
const maxRewritten = 500_000;

/**
 * Runs an update.
 * @throws LwsError as `readGraphsUpdate`, `computeUpdate`, `assertName`; `bad-request` for a graph that is none, and where both the request
 *   and the update name a dataset
 */
export async function runUpdate(
  task: QueryTask,
  { systemPrefix }: NonNullable<QueryTask['update']>,
  { storage, hidden, decide, ...options }: UpdateRunOptions,
): Promise<QueryRun> {
  const { query, base, defaultGraphs, namedGraphs } = task;
  const update = await readGraphsUpdate(query, base);
  const isGiven = defaultGraphs !== undefined || namedGraphs !== undefined;
  if (isGiven && update.namesDataset)
    throw new LwsError(
      'bad-request',
      'The request has using-graph-uri or using-named-graph-uri, and the update has USING or WITH. It can be one of them.',
    );
  const dataset = isGiven ? { defaultGraphs: defaultGraphs ?? [], namedGraphs: namedGraphs ?? [] } : {};
  const graphs = await computeUpdate(update.steps, {
    ...options,
    ...dataset,
    maxSolutions: task.maxResults,
    mayKnow: decide && ((iris) => decide(iris, 'know')),
    mayMake: decide && ((iris) => decide(iris, 'make')),
    assertName: (iri) => assertGraph(iri, { rootIri: storage, systemPrefix }, hidden),
  });
  return { mediaType: 'application/x-ndjson', chunks: linesOf(graphs, update.prefixes) };
}

/** @throws LwsError for what is no name of an RDF resource */
function assertGraph(
  iri: string,
  names: { readonly rootIri: string; readonly systemPrefix: string },
  hidden: ReadonlySet<string>,
): void {
  const shown = iri.slice(0, 200);
  try {
    assertName(names, iri);
  } catch (error) {
    if (!(error instanceof LwsError)) throw error;
    const code = error.code === 'not-found' ? 'bad-request' : error.code;
    throw new LwsError(
      code,
      `The graph ${shown} cannot be changed: graphs are resources of this storage. ${error.message}`,
    );
  }
  if (isContainerIri(iri))
    throw new LwsError('bad-request', `The graph ${shown} cannot be changed: it has the name of a container.`);
  // What is being removed there would be found again.
  if (hidden.has(iri)) throw interrupted();
}

async function* linesOf(graphs: ChangedGraphs, prefixes: Readonly<Record<string, string>>): AsyncGenerator<string> {
  let rewritten = 0;
  for (const graph of graphs.all) {
    const isRewritten = graph.exists && !isPart(graph);
    if (isRewritten) rewritten += Math.max(graph.triples, graph.before?.triples ?? 0);
    if (rewritten > maxRewritten)
      throw new LwsError('too-complex', 'The graphs that the update changes are too large together. Split it.');
    yield line({ graph: await described(graphs, graph, prefixes) });
    for (const added of inLines(graph.added)) yield line({ added });
    for (const removed of inLines(graph.removed)) yield line({ removed });
  }
}

/** Keys in order, a few at a time. */
function* inLines(keys: ReadonlySet<string>): Generator<readonly string[]> {
  const all = sortKeys([...keys]);
  for (let at = 0; at < all.length; at += keysOfLine) yield all.slice(at, at + keysOfLine);
}

const line = (value: UpdateLine): string => `${JSON.stringify(value)}\n`;

const isPart = ({ before, isCleared, triples }: ChangedGraph): boolean =>
  !isCleared && isLargeGraph(before?.triples ?? 0) && isLargeGraph(triples);

async function described(
  graphs: ChangedGraphs,
  graph: ChangedGraph,
  given: Readonly<Record<string, string>>,
): Promise<Omit<GraphUpdate, 'added' | 'removed'>> {
  const { iri, before, needs, exists, isCleared, triples } = graph;
  const prefixes = boundedPrefixes({ ...given, ...before?.prefixes });
  const isSame = isUnchanged(graphs, graph);
  const size = exists && !isSame && !isPart(graph) ? await sizeOf(graphs, iri, prefixes) : 0;
  return { iri, revision: before?.revision ?? null, needs, exists, isCleared, isSame, triples, size, prefixes };
}

/** Whether a graph holds afterwards what it held before. */
function isUnchanged(graphs: ChangedGraphs, graph: ChangedGraph): boolean {
  const { before, exists, isCleared, added, removed } = graph;
  if (exists !== (before?.kind === 'rdf')) return false;
  if (!exists || !isCleared) return added.size + removed.size === 0;
  if (added.size !== before!.triples) return false;
  for (const key of added) if (!graphs.had(graph, key)) return false;
  return true;
}

/** Bytes of the default Turtle. */
async function sizeOf(graphs: ChangedGraphs, iri: string, prefixes: Readonly<Record<string, string>>): Promise<number> {
  const keys: string[] = [];
  for await (const block of graphs.keysOf(iri)) for (const key of block) keys.push(key);
  return defaultTurtle({ keys: sortKeys(keys) }, iri, prefixes).size;
}
