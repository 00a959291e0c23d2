/** Prometheus histogram. Replaces prom-client's, which is too slow to observe on every request. */

/** Sample of a metric. @param suffix added to the name of the metric */
export type Sample = readonly [suffix: string, labels: Readonly<Record<string, string>>, value: number];

export class Histogram {
  private readonly counts: number[];
  private sum = 0;

  /** @param bounds upper bounds of the buckets, ascending */
  constructor(private readonly bounds: readonly number[]) {
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    let at = 0;
    while (value > this.bounds[at]!) at++;
    this.counts[at]!++;
    this.sum += value;
  }

  samples(labels: Readonly<Record<string, string>> = {}): Sample[] {
    let count = 0;
    const buckets = this.counts.map((own, at): Sample => {
      count += own;
      return ['_bucket', { le: String(this.bounds[at] ?? '+Inf'), ...labels }, count];
    });
    return [...buckets, ['_sum', labels, this.sum], ['_count', labels, count]];
  }
}
