/**
 * Time that a client may leave a stream unread. Each byte that it reads gives some of it back, so that a client below a rate
 * cannot keep a snapshot open: while a snapshot is open, LevelDB keeps what was deleted since.
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

  /** The stream waits for the client from now on. */
  wait(): void {
    this.waiting ??= { since: performance.now(), timer: setTimeout(this.onEnd, this.leftMs) };
  }

  /** The client has read some bytes, and the stream does not wait any more. */
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
