/**
 * Converts name ranges of readable graphs to intervals of graph numbers and of their quads. In the base, numbers are in the order of
 * names, and quads in the order of numbers. Must not depend on permissions or on the meaning of quads.
 */
import type { IriRange } from '../../storage/keys/iri-ranges.js';
import { getOrMake, isInIntervals } from '../../tools/collections.js';
import type { GraphFilter } from '../access/graph-filter.js';
import { graphAt } from '../access/key-reader.js';
import { gspo } from '../segments/quad-pages.js';
import type { MemoryView } from './memory-layers.js';
import type { Ids, QuadOrders, QuadRange } from './sorted-quads.js';
import type { TermIds } from './term-ids.js';

/** More ranges are only searched if later queries will use the result (`isExact`): each takes two binary searches. */
const maxOnce = 64;
/** With fewer quads to scan, intervals do not pay. */
export const leastLength = 1024;

/** Intervals of ranges: starts and ends, alternating and in order. */
interface Found {
  /** As graph numbers. */
  readonly ids: Uint32Array;
  /** As indexes of their quads in the columns of GSPO. */
  readonly quads: Uint32Array;
}

/** Cached intervals by the quads of the base and by the array of ranges, which stays the same between queries of a caller. */
const remembered = new WeakMap<QuadOrders, WeakMap<readonly IriRange[], Found | undefined>>();

export class GraphIntervals {
  private known: { readonly found: Found | undefined } | undefined;

  constructor(
    private readonly gate: GraphFilter,
    private readonly view: MemoryView,
  ) {}

  /** Returns true or false if the intervals decide a graph, otherwise `undefined`. */
  isOpen(graph: number): boolean | undefined {
    if (graph >= this.view.terms.baseSize) return undefined;
    const { found } = this;
    if (!found) return undefined;
    if (!isInIntervals(found.ids, graph)) return false;
    return this.gate.isExact ? true : undefined;
  }

  /** Returns the parts of the base with readable graphs, or `undefined` if they are unknown or reading all quads is as fast. */
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

function intervalsOf({ ranges, isExact }: GraphFilter, { terms, layers }: MemoryView): Found | undefined {
  if (!ranges || (!isExact && ranges.length > maxOnce)) return undefined;
  const { quads } = layers[0]!;
  const known = getOrMake(remembered, quads, () => new WeakMap<readonly IriRange[], Found | undefined>());
  // Beyond ASCII, the order of JavaScript strings differs from that of their UTF-8 bytes.
  if (!known.has(ranges)) known.set(ranges, ranges.every(isAscii) ? search(ranges, terms, quads) : undefined);
  return known.get(ranges);
}

function search(ranges: readonly IriRange[], terms: TermIds, quads: QuadOrders): Found {
  const ids = Uint32Array.from(ranges.flatMap(({ from, to }) => [terms.baseBelow(from), terms.baseBelow(to)]));
  return { ids, quads: ids.map((id) => quads.firstOf(id)) };
}

const isAscii = ({ from, to }: IriRange): boolean => !/[^\0-\x7f]/.test(from) && !/[^\0-\x7f]/.test(to);
