/** Creates scans for a caller that may read all graphs, in the fastest order. Must not depend on the use of matches. */
import type { DatasetPart, GraphFilter } from '../access/graph-filter.js';
import { graphAt } from '../access/key-reader.js';
import { orderPlaces, type Window } from '../segments/quad-pages.js';
import { GraphDecisions } from './graph-decisions.js';
import { type Copies, LayerScan, type MatchScan, numberIn } from './layer-scan.js';
import { sampled } from './memory-estimates.js';
import type { Layer, MemoryView } from './memory-layers.js';
import { LeapingScan } from './ordered-scans.js';
import { type Ids, type QuadOrders, type QuadRange, rangeFor } from './sorted-quads.js';

export interface MemoryScans {
  /** Authorizes graphs that must be decided before any quad is read. @param graph graph of the pattern, if bound */
  decide?(graph: string | undefined, part: DatasetPart): Promise<void> | undefined;
  /** Returns scans that together yield all matches. @param ids term IDs of the view */
  of(ids: Ids, part: DatasetPart): readonly MatchScan[];
  /** Returns scans that yield every term of a position once. An order must have the position directly after the bound terms. */
  distinct(ids: Ids, place: number, part: DatasetPart): readonly MatchScan[];
  estimate(ids: Ids, part: DatasetPart): number | Promise<number>;
  /** Base layer, if the graph of a quad alone determines whether the quad is a match, without calling the authorizer. */
  readonly singles: Readonly<Record<DatasetPart, SingleLayer | undefined>>;
  /** Returns scans positioned at evenly distributed matches. */
  sample(ids: Ids, part: DatasetPart, most: number): Promise<readonly MatchScan[]>;
  /** Asks the authorizer to decide the graphs at which scans have stopped. */
  ask(part: DatasetPart): Promise<void>;
}

/** Maximum length of a range that a lookup reads at once, in quads. */
const mostAtOnce = 4096;

/** Base layer, for lookups whose matches are all in this layer. */
export interface SingleLayer {
  readonly quads: QuadOrders;
  /** Mask by graph ID: 1 if the base's quads of the graph are outdated. */
  readonly masked: Uint8Array | undefined;
  /** All other layers. A lookup with matches in another layer uses scans instead. */
  readonly others: readonly Layer[];
  /** Decisions on graphs. `undefined` if every graph is readable. */
  readonly verdicts: GraphDecisions | undefined;
  /** Maximum length of a range that may be read at once, in quads. */
  readonly most: number;
  /** Index at which the last range began, by order. `shortRange` updates it. */
  readonly near: number[];
}

/** Returns the base layer if each of its quads is exactly one match in this part of the dataset, without deduplication. */
export function singleOf(
  layers: readonly Layer[],
  part: DatasetPart,
  limits: Pick<SingleLayer, 'verdicts' | 'most'>,
): SingleLayer | undefined {
  const { quads, masked, numbers } = layers[0]!;
  const isOnce = quads.count > 0 && !numbers && (part === 'named' || quads.isUnique);
  return isOnce ? { quads, masked, others: layers.slice(1), near: [], ...limits } : undefined;
}

/** Returns the range of the base with all matches of some terms. `undefined`: it is too long, or another layer has matches. */
export function shortRange(base: SingleLayer | undefined, ids: Ids): QuadRange | undefined {
  if (!base || ids[graphAt] >= 0) return undefined;
  const range = rangeFor(base.quads, ids, base.near);
  if (range.rest !== 0 || range.to - range.from > base.most) return undefined;
  for (const layer of base.others) if (hasQuads(layer, ids)) return undefined;
  return range;
}

/** Calls `found` for each match in a range of the base, with the window and the offset of the match in the window. */
export function eachMatch(
  { quads, masked, verdicts }: SingleLayer,
  { order, from, to }: QuadRange,
  found: (window: Window, offset: number) => void,
): void {
  for (let at = from; at < to; ) {
    const window = quads.window(order, at, to);
    const end = Math.min(to, window.end);
    const graphs = verdicts || masked ? window.column(graphAt) : undefined;
    for (; at < end; at++) {
      const offset = at - window.first;
      if (masked?.[graphs![offset]!] === 1) continue;
      if (verdicts && verdicts.isOpen(graphs![offset]!) !== true) continue;
      found(window, offset);
    }
  }
}

/** Returns true if a layer has quads with the given terms, including outdated quads. */
function hasQuads(layer: Layer, ids: Ids): boolean {
  const own = numbersIn(layer, ids);
  if (!own) return false;
  const { from, to } = rangeFor(layer.quads, own);
  return from < to;
}

