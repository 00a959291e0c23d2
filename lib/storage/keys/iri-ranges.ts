/** Ranges of IRIs in the order of strings: a container and all resources below it are one range. Pure. */

/** The IRIs from `from` (included) to `to` (excluded). */
export interface IriRange {
  readonly from: string;
  readonly to: string;
}

/** The range of one IRI. */
export const only = (iri: string): IriRange => ({ from: iri, to: `${iri}\u0000` });
/** What lies below a container, without itself; IRIs are ASCII, and `0` follows the slash. */
export const below = (container: string): IriRange => ({
  from: `${container}\u0000`,
  to: `${container.slice(0, -1)}0`,
});
/** A container and what lies below it. */
export const subtree = (container: string): IriRange => ({ from: container, to: `${container.slice(0, -1)}0` });

/** The same IRIs as disjoint ranges in order. */
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

export const isWholeStorage = (ranges: readonly IriRange[], storage: string): boolean =>
  ranges.length === 1 && ranges[0]!.from <= storage && ranges[0]!.to >= subtree(storage).to;

/**
 * The ranges as a sorted stream, which has every text within them. Only of use in an intersection with a stream of texts
 * that exist.
 */
export class RangeStream {
  private at = 0;

  constructor(private readonly ranges: readonly IriRange[]) {}

  seek(target: string): string | undefined {
    while (this.at < this.ranges.length && this.ranges[this.at]!.to <= target) this.at++;
    const range = this.ranges[this.at];
    return range && (range.from > target ? range.from : target);
  }
}
