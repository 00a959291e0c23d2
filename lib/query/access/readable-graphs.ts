/**
 * Which graphs of the store exist for the caller: those of resources it may read, of one part of the storage when only that is asked. Each
 * is decided once per query, and only when a query meets it.
 */

import type { Level, LevelSnapshot } from '../../storage/engine/durable-level.js';
import { type IriRange, only, subtree, unionOfRanges } from '../../storage/engine/iri-ranges.js';
import { readRecord, recordKey } from '../../storage/state/records.js';
import { clipped, isInRanges, linksetEnd, rememberedGraphRanges } from './graph-ranges.js';

/** Which graphs the caller may read, as far as it can be said at once. */
export type GraphScope =
  | 'everything'
  | 'nothing'
  | 'decide'
  | { readonly owner?: string; readonly ranges: readonly IriRange[] };

export interface ReadableGraphsOptions {
  readonly level: Level;
  readonly snapshot: LevelSnapshot;
  readonly scope: GraphScope;
  readonly within: string | undefined;
  /** Graphs that are none yet, or none any more (`hiddenGraphs`). */
  readonly hidden?: ReadonlySet<string>;
  /** What the scope's owner owns, in order, when it is known; otherwise the records say it, graph by graph. */
  readonly owned?: readonly string[] | undefined;
  /** Asks the authorizer, which is on another thread. */
  readonly decide: (iris: readonly string[]) => Promise<readonly boolean[]>;
}

export interface ReadableGraphs {
  /** True when every graph is readable, so that none has to be asked for. */
  readonly all: boolean;
  /** Graphs whose names lie outside of these are not readable. Absent: nobody can say where readable ones are. */
  readonly ranges?: readonly IriRange[] | undefined;
  /** What lies in the ranges is readable, if it exists. */
  readonly isExact?: boolean;
  /** At once, when it is known or can be told without asking; otherwise `undefined`. */
  known(graph: string): boolean | undefined;
  /** Decides those that are not known. */
  resolve(graphs: readonly string[]): Promise<void>;
}

/** The graph of a linkset is as readable as the resource that it describes. */
export const resourceOf = (graph: string): string =>
  graph.endsWith(linksetEnd) ? graph.slice(0, -linksetEnd.length) : graph;

/** Where resources lie that may be readable; absent: anywhere. And whether all that lie there are. */
function rangesOf({
  scope,
  within,
  owned,
}: Pick<ReadableGraphsOptions, 'scope' | 'within' | 'owned'>): [ranges?: readonly IriRange[], isExact?: boolean] {
  if (scope === 'nothing') return [[], true];
  const part = within === undefined ? undefined : within.endsWith('/') ? subtree(within) : only(within);
  if (typeof scope !== 'object' || (scope.owner !== undefined && !owned))
    return part ? [[part], scope === 'everything'] : [];
  const own = scope.owner === undefined ? scope.ranges : unionOfRanges([...scope.ranges, ...owned!.map(only)]);
  return [part ? clipped(own, part) : own, true];
}

export function readableGraphs(options: ReadableGraphsOptions): ReadableGraphs {
  const { hidden } = options;
  const readable = readableOf(options);
  if (!hidden || hidden.size === 0) return readable;
  return {
    all: false,
    isExact: false,
    get ranges() {
      return readable.ranges;
    },
    known: (graph) => (hidden.has(graph) ? false : readable.known(graph)),
    resolve: (graphs) => readable.resolve(graphs.filter((graph) => !hidden.has(graph))),
  };
}

function readableOf(options: ReadableGraphsOptions): ReadableGraphs {
  const { level, snapshot, scope, within, decide } = options;
  const decided = new Map<string, boolean>();
  const [resources, isExact = false] = rangesOf(options);
  let ranges: readonly IriRange[] | undefined;
  const isWithin = (iri: string): boolean =>
    within === undefined || iri === within || (within.endsWith('/') && iri.startsWith(within));
  const owns = (iri: string, owner: string): boolean => {
    const value = level.getSync(recordKey(iri), { snapshot });
    return value !== undefined && readRecord(iri, value).owner === owner;
  };
  const judge = (iri: string): boolean | undefined => {
    if (!isWithin(iri)) return false;
    if (typeof scope !== 'object') return undefined;
    return isInRanges(scope.ranges, iri) || (scope.owner !== undefined && owns(iri, scope.owner));
  };
  const known = (graph: string): boolean | undefined => {
    const iri = resourceOf(graph);
    if (isExact) return isInRanges(resources!, iri);
    const found = decided.get(iri);
    if (found !== undefined) return found;
    const judged = judge(iri);
    if (judged !== undefined) decided.set(iri, judged);
    return judged;
  };
  return {
    all: scope === 'everything' && within === undefined,
    isExact,
    get ranges() {
      ranges ??= resources && rememberedGraphRanges(resources);
      return ranges;
    },
    known: scope === 'everything' && within === undefined ? () => true : known,
    async resolve(graphs) {
      const open = [...new Set(graphs.map(resourceOf))].filter((iri) => known(iri) === undefined);
      if (open.length === 0) return;
      const answers = await decide(open);
      for (const [index, iri] of open.entries()) decided.set(iri, answers[index] === true);
    },
  };
}