/** Returns scans for a caller that may read all graphs. @param gates filters, because FROM may select some graphs */
export function plainScans(
  { terms, layers }: MemoryView,
  gates: Readonly<Record<DatasetPart, GraphFilter>>,
): MemoryScans {
  const verdictsOf = (gate: GraphFilter): GraphDecisions | undefined =>
    gate.all ? undefined : new GraphDecisions(gate, terms);
  const verdicts = { union: verdictsOf(gates.union), named: verdictsOf(gates.named) };
  const few = {
    union: gates.union.few?.map((graph) => terms.idOf(graph)),
    named: gates.named.few?.map((graph) => terms.idOf(graph)),
  };
  const single = (part: DatasetPart): SingleLayer | undefined =>
    verdicts[part] ? undefined : singleOf(layers, part, { verdicts: undefined, most: mostAtOnce });
  const near: number[] = [];
  return {
    singles: { union: single('union'), named: single('named') },
    of(ids, part) {
      const scans: LayerScan[] = [];
      const isUnion = part === 'union' && ids[graphAt] < 0;
      for (let at = 0; at < layers.length; at++) {
        const layer = layers[at]!;
        const own = numbersIn(layer, ids);
        const whole = own && rangeFor(layer.quads, own, at === 0 ? near : undefined);
        if (!whole || whole.from === whole.to) continue;
        const before = at === 0 ? [] : layers.slice(0, at);
        const copies = isUnion ? { areAdjacent: true, before } : undefined;
        const only = ids[graphAt] < 0 ? few[part] : undefined;
        if (only && only.length < whole.to - whole.from)
          scans.push(...ofFew({ layer, ids: own, whole, verdicts: verdicts[part], copies }, only));
        else scans.push(new LayerScan(layer, whole, own, verdicts[part], copies));
      }
      return scans;
    },
    distinct: (ids, place, part) =>
      layers.flatMap((layer) => leapingScan(layer, ids, { place, verdicts: verdicts[part] }) ?? []),
    estimate: (ids) =>
      layers.reduce((sum, layer) => {
        const own = numbersIn(layer, ids);
        if (!own) return sum;
        const { from, to } = rangeFor(layer.quads, own);
        return sum + to - from;
      }, 0),
    sample: (ids, part, most) => {
      const scans = layers.flatMap((layer) => {
        const own = numbersIn(layer, ids);
        return own ? [new LayerScan(layer, rangeFor(layer.quads, own), own, verdicts[part], undefined)] : [];
      });
      return sampled(scans, verdicts[part], most);
    },
    ask: (part) => verdicts[part]!.ask(),
  };
}

/** Returns the layer's IDs of the bound terms, or `undefined` if the layer lacks a term. */
export function numbersIn(layer: Layer, ids: Ids): Ids | undefined {
  const own: Ids = [-1, -1, -1, -1];
  for (let place = 0; place < 4; place++) {
    if (ids[place as 0] < 0) continue;
    own[place as 0] = numberIn(layer, ids[place as 0]);
    if (own[place as 0] < 0) return undefined;
  }
  return own;
}

/** Returns a scan over the terms of a position. If there is a suitable order, the scan skips quads with the same term. */
export function leapingScan(
  layer: Layer,
  ids: Ids,
  { place, verdicts }: { readonly place: number; readonly verdicts: GraphDecisions | undefined },
): MatchScan | undefined {
  const own = numbersIn(layer, ids);
  if (!own) return undefined;
  const bound = own.filter((id) => id >= 0).length;
  const order = orderPlaces.findIndex(
    (places) => places[bound] === place && places.slice(0, bound).every((each) => own[each]! >= 0),
  );
  const range = order < 0 ? rangeFor(layer.quads, own) : layer.quads.range(order, own);
  const scan = new LayerScan(layer, range, own, verdicts, undefined);
  return order < 0 ? scan : new LeapingScan(scan, place);
}

/** Range of a layer to scan for bound terms. */
interface Stretch {
  readonly layer: Layer;
  readonly ids: Ids;
  readonly whole: QuadRange;
  readonly verdicts: GraphDecisions | undefined;
  readonly copies: Copies | undefined;
}

/** Returns a scan per graph if the graphs have less than half of the quads of the complete range, otherwise one scan. */
function ofFew({ layer, ids, whole, verdicts, copies }: Stretch, only: readonly number[]): LayerScan[] {
  const parts = only
    .map((graph) => numberIn(layer, graph))
    .filter((graph) => graph >= 0)
    .map((graph) => {
      const own: Ids = [ids[0], ids[1], ids[2], graph];
      return { own, range: rangeFor(layer.quads, own) };
    });
  const isLess = parts.reduce((sum, { range }) => sum + range.to - range.from, 0) * 2 < whole.to - whole.from;
  if (!isLess) return [new LayerScan(layer, whole, ids, verdicts, copies)];
  const apart = copies && { ...copies, areAdjacent: only.length === 1 };
  return parts.map(({ own, range }) => new LayerScan(layer, range, own, verdicts, apart));
}
