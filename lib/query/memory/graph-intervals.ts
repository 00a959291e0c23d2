/**
 * Turns ranges of names of open graphs into intervals of the graphs' numbers and of their quads: in the base, numbers are in the order of
 * names, and quads in the order of numbers. It must not know who may read what, or what quads mean.
 */
import type { IriRange } from '../../storage/keys/iri-ranges.js';
import type { GraphFilter } from '../access/graph-filter.js';
import { graphAt } from '../access/key-reader.js';
import type { MemoryView } from './memory-layers.js';
import { gspo, type Ids, lowerBound, type QuadRange, type SortedQuads } from './sorted-quads.js';
import type { TermIds } from './term-ids.js';

/** More ranges are searched for only when later queries will use the result (`isExact`): each takes two binary searches. */
const maxOnce = 64;
/** With fewer quads to scan, intervals are not worth it. */
const leastLength = 1024;

/** The intervals of some ranges: beginnings and ends, alternately and in order. */
interface Found {
  /** As numbers of graphs. */
  readonly ids: Uint32Array;
  /** As indexes of their quads in the columns of GSPO. */
  readonly quads: Uint32Array;
}

/** The intervals by the quads of the base and the array of ranges, which is the same in query after query of a caller. */
const remembered = new WeakMap<SortedQuads, WeakMap<readonly IriRange[], Found | undefined>>();

export class GraphIntervals {
  private known: { readonly found: Found | undefined } | undefined;

  constructor(
    private readonly gate: GraphFilter,
    private readonly view: MemoryView,
  ) {}

  /** Whether a graph is open, if the intervals tell; otherwise `undefined`. */
  isOpen(graph: number): boolean | undefined {
    if (graph >= this.view.terms.baseSize) return undefined;
    const { found } = this;
    if (!found) return undefined;
    const { ids } = found;
    let [low, high] = [0, ids.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (ids[middle]! <= graph) low = middle + 1;
      else high = middle;
    }
    // An even number of bounds lies before the graph: it is in no interval.
    if (low % 2 === 0) return false;
    return this.gate.isExact ? true : undefined;
  }

  /** The parts of the base in which open graphs are. `undefined`: they are not known, or it is as quick to look at all quads. */
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
  const known = remembered.get(quads) ?? new WeakMap<readonly IriRange[], Found | undefined>();
  remembered.set(quads, known);
  // Beyond ASCII the order of JavaScript strings and that of their UTF-8 bytes differ.
  if (!known.has(ranges)) known.set(ranges, ranges.every(isAscii) ? search(ranges, terms, quads) : undefined);
  return known.get(ranges);
}

function search(ranges: readonly IriRange[], terms: TermIds, { columns, count }: SortedQuads): Found {
  const ids = Uint32Array.from(ranges.flatMap(({ from, to }) => [terms.baseBelow(from), terms.baseBelow(to)]));
  const graphs = columns[gspo]![graphAt];
  return { ids, quads: ids.map((id) => lowerBound(graphs, id, 0, count)) };
}

const isAscii = ({ from, to }: IriRange): boolean => !/[^\0-\x7f]/.test(from) && !/[^\0-\x7f]/.test(to);
