/** Which graphs a pattern may look into: those that the caller may read, of those that the dataset has. */
import { only as alone, type IriRange, unionOfRanges } from '../../storage/engine/iri-ranges.js';
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

export interface GraphGate {
  /** Every graph is open. */
  readonly all: boolean;
  /** The only graphs, when they are few enough to be looked into one by one. */
  readonly few: readonly string[] | undefined;
  /** Graphs whose names lie outside of these are closed. `undefined`: nobody can say where open ones are. */
  readonly ranges: readonly IriRange[] | undefined;
  /** What lies in the ranges is open, if it exists. */
  readonly isExact: boolean;
  /** `undefined` when it has to be asked for. */
  isOpen(graph: TermKey): boolean | undefined;
  /** Asks for those that are not known. */
  ask(graphs: readonly TermKey[]): Promise<void>;
  /** The same before anything is read of them; there is nothing to wait for when all are known. */
  decide(graphs: Iterable<TermKey>): Promise<void> | undefined;
}

/**
 * The name under which a closed graph is looked for instead of its own: no graph has it, and what is done and awaited is the same
 * as for a graph that does not exist. What cannot be told apart by what it costs need not be told apart later.
 */
export const nameOfNone = (graph: TermKey): TermKey => `${graph}\u0001`;

/** So many lookups cost less than a look at everything. */
const maxFew = 64;

export function graphGate({ readable, defaultGraphs, namedGraphs }: DatasetGraphs, part: DatasetPart): GraphGate {
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
