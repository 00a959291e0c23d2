/**
 * Change sets: the effect of an update on graphs, as added and removed GSPO keys. Any thread can compute change sets. A
 * transaction stages them.
 */

import { joinedPrefixes } from '../rdf/prefixes.js';
import { type DefaultTurtle, defaultTurtle, isLargeGraph } from '../storage/graphs/graph-lines.js';
import type { KeyDifference } from '../storage/keys/graph-changes.js';
import { sortKeys } from '../storage/keys/key-order.js';
import { LwsError } from '../tools/errors.js';
import type { ChangedGraph, ChangedGraphs, GraphNeeds } from './changed-graphs.js';

type Prefixes = Readonly<Record<string, string>>;

/** Change of a graph that exists after the update. */
export interface GraphDelta extends KeyDifference {
  /**
   * Revision for which the keys were computed. `null`: the graph did not exist. Absent: the change applies to any state, so
   * added keys may already exist and removed keys may be missing.
   */
  readonly revision?: string | null;
  /** True if the update contains removals, even of triples that did not exist. */
  readonly removes?: boolean;
  /** For a change without a revision: true to fail if a removed triple does not exist. */
  readonly isStrict?: boolean;
  /** Prefixes declared by the update, possibly with the prefixes of the resource. */
  readonly prefixes: Prefixes;
  /** Default Turtle representation after the change. Absent if the complete graph was not loaded. */
  readonly after?: DefaultTurtle | undefined;
}

/** Effect of an update on one of several graphs. */
export interface GraphUpdate extends GraphDelta {
  readonly iri: string;
  readonly revision: string | null;
  /** Kinds of changes, which determine the required modes. */
  readonly needs: Readonly<GraphNeeds>;
  /** True if the resource exists afterwards. */
  readonly exists: boolean;
  /** True if the graph was cleared, so that `added` contains all triples of the graph. */
  readonly isCleared: boolean;
  /** True if the update does not change the graph. */
  readonly isSame: boolean;
  /** Count of triples after the update. */
  readonly triples: number;
}

/** Default of `most` in `graphUpdates`. */
const maxRewritten = 500_000;
/**
 * Yields the effect of an update on each graph.
 * @param given prefixes of the update
 * @param most maximum count of triples in all graphs that are rewritten completely
 * @throws LwsError `too-complex` above this count
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

/** Returns true if the update leaves the content of a graph unchanged. */
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
