/** A histogram of Prometheus: observed with every request, for which prom-client's takes as long as a step of the way of a request. Pure. */

export class Distribution {
  private readonly counts: number[];
  private sum = 0;

  /** @param bounds of the buckets, ascending */
  constructor(private readonly bounds: readonly number[]) {
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    let at = 0;
    while (value > this.bounds[at]!) at++;
    this.counts[at]!++;
    this.sum += value;
  }

  /** Its samples. @param labels as between the braces of a sample; empty: none */
  text(name: string, labels = ''): string {
    const braced = labels && `{${labels}}`;
    let [text, count] = ['', 0];
    for (const [at, own] of this.counts.entries()) {
      count += own;
      text += `${name}_bucket{le="${this.bounds[at] ?? '+Inf'}"${labels && `,${labels}`}} ${count}\n`;
    }
    return `${text}${name}_sum${braced} ${this.sum}\n${name}_count${braced} ${count}\n`;
  }
}
