/**
 * Creates scans of the layers for a caller without full read access. The order of matches does not depend on the access path.
 * Few quads of unreadable graphs are read.
 */
import type { DatasetPart, GraphFilter } from '../access/graph-filter.js';
import { graphAt } from '../access/key-reader.js';
import { gspo, orderPlaces } from '../segments/quad-pages.js';
import { GraphDecisions } from './graph-decisions.js';
import { GraphIntervals, leastLength } from './graph-intervals.js';
import { LayerScan, type MatchScan } from './layer-scan.js';
import { atATime, estimated, roundedCount, sampled } from './memory-estimates.js';
import type { Layer, MemoryView } from './memory-layers.js';
import {
  eachMatch,
  leapingScan,
  type MemoryScans,
  numbersIn,
  type SingleLayer,
  shortRange,
  singleOf,
} from './memory-scans.js';
import { MergedScan, SortedScan } from './ordered-scans.js';
import { type Ids, type QuadRange, rangeFor } from './sorted-quads.js';
import type { TermIds } from './term-ids.js';

/** If the complete range has at least this many times their quads, graphs are read separately, and the matches sorted. */
const worthSorting = 4;
const adjacent = { areAdjacent: true, before: [] };

/** Part of the dataset, with its readable graphs. */
interface Part {
  readonly gate: GraphFilter;
  readonly verdicts: GraphDecisions;
  readonly intervals: GraphIntervals;
  /** Returns the readable graphs if the dataset names few graphs (`GraphFilter.few`), otherwise `undefined`. */
  readonly few: () => readonly number[] | undefined;
}

export class OpenScans implements MemoryScans {
  readonly singles: Readonly<Record<DatasetPart, SingleLayer | undefined>>;
  private readonly terms: TermIds;
  private readonly layers: readonly Layer[];
  private readonly parts: Readonly<Record<DatasetPart, Part>>;
  /** Index at which the last range in the base began, by order. */
  private readonly near: number[] = [];

  /** @param gates graph filters of a caller without full read access */
  constructor(view: MemoryView, gates: Readonly<Record<DatasetPart, GraphFilter>>) {
    this.terms = view.terms;
    this.layers = view.layers;
    this.parts = { union: partOf(view, gates.union), named: partOf(view, gates.named) };
    this.singles = { union: this.single('union'), named: this.single('named') };
  }

  decide(graph: string | undefined, part: DatasetPart): Promise<void> | undefined {
    const { gate } = this.parts[part];
    return gate.decide(graph === undefined ? (gate.few ?? []) : [graph]);
  }

  of(ids: Ids, name: DatasetPart): readonly MatchScan[] {
    const part = this.parts[name];
    if (this.isShut(ids, part)) return [];
    const isUnion = name === 'union' && ids[graphAt] < 0;
    const scans: MatchScan[] = [];
    let places: readonly number[] = [];
    for (const layer of this.layers) {
      const own = numbersIn(layer, ids);
      const whole = own && rangeFor(layer.quads, own, layer === this.layers[0] ? this.near : undefined);
      if (!whole || whole.from === whole.to) continue;
      places = ids[graphAt] >= 0 ? orderPlaces[gspo]! : orderPlaces[whole.order]!;
      scans.push(scanOf({ layer, isBase: layer === this.layers[0], own, whole }, part, isUnion));
    }
    if (scans.length < 2) return scans;
    return [new MergedScan(scans, this.terms, isUnion ? places.slice(0, 3) : places, isUnion)];
  }

  distinct(ids: Ids, place: number, name: DatasetPart): readonly MatchScan[] {
    const part = this.parts[name];
    if (this.isShut(ids, part)) return [];
    const scans = this.layers.flatMap((layer) => leapingScan(layer, ids, { place, verdicts: part.verdicts }) ?? []);
    return scans.length < 2 ? scans : [new MergedScan(scans, this.terms, [place], true)];
  }

  estimate(ids: Ids, name: DatasetPart): number | Promise<number> {
    const single = this.isShut(ids, this.parts[name]) ? undefined : this.singles[name];
    const range = shortRange(single, ids);
    if (range && range.to - range.from <= atATime) {
      let count = 0;
      eachMatch(single!, range, () => count++);
      return roundedCount(count);
    }
    return estimated(this.scansOf(ids, this.parts[name]), this.parts[name].verdicts);
  }

  sample(ids: Ids, name: DatasetPart, most: number): Promise<readonly MatchScan[]> {
    return sampled(this.scansOf(ids, this.parts[name], true), this.parts[name].verdicts, most);
  }

