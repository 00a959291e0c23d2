/** Bytes that a thread sends, as fast as they are read. */
import { Readable } from 'node:stream';

export class ThreadOutput extends Readable {
  /** Those who wait until there is room. */
  private readonly waiting: (() => void)[] = [];
  private isWhole = false;
  private timer: NodeJS.Timeout | undefined;

  /**
   * @param onGone called when nobody reads it any more before it is whole, as after a client went away
   * @param idle when it fails since nothing is read, and why
   */
  constructor(
    private readonly onGone: () => void,
    private readonly idle: { readonly ms?: number | undefined; readonly failure?: () => Error } = {},
  ) {
    super({ highWaterMark: 256 << 10 });
    // Whoever reads it hears of it.
    this.on('error', () => {});
  }

  /** Adds a chunk. @returns a promise for when there is room for more, unless there is some */
  add(chunk: Uint8Array): Promise<void> | undefined {
    if (this.push(chunk)) return undefined;
    const { ms, failure } = this.idle;
    if (ms !== undefined) this.timer ??= setTimeout(() => this.destroy(failure?.()), ms);
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Nothing comes after what was added. */
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
