/** Change sets: what an update makes of graphs, as GSPO keys that come and go. They are computed in any thread, and staged by a transaction. */
import { LwsError } from '../errors.js';
import { joinedPrefixes } from '../rdf/prefixes.js';
import { type DefaultTurtle, defaultTurtle, isLargeGraph } from '../storage/graphs/graph-lines.js';
import type { KeyDifference } from '../storage/keys/graph-changes.js';
import { sortKeys } from '../storage/keys/key-order.js';
import type { ChangedGraph, ChangedGraphs, GraphNeeds } from './changed-graphs.js';

type Prefixes = Readonly<Record<string, string>>;

/** The change of one graph, which has one at least afterwards. */
export interface GraphDelta extends KeyDifference {
  /**
   * The state that it was computed from, of which it says exactly what comes and goes; `null`: there was none. Absent: it is of any state,
   * which may have what is added, and lack what is removed.
   */
  readonly revision?: string | null;
  /** The update says that something goes, whether or not it was there. */
  readonly removes?: boolean;
  /** Of any state, it is refused where what it removes is not there. */
  readonly isStrict?: boolean;
  /** Those that the update declares, and may be with those that the resource had. */
  readonly prefixes: Prefixes;
  /** Its default Turtle afterwards; absent: the whole graph was not at hand. */
  readonly after?: DefaultTurtle | undefined;
}

/** What an update of several graphs makes of one of them. */
export interface GraphUpdate extends GraphDelta {
  readonly iri: string;
  readonly revision: string | null;
  /** What is done to it, which decides what has to be allowed. */
  readonly needs: Readonly<GraphNeeds>;
  /** Whether there is a resource afterwards. */
  readonly exists: boolean;
  /** Only `added` is left of it. */
  readonly isCleared: boolean;
  /** It stays as it is. */
  readonly isSame: boolean;
  /** Triples afterwards. */
  readonly triples: number;
}

/** Maximum number of triples in all graphs of one update that are written as a whole. */
const maxRewritten = 500_000;
/**
 * What an update makes of graphs, one after the other.
 * @param given prefixes that it declares
 * @param most triples of the graphs that are written as a whole
 * @throws LwsError `too-complex` when the graphs that have to be written anew are too large together
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
      throw new LwsError('too-complex', 'The graphs that the update changes are too large together. Split it.');
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

/** Whether a graph holds afterwards what it held before. */
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
