/**
 * Converts IRI ranges of readable graphs to intervals of graph IDs and of quads in the base layer. In the base, IDs have the
 * order of names, and GSPO has the order of IDs. Must not depend on permissions or on the meaning of quads.
 */
import type { IriRange } from '../../storage/keys/iri-ranges.js';
import { getOrMake, isInIntervals } from '../../tools/collections.js';
import type { GraphFilter } from '../access/graph-filter.js';
import { graphAt } from '../access/key-reader.js';
import { gspo } from '../segments/quad-pages.js';
import type { MemoryView } from './memory-layers.js';
import type { Ids, QuadOrders, QuadRange } from './sorted-quads.js';
import type { TermIds } from './term-ids.js';

/** Maximum count of ranges to convert if the result is not cached (`isExact`): each range takes two binary searches. */
const maxOnce = 64;
/** Minimum count of quads in a scan for which intervals are used. */
export const leastLength = 1024;

/** Intervals as a sorted array of alternating starts and ends. */
interface Found {
  /** Intervals of graph IDs. */
  readonly ids: Uint32Array;
  /** Intervals of row indexes in GSPO. */
  readonly quads: Uint32Array;
}

/** Cached intervals by the quads of the base and the array of ranges, which all queries of a caller share. */
const remembered = new WeakMap<QuadOrders, WeakMap<readonly IriRange[], Found | undefined>>();

export class GraphIntervals {
  private known: { readonly found: Found | undefined } | undefined;

  constructor(
    private readonly gate: GraphFilter,
    private readonly view: MemoryView,
  ) {}

  /** Returns whether a graph is readable, or `undefined` if the intervals do not decide it. */
  isOpen(graph: number): boolean | undefined {
    if (graph >= this.view.terms.baseSize) return undefined;
    const { found } = this;
    if (!found) return undefined;
    if (!isInIntervals(found.ids, graph)) return false;
    return this.gate.isExact ? true : undefined;
  }

  /** Returns the ranges of GSPO with readable graphs, or `undefined` if no intervals are known or the scan has few quads. */
  ranges(ids: Ids, length: number): readonly QuadRange[] | undefined {
    if (length < leastLength || !this.found) return undefined;
    let rest = 0;
    for (let place = 0; place < graphAt; place++) if (ids[place as 0] >= 0) rest |= 1 << place;
    const { quads } = this.found;
    const parts: QuadRange[] = [];
    for (let i = 0; i < quads.length; i += 2)
      if (quads[i]! < quads[i + 1]!) parts.push({ order: gspo, from: quads[i]!, to: quads[i + 1]!, rest });
    return parts;
  }

  private get found(): Found | undefined {
    this.known ??= { found: intervalsOf(this.gate, this.view) };
    return this.known.found;
  }
}

function intervalsOf(filter: GraphFilter, { terms, layers }: MemoryView): Found | undefined {
  const ranges = filter.ranges();
  if (!ranges || (!filter.isExact && ranges.length > maxOnce)) return undefined;
  const { quads } = layers[0]!;
  const known = getOrMake(remembered, quads, () => new WeakMap<readonly IriRange[], Found | undefined>());
  // The base is sorted by UTF-8 bytes. For texts with non-ASCII characters, JavaScript compares strings in another order.
  if (!known.has(ranges)) known.set(ranges, ranges.every(isAscii) ? search(ranges, terms, quads) : undefined);
  return known.get(ranges);
}

function search(ranges: readonly IriRange[], terms: TermIds, quads: QuadOrders): Found {
  const ids = Uint32Array.from(ranges.flatMap(({ from, to }) => [terms.baseBelow(from), terms.baseBelow(to)]));
  return { ids, quads: ids.map((id) => quads.firstOf(id)) };
}

const isAscii = ({ from, to }: IriRange): boolean => !/[^\0-\x7f]/.test(from) && !/[^\0-\x7f]/.test(to);
