/**
 * Merges and sorts scans for callers without full read access. All matches of a pattern have one order, also across scans and
 * ranges with different sort orders. So the order does not reveal the access path.
 */
import { ended, type LayerScan, type MatchScan, stopped } from './layer-scan.js';
import type { TermIds } from './term-ids.js';

const [wanted, there, over] = [0, 1, 2];

/** Merges several sorted scans into one. */
export class MergedScan implements MatchScan {
  private readonly states: number[];
  private current = -1;
  private readonly last: number[] = [];

  /**
   * @param places positions whose terms the scans are sorted by, the most significant first
   * @param once true to yield only the first of several matches with the same terms in `places`
   */
  constructor(
    private readonly scans: readonly MatchScan[],
    private readonly terms: TermIds,
    private readonly places: readonly number[],
    private readonly once: boolean,
  ) {
    this.states = scans.map(() => wanted);
  }

  next(): number {
    const { scans, states } = this;
    for (;;) {
      if (this.current >= 0) states[this.current] = wanted;
      this.current = -1;
      for (let at = 0; at < scans.length; at++) {
        if (states[at] === wanted) {
          const found = scans[at]!.next();
          if (found === stopped) return this.stop();
          states[at] = found === ended ? over : there;
        }
        if (states[at] === there && (this.current < 0 || this.compare(at, this.current) < 0)) this.current = at;
      }
      if (this.current < 0) return ended;
      if (!this.once || this.isNew()) return this.current;
    }
  }

  id(place: number): number {
    return this.scans[this.current]!.id(place);
  }

  /** Stops the merge. The scans keep their current matches, so that the next call resumes the merge. */
  private stop(): number {
    this.current = -1;
    return stopped;
  }

  private compare(a: number, b: number): number {
    const [first, second] = [this.scans[a]!, this.scans[b]!];
    for (const place of this.places) {
      const [one, other] = [first.id(place), second.id(place)];
      if (one !== other) return this.terms.compare(one, other);
    }
    return 0;
  }

  private isNew(): boolean {
    const { places, last } = this;
    let isNew = last.length === 0;
    for (let at = 0; at < places.length; at++) {
      const id = this.id(places[at]!);
      if (last[at] === id) continue;
      last[at] = id;
      isNew = true;
    }
    return isNew;
  }
}

/** Sorts the matches of scans over one layer in another order. */
export class SortedScan implements MatchScan {
  /** Terms S, P, O and G of each match, as IDs of the layer. */
  private readonly found: number[] = [];
  /** Offsets of the matches in `found`, in sort order. */
  private offsets: number[] = [];
  private part = 0;
  private at = -1;
  private isSorted = false;

  /** @param parts scans of the same layer */
  constructor(
    private readonly parts: readonly LayerScan[],
    private readonly places: readonly number[],
    private readonly once: boolean,
  ) {}

  next(): number {
    if (!this.isSorted && this.gather() === stopped) return stopped;
    const { offsets } = this;
    do this.at++;
    while (
      this.once &&
      this.at > 0 &&
      this.at < offsets.length &&
      this.compare(offsets[this.at]!, offsets[this.at - 1]!) === 0
    );
    return this.at < offsets.length ? this.at : ended;
  }

  id(place: number): number {
    return this.parts[0]!.among(this.found[this.offsets[this.at]! + place]!);
  }

  private gather(): number {
    const { parts, found } = this;
    for (; this.part < parts.length; this.part++) {
      const scan = parts[this.part]!;
      for (let next = scan.next(); next !== ended; next = scan.next()) {
        if (next === stopped) return stopped;
        found.push(scan.number(0), scan.number(1), scan.number(2), scan.number(3));
      }
    }
    this.offsets = Array.from({ length: found.length / 4 }, (_, match) => 4 * match);
    this.offsets.sort((a, b) => this.compare(a, b));
    this.isSorted = true;
    return ended;
  }

  private compare(a: number, b: number): number {
    const { found, places } = this;
    for (let at = 0; at < places.length; at++) {
      const difference = found[a + places[at]!]! - found[b + places[at]!]!;
      if (difference !== 0) return difference;
    }
    return 0;
  }
}

/** Scan that yields one match for each term of a position and skips other matches with the same term. */
export class LeapingScan implements MatchScan {
  private isFirst = true;

  /** @param place first position after the bound terms in the scan's order */
  constructor(
    private readonly scan: LayerScan,
    private readonly place: number,
  ) {}

  next(): number {
    if (!this.isFirst) this.scan.leapOver(this.place);
    const found = this.scan.next();
    this.isFirst = found < 0 && this.isFirst;
    return found;
  }

  id(place: number): number {
    return this.scan.id(place);
  }
}
