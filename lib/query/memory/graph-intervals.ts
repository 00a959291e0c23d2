/**
 * Where the graphs that may be open stand in the order of graphs: names are in ranges, numbers are in the order of names, and so the
 * quads of a range of names stand together. It must not know who may read what, or what quads mean.
 */
import type { GraphGate } from '../access/graph-gate.js';
import { graphAt } from '../access/key-reader.js';
import type { Layer } from './memory-view.js';
import { gspo, type Ids, lowerBound, type QuadRange } from './sorted-quads.js';
import type { TermIds } from './term-ids.js';

/** More ranges are not looked for: each takes two searches. */
const mostRanges = 64;
/** It is not worth looking for less. */
const leastLength = 1024;

type Interval = readonly [from: number, to: number];

export class GraphIntervals {
  /** The numbers of graphs in the base. */
  private base: readonly Interval[] | undefined;
  /** Where their quads stand in a layer. */
  private readonly quads = new Map<Layer, readonly Interval[]>();

  constructor(
    private readonly gate: GraphGate,
    private readonly terms: TermIds,
  ) {}

  /** True when a graph is closed for its name alone. */
  isOutside(graph: number): boolean {
    const { ranges } = this.gate;
    if (!ranges || ranges.length > mostRanges || graph >= this.terms.baseSize) return false;
    this.base ??= ranges.map(({ from, to }) => [this.terms.baseBelow(from), this.terms.baseBelow(to)]);
    for (const [from, to] of this.base) if (graph < to) return graph < from;
    return true;
  }

  /** The parts of a layer in which open graphs are. `undefined`: nobody can say, or it is as quick to look at all. */
  ranges(layer: Layer, ids: Ids, length: number): readonly QuadRange[] | undefined {
    const { ranges } = this.gate;
    if (!ranges || ranges.length > mostRanges || length < leastLength) return undefined;
    let rest = 0;
    for (let place = 0; place < graphAt; place++) if (ids[place as 0] >= 0) rest |= 1 << place;
    return this.quadsOf(layer).map(([from, to]) => ({ order: gspo, from, to, rest }));
  }

  private quadsOf(layer: Layer): readonly Interval[] {
    const known = this.quads.get(layer);
    if (known) return known;
    const { quads, numbers } = layer;
    const graphs = quads.columns[gspo]![graphAt];
    const below = (text: string): number => (numbers ? numbers.lessThan(text) : this.terms.baseBelow(text));
    const place = (text: string): number => lowerBound(graphs, below(text), 0, quads.count);
    const found = this.gate.ranges!.map(({ from, to }): Interval => [place(from), place(to)]);
    this.quads.set(layer, found);
    return found;
  }
}
