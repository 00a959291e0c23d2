/** Change sets: what an update makes of graphs, as GSPO keys that come and go. They are computed in any thread, and staged by a transaction. */
import type { Algebra } from '@comunica/utils-algebra';
import { LwsError } from '../errors.js';
import { joinedPrefixes } from '../rdf/prefixes.js';
import { type DefaultTurtle, defaultTurtle, isLargeGraph } from '../storage/graphs/graph-lines.js';
import type { KeyDifference } from '../storage/keys/graph-changes.js';
import { sortKeys } from '../storage/keys/key-order.js';
import { termKey } from './access/terms.js';
import type { ChangedGraph, ChangedGraphs, GraphNeeds } from './changed-graphs.js';
import { computeUpdate } from './graphs-update.js';
import type { ReadUpdate } from './parse/read-update.js';
import { graphState, unknownState } from './state-before.js';

export { loadQueryEngine } from './query-engine.js';

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

/** Triples of all graphs that are changed and are written anew for it. */
const maxRewritten = 500_000;
/** Characters of keys that the solutions of an update of one graph may make: the storage holds them several times while it writes them. */
const maxMade = 16 << 20;

const everything = { all: true, known: () => true, resolve: async () => {} };

/**
 * Runs an update that sees one graph alone.
 * @param keys of the graph, GSPO; absent: nothing is known of it, and the update names triples alone
 * @param assertTime called in every block; throws when the work has to end
 * @throws LwsError as `computeUpdate`
 */
export async function graphDifference(
  { steps, isStrict = false }: ReadUpdate,
  graph: string,
  {
    keys,
    assertTime = () => {},
  }: { readonly keys?: readonly string[] | undefined; readonly assertTime?: (() => void) | undefined } = {},
): Promise<KeyDifference & Pick<GraphDelta, 'removes' | 'isStrict'>> {
  const state = keys ? graphState({ iri: graph, keys }, assertTime) : unknownState;
  const graphs = await computeUpdate(steps, {
    graph,
    state,
    assertTime,
    maxMade,
    isStrict,
    readable: everything,
    defaultGraphs: [graph],
    namedGraphs: [],
    maxSolutions: Number.POSITIVE_INFINITY,
    maxChanged: Number.POSITIVE_INFINITY,
  });
  const changed = graphs.known(graph);
  const difference = changed ? inOrder(changed) : { added: [], removed: [] };
  const removes = partsOf(steps).some((part) => ((part as Partial<Algebra.DeleteInsert>).delete ?? []).length > 0);
  return { ...difference, removes, isStrict };
}

const partsOf = (steps: ReadUpdate['steps']): Algebra.Operation[] =>
  steps.flatMap(({ operation }) =>
    operation.type === 'compositeupdate' ? (operation as Algebra.CompositeUpdate).updates : [operation],
  );

/**
 * Whether an update is INSERT DATA and DELETE DATA alone, which need not see a graph. A strict one that inserts what it removes has to:
 * of what it does, nothing says that it was there.
 */
export const namesTriplesAlone = ({ steps, isStrict }: ReadUpdate): boolean =>
  partsOf(steps).every((part) => {
    const { type, where, insert = [], delete: gone = [] } = part as Partial<Algebra.DeleteInsert>;
    if (type !== 'deleteinsert') return type === 'nop';
    if (where !== undefined || !isStrict || gone.length === 0) return where === undefined;
    const inserted = new Set(insert.map(textOf));
    return !gone.some((triple) => inserted.has(textOf(triple)));
  });

const textOf = ({ subject, predicate, object }: Algebra.Pattern): string =>
  [subject, predicate, object].map(termKey).join(' ');

/**
 * What an update makes of graphs, one after the other.
 * @param given prefixes that it declares
 * @throws LwsError `too-complex` when the graphs that have to be written anew are too large together
 */
export async function* graphUpdates(graphs: ChangedGraphs, given: Prefixes): AsyncGenerator<GraphUpdate> {
  let rewritten = 0;
  for (const graph of graphs.all) {
    const { iri, before, needs, exists, isCleared, triples } = graph;
    const isWhole = exists && !isPart(graph);
    if (isWhole) rewritten += Math.max(triples, before?.triples ?? 0);
    if (rewritten > maxRewritten)
      throw new LwsError('too-complex', 'The graphs that the update changes are too large together. Split it.');
    const prefixes = joinedPrefixes(given, before?.prefixes ?? {});
    const isSame = isUnchanged(graphs, graph);
    const after = isWhole && !isSame ? { size: await sizeOf(graphs, iri, prefixes) } : undefined;
    const facts = {
      iri,
      revision: before?.revision ?? null,
      needs,
      exists,
      isCleared,
      isSame,
      triples,
      prefixes,
      after,
    };
    yield { ...facts, ...inOrder(graph) };
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

/** Bytes of the default Turtle. */
async function sizeOf(graphs: ChangedGraphs, iri: string, prefixes: Prefixes): Promise<number> {
  const keys: string[] = [];
  for await (const block of graphs.keysOf(iri)) for (const key of block) keys.push(key);
  return defaultTurtle({ keys: sortKeys(keys) }, iri, prefixes).size;
}
