/**
 * Limits the time for which a client may leave a stream unread. Each byte that the client reads adds some time, so that a
 * client below a rate cannot keep a snapshot open: LevelDB keeps data that was deleted since the oldest snapshot.
 */

/** Rate above which a client can read for any time, in bytes per second. */
const leastRate = 32 << 10;

export class ReadingTime {
  private leftMs: number;
  private waiting: { readonly since: number; readonly timer: NodeJS.Timeout } | undefined;

  /** @param onEnd called when the time is used up */
  constructor(
    private readonly ms: number,
    private readonly onEnd: () => void,
  ) {
    this.leftMs = ms;
  }

  /** Starts the clock, because the stream waits for the client. */
  wait(): void {
    this.waiting ??= { since: performance.now(), timer: setTimeout(this.onEnd, this.leftMs) };
  }

  /** Stops the clock, and adds time for the bytes that the client has read. */
  read(bytes: number): void {
    const waitedMs = this.waiting ? performance.now() - this.waiting.since : 0;
    this.stop();
    this.leftMs = Math.min(this.ms, Math.max(0, this.leftMs - waitedMs) + (bytes / leastRate) * 1000);
  }

  stop(): void {
    clearTimeout(this.waiting?.timer);
    this.waiting = undefined;
  }
}
