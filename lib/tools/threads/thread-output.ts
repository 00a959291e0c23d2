/** Stream of the bytes that a thread sends, with backpressure. */
import { Readable } from 'node:stream';
import { ReadingTime } from './reading-time.js';

export class ThreadOutput extends Readable {
  private isWhole = false;
  private readonly time: ReadingTime | undefined;
  /** Bytes added since the reader last asked for more. */
  private added = 0;

  /**
   * @param onGone called if the reader closes the stream before the end, for example after a client disconnected
   * @param idle time that the reader may leave the stream unread (`ReadingTime`), and its error message
   */
  constructor(
    private readonly onGone: () => void,
    idle: { readonly ms?: number | undefined; readonly failure?: () => Error } = {},
  ) {
    super({ highWaterMark: 256 << 10 });
    // The reader receives the error; this listener prevents an uncaught `error` event.
    this.on('error', () => {});
    const { ms, failure } = idle;
    if (ms !== undefined) this.time = new ReadingTime(ms, () => this.destroy(failure?.()));
  }

  /** Adds a chunk. @returns a promise that resolves when the buffer has room, or undefined if it has room now */
  add(chunk: Uint8Array): Promise<void> | undefined {
    this.added += chunk.length;
    if (this.push(chunk)) return undefined;
    this.time?.wait();
    return new Promise((resolve) => this.once('room', resolve));
  }

  /** Ends the stream after the added chunks. */
  finish(): void {
    this.isWhole = true;
    this.push(null);
  }

  override _read(): void {
    this.time?.read(this.added);
    this.added = 0;
    this.emit('room');
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.time?.stop();
    if (!this.isWhole) this.onGone();
    done(error);
  }
}
