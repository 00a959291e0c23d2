/** Computes the triples of a changed graph from a view and the changed keys. The graph is not read again. */
import type { KeyDifference } from '../../storage/keys/graph-changes.js';
import { graphAt } from '../access/key-reader.js';
import type { NumberBlock } from '../access/quad-matches.js';
import { gspo } from '../segments/quad-pages.js';
import { type GraphTriples, readTriples } from './index-data.js';
import { LayerScan } from './layer-scan.js';
import type { Layer, MemoryView } from './memory-layers.js';
import type { Ids, QuadOrders } from './sorted-quads.js';
import type { TermIds } from './term-ids.js';

/**
 * Returns the triples of a graph after a change, as term IDs of the view.
 * @param view contains all quads of the graph before the change
 * @param change GSPO keys. Removed keys may be missing in the graph, and added keys may already exist
 */
export async function changedTriples(
  view: MemoryView,
  graph: string,
  { added, removed }: KeyDifference,
): Promise<GraphTriples> {
  const changed = [await readTriples([added], view.terms), await readTriples([removed], view.terms)] as const;
  const subjects = new Set<number>();
  const others = new Set<string>();
  for (const list of changed)
    for (let at = 0; at < list.length; at += 3) {
      subjects.add(list[at]!);
      others.add(`${list[at]},${list[at + 1]},${list[at + 2]}`);
    }
  const triples = Array.from(changed[0]);
  for (const { length, columns } of quadsOf(view, view.terms.idOf(graph))) {
    const [s, p, o] = columns as readonly [Uint32Array, Uint32Array, Uint32Array];
    for (let at = 0; at < length; at++)
      if (!subjects.has(s[at]!) || !others.has(`${s[at]},${p[at]},${o[at]}`)) triples.push(s[at]!, p[at]!, o[at]!);
  }
  return Uint32Array.from(triples);
}

/** Yields the triples of a graph as columns S, P and O. @param graph term ID; negative if the graph has no quads */
function* quadsOf({ layers }: MemoryView, graph: number): Generator<NumberBlock> {
  for (const layer of layers) {
    const { quads, numbers, masked } = layer;
    const number = numbers && graph >= 0 ? numbers.of(graph) : graph;
    if (number < 0 || number > quads.most || masked?.[number] === 1) continue;
    const ids: Ids = [-1, -1, -1, number];
    yield* new LayerScan(layer, quads.range(gspo, ids), ids, undefined, undefined).blocks([0, 1, 2]);
  }
}

/** Graphs to remove from a view by `withoutGraphs`. */
export interface OtherGraphs {
  readonly names: readonly string[];
  /** Returns true for further graphs to remove. The set is small and the same for all queries, so that its IDs are cached. */
  isOther(graph: string): boolean;
}

/** Returns the view with some graphs masked in each layer. Comparing each quad's graph name would take a third of a scan. */
export function withoutGraphs({ terms, layers }: MemoryView, { names, isOther }: OtherGraphs): MemoryView {
  const ids = names.map((name) => terms.idOf(name)).filter((id) => id >= 0);
  const masking = layers.map((layer): Layer => {
    const { quads, numbers, masked } = layer;
    const all = masked ? masked.slice() : new Uint8Array(numbers ? numbers.ids.length : terms.baseSize);
    const others = othersIn.get(quads) ?? graphsOf(layer).filter((graph) => isOther(nameOf(layer, terms, graph)));
    othersIn.set(quads, others);
    const wanted = numbers ? ids.map((id) => numbers.of(id)) : ids;
    for (const list of [others, wanted]) for (const graph of list) if (graph >= 0 && graph < all.length) all[graph] = 1;
    return { quads, numbers, masked: all, ...(layer.maxAhead && { maxAhead: layer.maxAhead }) };
  });
  return { terms, layers: masking };
}

const othersIn = new WeakMap<QuadOrders, readonly number[]>();

const nameOf = ({ numbers }: Layer, terms: TermIds, graph: number): string =>
  terms.termKey(numbers ? numbers.ids[graph]! : graph);

/** Returns the IDs of the graphs that have quads in a layer. */
function graphsOf({ quads }: Layer): number[] {
  const found: number[] = [];
  const to = quads.count;
  for (let at = 0; at < to; at = quads.after(gspo, at, { place: graphAt, to })) {
    const window = quads.window(gspo, at, at + 1);
    found.push(window.column(graphAt)[at - window.first]!);
  }
  return found;
}
