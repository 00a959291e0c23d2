/** Postings of resources in given ranges of IRIs. */
import { type IriRange, ofPostings } from '../../../lib/storage/keys/iri-ranges.js';
import type { SteppedStream } from '../../../lib/storage/level/entry-cursor.js';
import { getOrMake } from '../../../lib/tools/collections.js';

/**
 * Maximum count of ranges that are read one by one. With an iterator for each, a search in 2 000 ranges would take 0.3 s of CPU
 * time, whether or not the word occurs.
 */
const maxRangesRead = 64;

export const areMany = (ranges: readonly IriRange[]): boolean => ranges.length > maxRangesRead;

/** Cached ranges of postings. The ranges of a caller are the same array while its access does not change. */
const known = new WeakMap<readonly IriRange[], readonly IriRange[]>();

/** Returns the ranges of the postings of resources in ranges. */
export const postingRanges = (ranges: readonly IriRange[]): readonly IriRange[] =>
  getOrMake(known, ranges, () => ranges.map(ofPostings));

/** A stream that may have to be closed, because it reads from LevelDB. */
type Opened = SteppedStream & { close?(): unknown };

/** Stream that reads no postings outside of the ranges, so that these postings do not affect the response time. */
export class RangedStream implements SteppedStream {
  private at = 0;
  private stream: Opened | undefined;

  /**
   * @param ranges sorted and disjoint @param open opens the postings from the start of a range. The stream may exceed the range
   */
  constructor(
    private readonly ranges: readonly IriRange[],
    private readonly open: (range: IriRange) => Opened,
  ) {}

  seek(target: string): string | undefined | Promise<string | undefined> {
    for (let range = this.ranges[this.at]; range; range = this.leave()) {
      if (range.to <= target) continue;
      this.stream ??= this.open(range);
      const found = this.stream.seek(target > range.from ? target : range.from);
      if (found instanceof Promise) return found.then((text) => this.orLater(text, target));
      if (found !== undefined && found < range.to) return found;
    }
    return undefined;
  }

  next(): string | undefined | Promise<string | undefined> {
    const found = this.stream?.next();
    return found instanceof Promise ? found.then((text) => this.orLater(text, '')) : this.orLater(found, '');
  }

  private orLater(text: string | undefined, target: string): string | undefined | Promise<string | undefined> {
    if (text !== undefined && text < (this.ranges[this.at]?.to ?? '')) return text;
    this.leave();
    return this.seek(target);
  }

  private leave(): IriRange | undefined {
    void this.stream?.close?.();
    this.stream = undefined;
    return this.ranges[++this.at];
  }
}

/**
 * Stream that also reads postings outside of the ranges, and skips ranges without postings. The time depends on the other
 * postings, so the response time must be rounded (`Searched.isStepped`).
 */
export class SkippingStream implements SteppedStream {
  private at = 0;

  /** @param ranges sorted and disjoint @param all the postings of all resources */
  constructor(
    private readonly ranges: readonly IriRange[],
    private readonly all: SteppedStream,
  ) {}

  seek(target: string): string | undefined | Promise<string | undefined> {
    for (let least = target; ; ) {
      while (this.at < this.ranges.length && this.ranges[this.at]!.to <= least) this.at++;
      const range = this.ranges[this.at];
      if (!range) return undefined;
      const found = this.all.seek(least > range.from ? least : range.from);
      if (found instanceof Promise) return found.then((text) => this.orLater(text));
      if (found === undefined || found < range.to) return found;
      least = found;
    }
  }

  next(): string | undefined | Promise<string | undefined> {
    const found = this.all.next();
    return found instanceof Promise ? found.then((text) => this.orLater(text)) : this.orLater(found);
  }

  private orLater(text: string | undefined): string | undefined | Promise<string | undefined> {
    return text === undefined || text < (this.ranges[this.at]?.to ?? '') ? text : this.seek(text);
  }
}
