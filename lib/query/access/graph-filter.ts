/** Decides which graphs a pattern can read ("open"): graphs of the dataset that the caller may read. Others are "closed". */
import { only as alone, type IriRange, unionOfRanges } from '../../storage/keys/iri-ranges.js';
import { allGraphs, type ReadableGraphs } from './readable-graphs.js';
import { isIri, type TermKey } from './terms.js';

/** Graphs of a dataset. */
export interface DatasetGraphs {
  readonly readable: ReadableGraphs;
  /** Graphs whose union is the default graph (default: all). */
  readonly defaultGraphs?: readonly string[];
  /** Graphs that GRAPH ranges over (default: all). */
  readonly namedGraphs?: readonly string[];
}

/** Part of the dataset in which a pattern is matched: the union default graph, or the named graphs. */
export type DatasetPart = 'union' | 'named';

export interface GraphFilter {
  /** True if every graph is readable. */
  readonly all: boolean;
  /** All graphs of this part of the dataset, if at most `maxFew` are named. Each is looked up separately. */
  readonly few: readonly string[] | undefined;
  /** Returns ranges outside of which no graph is readable, or `undefined` if each graph must be decided. */
  ranges(): readonly IriRange[] | undefined;
  /** True if every existing graph in the ranges is readable. */
  readonly isExact: boolean;
  /** Returns whether a graph is readable, or `undefined` if the authorizer must be asked first. */
  isOpen(graph: TermKey): boolean | undefined;
  /** Asks the authorizer to decide graphs that are not decided yet. */
  ask(graphs: readonly TermKey[]): Promise<void>;
  /** Like `ask`, for bound graphs, before their keys are read. Returns `undefined` if all graphs are already decided. */
  decide(graphs: Iterable<TermKey>): Promise<void> | undefined;
}

/**
 * Returns a name that no graph has. Lookups use it in place of an unreadable graph, so that the query runs the same steps as for a
 * nonexistent graph and its duration does not reveal unreadable graphs.
 */
export const nameOfNone = (graph: TermKey): TermKey => `${graph}\u0001`;

/** Maximum count of graphs for which one lookup per graph costs less than a scan over all graphs. */
const maxFew = 64;

const unfiltered: GraphFilter = {
  all: true,
  few: undefined,
  ranges: () => undefined,
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
    ranges() {
      ranges ??= names ? unionOfRanges(names.map(alone)) : readable.ranges?.();
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
