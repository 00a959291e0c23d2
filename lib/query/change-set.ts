/**
 * Change sets: the effect of an update on graphs, as added and removed GSPO keys. They are computed in any thread, and staged by
 * a transaction.
 */

import { joinedPrefixes } from '../rdf/prefixes.js';
import { type DefaultTurtle, defaultTurtle, isLargeGraph } from '../storage/graphs/graph-lines.js';
import type { KeyDifference } from '../storage/keys/graph-changes.js';
import { sortKeys } from '../storage/keys/key-order.js';
import { LwsError } from '../tools/errors.js';
import type { ChangedGraph, ChangedGraphs, GraphNeeds } from './changed-graphs.js';

type Prefixes = Readonly<Record<string, string>>;

/** Change of one graph, which exists afterwards. */
export interface GraphDelta extends KeyDifference {
  /**
   * Revision for which the added and removed keys are exact; `null`: the graph did not exist. Absent: the change applies to any
   * state, which may contain added keys and lack removed ones.
   */
  readonly revision?: string | null;
  /** The update removes triples, whether or not they existed. */
  readonly removes?: boolean;
  /** For any state: fails if a removed triple does not exist. */
  readonly isStrict?: boolean;
  /** Prefixes declared by the update, possibly with those of the resource. */
  readonly prefixes: Prefixes;
  /** Default Turtle after the change, absent if the complete graph was not available. */
  readonly after?: DefaultTurtle | undefined;
}

/** Effect of an update of several graphs on one of them. */
export interface GraphUpdate extends GraphDelta {
  readonly iri: string;
  readonly revision: string | null;
  /** Kinds of changes, which determine the required modes. */
  readonly needs: Readonly<GraphNeeds>;
  /** True if the resource exists afterwards. */
  readonly exists: boolean;
  /** Only `added` remains. */
  readonly isCleared: boolean;
  /** The graph is unchanged. */
  readonly isSame: boolean;
  /** Number of triples afterwards. */
  readonly triples: number;
}

/** Maximum number of triples in all graphs of one update that are written as a whole. */
const maxRewritten = 500_000;
/**
 * Returns the effect of an update on each graph.
 * @param given prefixes of the update
 * @param most maximum number of triples of all graphs that are written as a whole
 * @throws LwsError `too-complex` if they have more triples
 */
export async function* graphUpdates(
  graphs: ChangedGraphs,
  given: Prefixes,
  most = maxRewritten,
): AsyncGenerator<GraphUpdate> {
  let rewritten = 0;
  for (const graph of graphs.all) {
    const { iri, before, needs, exists, isCleared, triples } = graph;
    const isWhole = exists && !isPart(graph);
    if (isWhole) rewritten += Math.max(triples, before?.triples ?? 0);
    if (rewritten > most)
      throw new LwsError('too-complex', 'The graphs that the update changes are too large together. Split the update.');
    const prefixes = joinedPrefixes(given, before?.prefixes ?? {});
    const isSame = isUnchanged(graphs, graph);
    const after = isWhole && !isSame ? await turtleOf(graphs, iri, prefixes) : undefined;
    yield {
      ...{ iri, needs, exists, isCleared, isSame, triples, prefixes, after },
      revision: before?.revision ?? null,
      ...inOrder(graph),
    };
  }
}

const inOrder = ({ added, removed }: ChangedGraph): KeyDifference => ({
  added: sortKeys([...added]),
  removed: sortKeys([...removed]),
});

const isPart = ({ before, isCleared, triples }: ChangedGraph): boolean =>
  !isCleared && isLargeGraph(before?.triples ?? 0) && isLargeGraph(triples);

/** Returns true if the content of a graph is the same as before. */
function isUnchanged(graphs: ChangedGraphs, graph: ChangedGraph): boolean {
  const { before, exists, isCleared, added, removed } = graph;
  if (exists !== (before?.kind === 'rdf')) return false;
  if (!exists || !isCleared) return added.size + removed.size === 0;
  if (added.size !== before!.triples) return false;
  for (const key of added) if (!graphs.had(graph, key)) return false;
  return true;
}

async function turtleOf(graphs: ChangedGraphs, iri: string, prefixes: Prefixes): Promise<DefaultTurtle> {
  const keys: string[] = [];
  for await (const block of graphs.keysOf(iri)) for (const key of block) keys.push(key);
  return defaultTurtle({ keys: sortKeys(keys) }, iri, prefixes);
}
