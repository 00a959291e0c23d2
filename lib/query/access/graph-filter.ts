/** Decides which graphs a pattern can read: those of the dataset that the caller may read are open, others are closed. */
import { only as alone, type IriRange, unionOfRanges } from '../../storage/keys/iri-ranges.js';
import { allGraphs, type ReadableGraphs } from './readable-graphs.js';
import { isIri, type TermKey } from './terms.js';

/** The graphs of a dataset. */
export interface DatasetGraphs {
  readonly readable: ReadableGraphs;
  /** Graphs whose union is the default graph (default: all). */
  readonly defaultGraphs?: readonly string[];
  /** Graphs that GRAPH ranges over (default: all). */
  readonly namedGraphs?: readonly string[];
}

/** The part of the dataset that a pattern is matched in: the union default graph, or the named graphs. */
export type DatasetPart = 'union' | 'named';

export interface GraphFilter {
  /** True if every graph is readable. */
  readonly all: boolean;
  /** All graphs of this part of the dataset, if it names at most `maxFew`. They are looked up one by one. */
  readonly few: readonly string[] | undefined;
  /** Graphs with names outside of these ranges are closed. `undefined`: no ranges are known, each graph must be decided. */
  readonly ranges: readonly IriRange[] | undefined;
  /** True if every existing graph in the ranges is open. */
  readonly isExact: boolean;
  /** Returns true if a graph is open, and `undefined` if the authorizer must be asked first. */
  isOpen(graph: TermKey): boolean | undefined;
  /** Asks the authorizer to decide the undecided graphs. */
  ask(graphs: readonly TermKey[]): Promise<void>;
  /** Like `ask`, for bound graphs, before any of their keys is read. Returns `undefined` if the graphs are already decided. */
  decide(graphs: Iterable<TermKey>): Promise<void> | undefined;
}

/**
 * Returns a name that no graph has. Lookups use it in place of an unreadable graph, so that the query runs the same steps as for a
 * nonexistent graph and its duration does not reveal unreadable graphs.
 */
export const nameOfNone = (graph: TermKey): TermKey => `${graph}\u0001`;

/** Maximum number of graphs for which one lookup per graph costs less than one scan over all graphs. */
const maxFew = 64;

const unfiltered: GraphFilter = {
  all: true,
  few: undefined,
  ranges: undefined,
  isExact: false,
  isOpen: () => true,
  ask: async () => {},
  decide: () => undefined,
};

export function graphFilter({ readable, defaultGraphs, namedGraphs }: DatasetGraphs, part: DatasetPart): GraphFilter {
  const names = part === 'union' ? defaultGraphs : namedGraphs;
  if (!names && readable === allGraphs) return unfiltered;
  const only = names && new Set(names);
  const isOpen = (graph: TermKey): boolean | undefined =>
    only && !only.has(graph) ? false : readable.all || readable.known(graph);
  let ranges: readonly IriRange[] | undefined;
  return {
    all: readable.all && !only,
    few: only && only.size <= maxFew ? [...only] : undefined,
    get ranges() {
      ranges ??= names ? unionOfRanges(names.map(alone)) : readable.ranges;
      return ranges;
    },
    isExact: !names && readable.isExact === true,
    isOpen,
    ask: (graphs) => readable.resolve(graphs),
    decide(graphs) {
      const open = [...new Set(graphs)].filter((graph) => isIri(graph) && isOpen(graph) === undefined);
      return open.length > 0 ? readable.resolve(open) : undefined;
    },
  };
}
