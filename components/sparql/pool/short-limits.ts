/** Limits the work and the CPU time of a short query. */

/** Thrown when a query exceeds the limits of a short query. */
export class NotShortError extends Error {}

/**
 * Maximum work: matches and rows that are read or created. A few hundred take 0.1 ms, and the maximum a few milliseconds in a
 * warm thread. Only readable graphs are counted, so that the thread in which a query runs reveals nothing.
 */
const maxWork = 8000;
/** Maximum CPU time in milliseconds, independent of the work. */
export const maxMs = 20;

export interface Clocks {
  /** Returns the current time in milliseconds. */
  now(): number;
  /** Returns the CPU time of the process in milliseconds. */
  cpu(): number;
}

const processClocks: Clocks = {
  now: () => performance.now(),
  cpu() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
};

/** Limits of one query. The timer starts at the first block, because the query may wait for the disk before. */
export class ShortLimits {
  private left: number;
  private startedAt: number | undefined;
  /** Last reading of the CPU time, and the milliseconds from the start to this reading. */
  private reading: { readonly cpu: number; readonly after: number } | undefined;

  /**
   * @param isMeasured true to read the CPU time at the start. Otherwise it is read after half of the time, because most queries
   * end before, and a reading takes 7 % of a lookup
   * @param weight work that a match or row counts as: 1 without calculations
   */
  constructor(
    readonly isMeasured: boolean,
    weight = 1,
    private readonly clocks = processClocks,
  ) {
    this.left = maxWork / weight;
  }

  /** Charges work. Called between blocks. @throws NotShortError over a limit */
  check(work: number): void {
    this.left -= work;
    if (this.left < 0) throw new NotShortError();
    const now = this.clocks.now();
    this.startedAt ??= now;
    const after = now - this.startedAt;
    if (this.isMeasured || after >= maxMs / 2) this.reading ??= { cpu: this.clocks.cpu(), after };
    if (after > maxMs && this.isSlow) throw new NotShortError();
  }

  /** True if the query has used too much CPU time. Elapsed time is not reliable on a busy machine. */
  get isSlow(): boolean {
    if (!this.reading) return false;
    const { cpu, after } = this.reading;
    return this.clocks.cpu() - cpu > Math.max(maxMs - after, maxMs / 2);
  }
}
