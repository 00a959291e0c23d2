/** The caller's dataset with the graphs that an update has made, which it may read within that update: they hold what it inserted. */
import { only, unionOfRanges } from '../storage/engine/iri-ranges.js';
import type { EmptyGraphs } from './access/empty-graphs.js';
import { type DatasetGraphs, graphGate } from './access/graph-gate.js';
import type { ReadableGraphs } from './access/readable-graphs.js';
import type { ChangedGraph, ChangedGraphs } from './changed-graphs.js';

export interface ChangedDataset {
  readonly dataset: DatasetGraphs;
  /** The graphs without a triple, as they are now. @param before as they were */
  changedEmpty(before: EmptyGraphs): EmptyGraphs;
}

export function withChanges(
  { readable, defaultGraphs, namedGraphs }: DatasetGraphs,
  graphs: ChangedGraphs,
): ChangedDataset {
  const made = new Set(graphs.all.filter(({ isSeen }) => isSeen).map(({ iri }) => iri));
  const dataset = {
    readable: made.size === 0 ? readable : readableToo(readable, made),
    ...(defaultGraphs ? { defaultGraphs } : {}),
    ...(namedGraphs ? { namedGraphs } : {}),
  };
  const isEmpty = ({ exists, triples }: ChangedGraph): boolean => exists && triples === 0;
  return {
    dataset,
    changedEmpty(before) {
      const gate = graphGate(dataset, 'named');
      return {
        async all() {
          const own = graphs.all.filter(isEmpty).map(({ iri }) => iri);
          await gate.decide(own);
          const others = (await before.all()).filter((graph) => !graphs.known(graph));
          return [...others, ...own.filter((graph) => gate.isOpen(graph))];
        },
        async has(graph) {
          const known = graphs.known(graph);
          if (!known) return before.has(graph);
          await gate.decide([graph]);
          return gate.isOpen(graph) === true && isEmpty(known);
        },
      };
    },
  };
}

function readableToo(readable: ReadableGraphs, made: ReadonlySet<string>): ReadableGraphs {
  return {
    all: readable.all,
    ...(readable.isExact === undefined ? {} : { isExact: readable.isExact }),
    get ranges() {
      return readable.ranges && unionOfRanges([...readable.ranges, ...[...made].map(only)]);
    },
    known: (graph) => made.has(graph) || readable.known(graph),
    resolve: (graphs) => readable.resolve(graphs.filter((graph) => !made.has(graph))),
  };
}