  /** @param isOpenOnly true to omit ranges with unreadable quads, whose count would change samples and therefore plans */
  private scansOf(ids: Ids, part: Part, isOpenOnly = false): readonly LayerScan[] {
    if (this.isShut(ids, part)) return [];
    return this.layers.flatMap((layer) => {
      const own = numbersIn(layer, ids);
      if (!own) return [];
      const isBound = own[graphAt] >= 0;
      const whole = isBound ? layer.quads.range(gspo, own) : rangeFor(layer.quads, own);
      const stretch = { layer, isBase: layer === this.layers[0], own, whole };
      const few = isBound ? undefined : slices(stretch, part, isOpenOnly);
      if (!few && isOpenOnly && !isBound) return [];
      return few ?? [new LayerScan(layer, whole, own, isBound ? undefined : part.verdicts, undefined)];
    });
  }

  /** Returns the base layer if each of its quads is one match. Only for short ranges: for long ranges, intervals are faster. */
  private single(name: DatasetPart): SingleLayer | undefined {
    const { gate, verdicts } = this.parts[name];
    if (!gate.isExact || gate.ranges()?.length === 0) return undefined;
    return singleOf(this.layers, name, { verdicts, most: leastLength - 1 });
  }

  ask(part: DatasetPart): Promise<void> {
    return this.parts[part].verdicts.ask();
  }

  /** Returns true if no graph is readable, or the bound graph is not readable. */
  private isShut(ids: Ids, { gate }: Part): boolean {
    return gate.ranges()?.length === 0 || (ids[graphAt] >= 0 && gate.isOpen(this.terms.termKey(ids[graphAt])) !== true);
  }
}

/** Range of a layer to scan for bound terms. */
interface Stretch {
  readonly layer: Layer;
  /** True if the layer is the base. */
  readonly isBase: boolean;
  readonly own: Ids;
  readonly whole: QuadRange;
}

/**
 * Returns scans of the readable graphs in a layer. Returns `undefined` unless these graphs have far fewer quads
 * (`worthSorting`) than the complete range of the terms.
 * @param isAnySize true to return the scans for any count of quads, unless the readable graphs are unknown
 */
function slices(
  { layer, isBase, own, whole }: Stretch,
  { few, intervals, verdicts }: Part,
  isAnySize = false,
): LayerScan[] | undefined {
  const length = isAnySize ? Number.POSITIVE_INFINITY : whole.to - whole.from;
  const graphs = few();
  if (graphs && graphs.length * worthSorting >= length) return undefined;
  const ranges = graphs
    ? graphs
        .flatMap((graph) => {
          const bound = numbersIn(layer, [-1, -1, -1, graph]);
          return bound ? [[own[0], own[1], own[2], bound[graphAt]] as Ids] : [];
        })
        .map((ids) => [ids, layer.quads.range(gspo, ids)] as const)
    : (isBase ? intervals.ranges(own, length) : undefined)?.map((range) => [own, range] as const);
  if (!ranges) return undefined;
  const total = ranges.reduce((sum, [, { from, to }]) => sum + to - from, 0);
  if (total * worthSorting >= length) return undefined;
  return ranges.map(([ids, range]) => new LayerScan(layer, range, ids, graphs ? undefined : verdicts, undefined));
}

function scanOf(stretch: Stretch, part: Part, isUnion: boolean): MatchScan {
  const { layer, own, whole } = stretch;
  const places = orderPlaces[whole.order]!;
  if (own[graphAt] >= 0) {
    const scan = new LayerScan(layer, whole, own, undefined, undefined);
    return whole.order === gspo ? scan : new SortedScan([scan], orderPlaces[gspo]!, false);
  }
  const few = slices(stretch, part);
  return few
    ? new SortedScan(few, isUnion ? places.slice(0, 3) : places, isUnion)
    : new LayerScan(layer, whole, own, part.verdicts, isUnion ? adjacent : undefined);
}

function partOf(view: MemoryView, gate: GraphFilter): Part {
  const { terms } = view;
  const intervals = new GraphIntervals(gate, view);
  let few: readonly number[] | undefined;
  return {
    gate,
    intervals,
    verdicts: new GraphDecisions(gate, terms, (graph) => intervals.isOpen(graph)),
    few() {
      // A graph without quads has the ID -1, which would match any graph, and is removed.
      few ??= gate.few
        ?.filter((graph) => gate.isOpen(graph) === true)
        .map((graph) => terms.idOf(graph))
        .filter((id) => id >= 0);
      return few;
    },
  };
}
