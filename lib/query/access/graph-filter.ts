/** Which graphs a pattern may look into: those of the dataset that the caller may read. They are open, all others are closed. */
import { only as alone, type IriRange, unionOfRanges } from '../../storage/keys/iri-ranges.js';
import type { ReadableGraphs } from './readable-graphs.js';
import { isIri, type TermKey } from './terms.js';

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

export interface GraphFilter {
  /** Every graph is open. */
  readonly all: boolean;
  /** The only graphs of this part of the dataset, when they are few enough (`maxFew`) to be looked up one by one. */
  readonly few: readonly string[] | undefined;
  /** Graphs whose names lie outside of these are closed. `undefined`: no ranges are known, each graph is decided by itself. */
  readonly ranges: readonly IriRange[] | undefined;
  /** Every graph that exists and whose name lies in the ranges is open. */
  readonly isExact: boolean;
  /** `undefined`: not decided yet, the authorizer has to be asked. */
  isOpen(graph: TermKey): boolean | undefined;
  /** Has the authorizer decide those of the graphs that are not decided yet. */
  ask(graphs: readonly TermKey[]): Promise<void>;
  /** The same, for bound graphs before any key of them is read. `undefined`: all are decided already. */
  decide(graphs: Iterable<TermKey>): Promise<void> | undefined;
}

/**
 * A name that no graph has, and that a lookup uses in place of the name of a closed graph. The query then does and awaits the same as for a
 * graph that does not exist, so that its duration does not show whether a closed graph exists.
 */
export const nameOfNone = (graph: TermKey): TermKey => `${graph}\u0001`;

/** Up to so many lookups, one for each graph, cost less than one scan over all graphs. */
const maxFew = 64;

export function graphFilter({ readable, defaultGraphs, namedGraphs }: DatasetGraphs, part: DatasetPart): GraphFilter {
  const names = part === 'union' ? defaultGraphs : namedGraphs;
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
