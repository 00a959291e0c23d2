/**
 * Budget of the HTTP thread for short queries of all storages, in milliseconds per second. Operators are exempt. Identities and
 * storages cost nothing, so limits for each of them would not limit the sum.
 */
export const shareMs = 250;
/**
 * Time of each query that is not charged, in milliseconds: passing it to a query thread takes as much. The second value applies
 * if no other short query runs or waits, because the query then delays others no more than a request does.
 */
export const [freeMs, freeAloneMs] = [0.3, 2];

/** Remaining time of the HTTP thread for short queries. Must not depend on the caller. */
export class HttpThreadShare {
  private left = shareMs;
  private at: number;
  /** Count of short queries of all storages that run or wait. */
  waiting = 0;

  constructor(private readonly now: () => number = () => performance.now()) {
    this.at = now();
  }

  get isLeft(): boolean {
    const now = this.now();
    this.left = Math.min(shareMs, this.left + ((now - this.at) * shareMs) / 1000);
    this.at = now;
    return this.left > 0;
  }

  /** Charges a query that is still counted in `waiting`. */
  charge(ms: number): void {
    this.left -= Math.max(0, ms - (this.waiting > 1 ? freeMs : freeAloneMs));
  }
}

/** Share of this process. */
export const httpThreadShare = new HttpThreadShare();
