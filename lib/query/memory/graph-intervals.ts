/**
 * Where the graphs that may be open stand among the numbers of an index: names are in ranges, numbers are in the order of names, and
 * so are the quads of a range of names. It must not know who may read what, or what quads mean.
 */
import type { IriRange } from '../../storage/engine/iri-ranges.js';
import type { GraphGate } from '../access/graph-gate.js';
import { graphAt } from '../access/key-reader.js';
import type { MemoryView } from './memory-view.js';
import { gspo, type Ids, lowerBound, type QuadRange, type SortedQuads } from './sorted-quads.js';
import type { TermIds } from './term-ids.js';

/** More ranges are only looked for when they will be asked for again: each takes two searches. */
const maxOnce = 64;
/** It is not worth looking for less. */
const leastLength = 1024;

/** What was found for ranges: beginnings and ends of intervals, alternately and in order. */
interface Found {
  /** Of the graphs' numbers. */
  readonly ids: Uint32Array;
  /** Of the places of their quads. */
  readonly quads: Uint32Array;
}

/** What was found, by the quads of the base and the ranges, which are the same in query after query of a caller. */
const remembered = new WeakMap<SortedQuads, WeakMap<readonly IriRange[], Found | undefined>>();

export class GraphIntervals {
  private known: { readonly found: Found | undefined } | undefined;

  constructor(
    private readonly gate: GraphGate,
    private readonly view: MemoryView,
  ) {}

  /** Whether a graph is open, as far as its number tells. */
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
    // Behind a beginning, and before its end.
    if (low % 2 === 0) return false;
    return this.gate.isExact ? true : undefined;
  }

  /** The parts of the base in which open graphs are. `undefined`: nobody can say, or it is as quick to look at all. */
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

function intervalsOf({ ranges, isExact }: GraphGate, { terms, layers }: MemoryView): Found | undefined {
  if (!ranges || (!isExact && ranges.length > maxOnce)) return undefined;
  const { quads } = layers[0]!;
  const known = remembered.get(quads) ?? new WeakMap<readonly IriRange[], Found | undefined>();
  remembered.set(quads, known);
  // Beyond ASCII the order of names and that of bytes may differ.
  if (!known.has(ranges)) known.set(ranges, ranges.every(isAscii) ? search(ranges, terms, quads) : undefined);
  return known.get(ranges);
}

function search(ranges: readonly IriRange[], terms: TermIds, { columns, count }: SortedQuads): Found {
  const ids = Uint32Array.from(ranges.flatMap(({ from, to }) => [terms.baseBelow(from), terms.baseBelow(to)]));
  const graphs = columns[gspo]![graphAt];
  return { ids, quads: ids.map((id) => lowerBound(graphs, id, 0, count)) };
}

const isAscii = ({ from, to }: IriRange): boolean => !/[^\0-\x7f]/.test(from) && !/[^\0-\x7f]/.test(to);
