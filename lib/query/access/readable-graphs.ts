/**
 * Determines which graphs a query can read: graphs of resources that the caller may read, within a subtree if the query is
 * limited to one. Each graph is decided once per query, before its keys are read.
 */

import type { StagedNames } from '../../storage/graphs/staged-keys.js';
import { clipped, type IriRange, isInRanges, only, subtree, unionOfRanges } from '../../storage/keys/iri-ranges.js';
import { readRecord, recordKey } from '../../storage/keys/records.js';
import type { Level, LevelSnapshot } from '../../storage/level/durable-level.js';
import { linksetEnd, rememberedGraphRanges } from './graph-ranges.js';

/** Resources that the caller may read: in the ranges, and of the owner. `decide`: the authorizer decides each resource. */
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
  /** Graphs that are being written or deleted (`stagedGraphs`). The store may contain their keys, which queries do not read. */
  readonly hidden?: Pick<StagedNames, 'has' | 'size'>;
  /** IRIs of the resources of the scope's owner, in order. Absent: the records are searched for them. */
  readonly owned?: readonly string[] | undefined;
  /** Asks the authorizer, which runs in another thread, whether the caller may read resources. */
  readonly decide: (iris: readonly string[]) => Promise<readonly boolean[]>;
}

export interface ReadableGraphs {
  /** True if every graph is readable, so that the authorizer is not needed. */
  readonly all: boolean;
  // Not a getter: V8 keeps the getter of an object literal, and all it refers to, until the next full collection.
  /** Returns ranges outside of which no graph is readable. Absent or `undefined`: each graph must be decided. */
  ranges?(): readonly IriRange[] | undefined;
  /** True if every existing graph in the ranges is readable. */
  readonly isExact?: boolean;
  /** True if `known` decides every graph without the authorizer. */
  readonly isDecided?: boolean;
  /** Returns whether a graph is readable, or `undefined` if the authorizer must be asked first. */
  known(graph: string): boolean | undefined;
  /** Asks the authorizer to decide graphs for which `known` returned `undefined`. */
  resolve(graphs: readonly string[]): Promise<void>;
}

/** Returns the resource whose permissions apply to a graph. For the graph of a linkset, returns the described resource. */
export const resourceOf = (graph: string): string =>
  graph.endsWith(linksetEnd) ? graph.slice(0, -linksetEnd.length) : graph;

/** Returns the ranges that contain all readable resources, if known. `isExact`: all resources in the ranges are readable. */
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
    isDecided: readable.isDecided ?? false,
    ranges: () => readable.ranges?.(),
    known: (graph) => (hidden.has(graph) ? false : readable.known(graph)),
    resolve: (graphs) => readable.resolve(graphs.filter((graph) => !hidden.has(graph))),
  };
}

/** Readable graphs of a caller that can read all. Shared, since creating the object and its filters takes 5 µs per query. */
export const allGraphs: ReadableGraphs = {
  all: true,
  isExact: false,
  isDecided: false,
  known: () => true,
  resolve: async () => {},
};

function readableOf(options: ReadableGraphsOptions): ReadableGraphs {
  const { level, snapshot, scope, within, decide } = options;
  if (scope === 'everything' && within === undefined) return allGraphs;
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
    all: false,
    isExact,
    isDecided: isExact,
    ranges() {
      ranges ??= resources && rememberedGraphRanges(resources);
      return ranges;
    },
    known,
    async resolve(graphs) {
      const open = [...new Set(graphs.map(resourceOf))].filter((iri) => known(iri) === undefined);
      if (open.length === 0) return;
      const answers = await decide(open);
      for (const [index, iri] of open.entries()) decided.set(iri, answers[index] === true);
    },
  };
}
