/** Reads graphs in an earlier state, as the last layer of a dataset. A component with versions provides the content. */
import type { KeyDifference } from '../storage/keys/graph-changes.js';
import { isInRanges } from '../storage/keys/iri-ranges.js';
import { LwsError, tooBusy } from '../tools/errors.js';
import type { PastEmpty } from './access/empty-graphs.js';
import type { ReadableGraphs } from './access/readable-graphs.js';
import type { DatasetOptions } from './dataset.js';
import { changedTriples, type OtherGraphs, withoutGraphs } from './memory/changed-triples.js';
import { type GraphTriples, readTriples } from './memory/index-data.js';
import { type MemoryView, withGraphs } from './memory/memory-layers.js';
import { TableFullError } from './memory/term-table.js';

/** Earlier state to query: a position of the change log. Plain data, which can be sent to query threads. */
export interface PastTask {
  readonly position: number;
  /** URL of a module that exports `pastGraphs` of the type `ReadPast`. */
  readonly module: string;
}

/** State of a resource that ended after the position: the resource was changed or deleted. */
export interface PastFact {
  readonly iri: string;
  readonly ended: number;
  readonly owner: string | undefined;
}

export interface PastContext extends Pick<DatasetOptions, 'level' | 'snapshot' | 'readable'> {
  /** Like `readable`, but includes graphs whose earlier content is being removed. */
  readonly permitted: ReadableGraphs;
  readonly position: number;
  /** Root IRI of the storage. */
  readonly storage: string;
  /** Resource or container to which the query is limited. */
  readonly within: string | undefined;
  /** Graphs that the query names. `undefined` if the query may read other graphs. */
  readonly names: ReadonlySet<string> | undefined;
  /** Returns for each state whether the caller may read it. The resources are readable for the caller, or deleted. */
  readonly admits: (states: readonly PastFact[]) => Promise<readonly boolean[]>;
  /** Function that is called between steps. Throws to stop. */
  readonly assertTime: () => void;
  /** Creates an error for the client. The module cannot create it, because a bundled thread has another copy of the class. */
  readonly refusal: (code: 'not-found' | 'too-complex' | 'too-busy', message: string) => Error;
}

/** GSPO keys of a graph in the earlier state. */
export interface PastContent extends AsyncIterable<readonly string[]> {
  /** Returns the difference from the present graph, or `undefined` if all keys must be read. */
  difference(): Promise<KeyDifference | undefined>;
}

/** Content and names of graphs in the earlier state. */
export interface PastGraphs extends PastEmpty {
  /** Content of graphs that have changed since and that the caller may read, by IRI. */
  readonly graphs: ReadonlyMap<string, PastContent>;
  /** Other graphs that have changed since, which are omitted. Absent: `isUnchanged` decides for each graph. */
  readonly others: OtherGraphs | undefined;
  /** To be called when all graphs have been read. */
  close(): Promise<void>;
}

export type ReadPast = (context: PastContext) => Promise<PastGraphs>;

type Dataset = Pick<DatasetOptions, 'memory' | 'readable'>;

const retrySeconds = 5;
/** Statistics of the present are reused if at most one in this many quads has changed. Statistics affect only the cost. */
const alike = 10;

/**
 * Returns the dataset of an earlier state, restricted to present permissions.
 * @param module URL of the module that exports `pastGraphs`
 * @throws LwsError `too-complex` for too many terms, and errors of `pastGraphs`
 */
export async function datasetThen(
  memory: MemoryView,
  module: string,
  context: Omit<PastContext, 'refusal'>,
): Promise<Dataset & { readonly past: PastEmpty }> {
  const { pastGraphs } = (await import(module)) as { pastGraphs: ReadPast };
  const refusal: PastContext['refusal'] = (code, message) =>
    code === 'too-busy' ? tooBusy(message, retrySeconds) : new LwsError(code, message);
  const past = await pastGraphs({ ...context, refusal });
  try {
    const graphs = new Map<string, () => Promise<GraphTriples>>();
    for (const [graph, content] of past.graphs) graphs.set(graph, () => triplesThen(memory, graph, content));
    const { readable } = context;
    const canMask = memory.known && past.others && (readable.all || readable.isExact);
    if (!canMask || [...graphs.keys()].some((graph) => readable.known(graph) !== true))
      return { memory: await withGraphs(memory, graphs), readable: readableThen(readable, past), past };
    const then = await withGraphs(withoutGraphs(memory, past.others!), graphs);
    const isAlike = readable.all && changedQuads(then) * alike <= memory.layers[0]!.quads.count;
    return { memory: isAlike ? Object.assign({ known: memory.known }, then) : then, readable, past };
  } catch (error) {
    if (!(error instanceof TableFullError)) throw error;
    throw new LwsError(
      'too-complex',
      'The graphs that have changed since then have too many terms. Name fewer graphs.',
    );
  } finally {
    await past.close();
  }
}

/** Returns the count of quads that are outdated in the base, or added by the last layer. */
function changedQuads({ layers }: MemoryView): number {
  const { quads, masked } = layers[0]!;
  let count = layers.at(-1)!.quads.count;
  for (let graph = masked?.indexOf(1) ?? -1; graph >= 0; graph = masked!.indexOf(1, graph + 1))
    count += quads.firstOf(graph + 1) - quads.firstOf(graph);
  return count;
}

/** Returns the triples of a graph in the earlier state. A view without statistics may lack triples: all keys are read. */
async function triplesThen(memory: MemoryView, graph: string, content: PastContent): Promise<GraphTriples> {
  const change = memory.known && (await content.difference());
  return change ? changedTriples(memory, graph, change) : readTriples(content, memory.terms);
}

function readableThen(readable: ReadableGraphs, { graphs, isUnchanged }: PastGraphs): ReadableGraphs {
  let ranges = readable.ranges?.();
  // Graphs of deleted resources are readable for controllers, but may be outside of the ranges.
  for (const graph of graphs.keys()) if (ranges && !isInRanges(ranges, graph)) ranges = undefined;
  return {
    ...{ all: false, isExact: false, isDecided: readable.all || readable.isDecided === true, ranges: () => ranges },
    known: (graph) => graphs.has(graph) || (isUnchanged(graph) && readable.known(graph)),
    resolve: (names) => readable.resolve(names.filter((graph) => !graphs.has(graph) && isUnchanged(graph))),
  };
}
