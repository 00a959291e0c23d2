/** Ranges of IRIs in string order: a container and everything below it is one range. */
import { partitionPoint } from '../../tools/collections.js';

/** IRIs from `from` (inclusive) to `to` (exclusive). */
export interface IriRange {
  readonly from: string;
  readonly to: string;
}

/** Returns the range of one IRI. */
export const only = (iri: string): IriRange => ({ from: iri, to: `${iri}\u0000` });
/** Returns the range of everything below a container, without the container. IRIs are ASCII, and `0` follows the slash. */
export const below = (container: string): IriRange => ({
  from: `${container}\u0000`,
  to: `${container.slice(0, -1)}0`,
});
/** Returns the range of a container and everything below it. */
export const subtree = (container: string): IriRange => ({ from: container, to: `${container.slice(0, -1)}0` });

/** Converts a range of resources to the range of their postings. A bound directly after a resource must follow its postings. */
export const ofPostings = ({ from, to }: IriRange): IriRange => ({ from: pastPostings(from), to: pastPostings(to) });
const pastPostings = (iri: string): string => (iri.endsWith('\u0000') ? `${iri.slice(0, -1)}\u0001` : iri);

/** Returns the same IRIs as sorted, disjoint ranges. */
export function unionOfRanges(ranges: readonly IriRange[]): IriRange[] {
  const sorted = [...ranges].sort((a, b) => (a.from < b.from ? -1 : a.from > b.from ? 1 : 0));
  const found: { from: string; to: string }[] = [];
  for (const { from, to } of sorted) {
    const last = found.at(-1);
    if (last && from <= last.to) {
      if (to > last.to) last.to = to;
    } else if (from < to) found.push({ from, to });
  }
  return found;
}

/** Returns ranges minus `holes`. Both lists are disjoint and in order. If no hole is in a range, returns the same array. */
export function withoutRanges(ranges: readonly IriRange[], holes: readonly IriRange[]): readonly IriRange[] {
  if (holes.every((hole) => clipped(ranges, hole).length === 0)) return ranges;
  // Most ranges are before or after all holes, and are only copied.
  const [start, end] = [positionOf(ranges, holes[0]!.from), positionOf(ranges, holes.at(-1)!.to) + 1];
  const left = ranges.slice(0, start);
  for (const range of ranges.slice(start, end)) {
    let at = range.from;
    for (const hole of clipped(holes, range)) {
      if (hole.from > at) left.push({ from: at, to: hole.from });
      at = hole.to;
    }
    if (at < range.to) left.push(at === range.from ? range : { from: at, to: range.to });
  }
  return left.concat(ranges.slice(end));
}

/** Returns the intersection of ranges with one range. The ranges are disjoint and in order. */
export function clipped(ranges: readonly IriRange[], { from, to }: IriRange): IriRange[] {
  const found: IriRange[] = [];
  for (let at = positionOf(ranges, from); at < ranges.length && ranges[at]!.from < to; at++) {
    const range = ranges[at]!;
    found.push({ from: range.from > from ? range.from : from, to: range.to < to ? range.to : to });
  }
  return found;
}

/** Returns the position of the range that contains a name, or of the next range. The ranges are disjoint and in order. */
const positionOf = (ranges: readonly IriRange[], name: string): number =>
  partitionPoint(0, ranges.length, (at) => ranges[at]!.to <= name);

export const isInRanges = (ranges: readonly IriRange[], name: string): boolean => {
  const range = ranges[positionOf(ranges, name)];
  return range !== undefined && range.from <= name;
};

export const isWholeStorage = (ranges: readonly IriRange[], storage: string): boolean =>
  ranges.length === 1 && ranges[0]!.from <= storage && ranges[0]!.to >= subtree(storage).to;

/** Ranges as a sorted stream that contains every string inside them. Useful only in an intersection with a stream of existing strings. */
export class RangeStream {
  private at = 0;

  constructor(private readonly ranges: readonly IriRange[]) {}

  seek(target: string): string | undefined {
    while (this.at < this.ranges.length && this.ranges[this.at]!.to <= target) this.at++;
    const range = this.ranges[this.at];
    return range && (range.from > target ? range.from : target);
  }
}
