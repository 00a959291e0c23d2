/** Postings of resources in given ranges of IRIs. Other postings are not read, so that they do not affect the response time. */
import type { IriRange } from '../../../lib/storage/keys/iri-ranges.js';
import type { SteppedStream } from '../../../lib/storage/level/entry-cursor.js';

/** A stream that may have to be closed, because it reads from LevelDB. */
type Opened = SteppedStream & { close?(): unknown };

export class RangedStream implements SteppedStream {
  private at = 0;
  private stream: Opened | undefined;

  /**
   * @param ranges sorted and disjoint
   * @param open opens the postings from the start of a range. They may continue beyond its end
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
