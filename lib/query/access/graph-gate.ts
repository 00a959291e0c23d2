/**
 * Which graphs a pattern may look into: those that the caller may read, of those that the dataset has. It must not know keys or queries.
 */
import type { ReadableGraphs } from './readable-graphs.js';
import type { Token } from './terms.js';

/** The graphs of a dataset. */
export interface DatasetGraphs {
  readonly readable: ReadableGraphs;
  /** The graphs that the default graph is the union of; absent: all. */
  readonly defaultGraphs?: readonly string[];
  /** The graphs that GRAPH ranges over; absent: all. */
  readonly namedGraphs?: readonly string[];
}

/** The part of the dataset that a pattern is matched in: the union default graph, or the named graphs. */
export type DatasetPart = 'union' | 'named';

export interface GraphGate {
  /** Every graph is open. */
  readonly all: boolean;
  /** The only graphs, when they are few enough to be looked into one by one. */
  readonly few: readonly string[] | undefined;
  /** `undefined` when it has to be asked for. */
  isOpen(graph: Token): boolean | undefined;
  /** Asks for those that are not known. */
  ask(graphs: readonly Token[]): Promise<void>;
}

/** So many lookups cost less than a look at everything. */
const mostFew = 64;

export function graphGate({ readable, defaultGraphs, namedGraphs }: DatasetGraphs, part: DatasetPart): GraphGate {
  const names = part === 'union' ? defaultGraphs : namedGraphs;
  const only = names && new Set(names);
  return {
    all: readable.all && !only,
    few: only && only.size <= mostFew ? [...only] : undefined,
    isOpen: (graph) => (only && !only.has(graph) ? false : readable.all || readable.known(graph)),
    ask: (graphs) => readable.resolve(graphs),
  };
}
