/** Bytes that a thread sends, with backpressure. */
import { Readable } from 'node:stream';

export class ThreadOutput extends Readable {
  /** Callers that wait for room. */
  private readonly waiting: (() => void)[] = [];
  private isWhole = false;
  private timer: NodeJS.Timeout | undefined;

  /**
   * @param onGone called if the reader leaves before the end, for example after a client disconnected
   * @param idle timeout for a reader that reads nothing, and its error message
   */
  constructor(
    private readonly onGone: () => void,
    private readonly idle: { readonly ms?: number | undefined; readonly failure?: () => Error } = {},
  ) {
    super({ highWaterMark: 256 << 10 });
    // The reader receives the error; this listener prevents an uncaught `error` event.
    this.on('error', () => {});
  }

  /** Adds a chunk. @returns a promise that resolves when there is room, or undefined if there is */
  add(chunk: Uint8Array): Promise<void> | undefined {
    if (this.push(chunk)) return undefined;
    const { ms, failure } = this.idle;
    if (ms !== undefined) this.timer ??= setTimeout(() => this.destroy(failure?.()), ms);
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Ends the stream after the added chunks. */
  finish(): void {
    this.isWhole = true;
    this.push(null);
  }

  override _read(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.timer);
    if (!this.isWhole) this.onGone();
    done(error);
  }
}
