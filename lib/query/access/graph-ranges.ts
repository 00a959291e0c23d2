/**
 * Ranges of resources as ranges of the names of their graphs, and where such a range begins in ordered keys. Pure; it must not
 * know who may read what, or LevelDB.
 */
import { type IriRange, only, unionOfRanges } from '../../storage/iri-ranges.js';

/** Of a linkset's graph, behind the name of its resource. */
export const linksetEnd = '.meta';

/**
 * The names of the graphs of all resources in the ranges, of their linksets too. A linkset of another resource may lie in
 * between, so that what lies in the ranges is still to be decided.
 */
export function graphRanges(ranges: readonly IriRange[]): readonly IriRange[] {
  const outside: IriRange[] = [];
  // Only a resource whose IRI the range's end begins with can have its linkset behind that end.
  for (const { from, to } of ranges)
    for (let length = to.length - 1; length > 0; length--) {
      const iri = to.slice(0, length);
      if (iri < from) break;
      if (iri + linksetEnd >= to) outside.push(only(iri + linksetEnd));
    }
  return outside.length === 0 ? ranges : unionOfRanges([...ranges, ...outside]);
}

/** The part of the ranges that lies in another one. */
export const clipped = (ranges: readonly IriRange[], { from, to }: IriRange): IriRange[] =>
  ranges
    .map((range) => ({ from: range.from > from ? range.from : from, to: range.to < to ? range.to : to }))
    .filter((range) => range.from < range.to);

/** The range that a name lies in, or else the next one behind it. The ranges are disjoint and in order. */
export function rangeAt(ranges: readonly IriRange[], name: string): IriRange | undefined {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ranges[middle]!.to <= name) low = middle + 1;
    else high = middle;
  }
  return ranges[low];
}

export const isInRanges = (ranges: readonly IriRange[], name: string): boolean => {
  const range = rangeAt(ranges, name);
  return range !== undefined && range.from <= name;
};

/**
 * What the keys of names from `bound` on begin with, or come behind. A name stands in a key with the separator behind it, which is
 * more than the U+0000 of a bound that leaves out a name.
 */
export const inKeys = (bound: string): string => (bound.endsWith('\u0000') ? `${bound}\u0001` : bound);

/** What comes behind all keys of a graph. */
export const behindGraph = (graph: string): string => `${graph}\u0000\u0001`;
