/** Limits of work and CPU time of a short query. */

/** Thrown when a query exceeds the limits of a short one. */
export class NotShortError extends Error {}

/**
 * Maximum work: matches and rows read or created. A few hundred of them take 0.1 ms, and the maximum a few milliseconds in a warm thread.
 * Only readable graphs are counted, so that the place of execution reveals nothing.
 */
const maxWork = 8000;
/** Maximum CPU time in milliseconds, whatever was read. */
export const maxMs = 20;

export interface Clocks {
  /** Milliseconds. */
  now(): number;
  /** CPU time of the process in milliseconds. */
  cpu(): number;
}

const processClocks: Clocks = {
  now: () => performance.now(),
  cpu() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
};

/** Limits of one query. The timer starts at the first block: before it, the query waits for the disk. */
export class ShortLimits {
  private left: number;
  private startedAt: number | undefined;
  /** Reading of the CPU time, and the milliseconds until then. */
  private reading: { readonly cpu: number; readonly after: number } | undefined;

  /**
   * @param isMeasured true to read the CPU time at the start. If not, it is read after half of the time: most queries end before,
   *   and reading it takes 7 % of a lookup
   * @param weight work of a match or row: 1 without calculations
   */
  constructor(
    readonly isMeasured: boolean,
    weight = 1,
    private readonly clocks = processClocks,
  ) {
    this.left = maxWork / weight;
  }

  /** Called between blocks. @throws NotShortError */
  check(work: number): void {
    this.left -= work;
    if (this.left < 0) throw new NotShortError();
    const now = this.clocks.now();
    this.startedAt ??= now;
    const after = now - this.startedAt;
    if (this.isMeasured || after >= maxMs / 2) this.reading ??= { cpu: this.clocks.cpu(), after };
    if (after > maxMs && this.isSlow) throw new NotShortError();
  }

  /** True if the query has used too much CPU time. Wall time is not reliable on a busy machine. */
  get isSlow(): boolean {
    if (!this.reading) return false;
    const { cpu, after } = this.reading;
    return this.clocks.cpu() - cpu > Math.max(maxMs - after, maxMs / 2);
  }
}
