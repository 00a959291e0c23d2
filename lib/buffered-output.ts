/** Standard output for lines that nobody has to wait for. */
import { constants, fstatSync, openSync, write, writeSync } from 'node:fs';

/** How many characters are written at once, unless a second passes: each write wakes another thread. */
const together = 16 << 10;
/** How many characters may wait for a reader; lines that come then are dropped. */
const maxWaiting = 8 << 20;
const retryMs = 100;
/** Asks pino for `lastLevel`. */
const metadata: unique symbol = Symbol.for('pino.metadata');
/** pino's number of the level `error`. */
const errorLevel = 50;
/** How often the end of the process tries again to write to a pipe that is full. */
const lastAttempts = 5;

/**
 * Writes in the background, and at the end of the process what is left. Neither waits for a reader: a log that nobody reads any more
 * must not keep a server from ending, nor fill its memory.
 */
export class BufferedOutput {
  readonly [metadata] = true;
  /** Level of the line that pino writes next. */
  lastLevel = 0;
  private readonly descriptor = outputDescriptor();
  private waiting = '';
  /** What is being written. */
  private current = Buffer.alloc(0);
  private isWriting = false;
  /** A line of level error or above is waiting: it is written without delay. */
  private isUrgent = false;

  constructor() {
    setInterval(() => this.flush(), 1000).unref();
    process.once('exit', () => this.end());
  }

  write(line: string): void {
    if (this.waiting.length > maxWaiting) return;
    this.waiting += line;
    if (this.lastLevel >= errorLevel) this.isUrgent = true;
    if (this.isUrgent || this.waiting.length >= together) this.flush();
  }

  private flush(): void {
    if (this.current.length > 0 || this.waiting === '') return;
    this.take();
    this.continue();
  }

  private take(): void {
    this.current = Buffer.from(this.waiting);
    this.waiting = '';
    this.isUrgent = false;
  }

  private continue(): void {
    this.isWriting = true;
    write(this.descriptor, this.current, (error, written) => {
      this.isWriting = false;
      if (error?.code === 'EAGAIN') return void setTimeout(() => this.continue(), retryMs).unref();
      // Standard output is gone or was never opened: there is nowhere left to say so.
      this.current = error ? Buffer.alloc(0) : this.current.subarray(written);
      if (this.current.length > 0) this.continue();
      else if (this.isUrgent || this.waiting.length >= together) this.flush();
    });
  }

  private end(): void {
    // A thread is writing these; to write them here as well would repeat them.
    if (this.isWriting) this.current = Buffer.alloc(0);
    for (let attempts = 0; attempts < lastAttempts; ) {
      if (this.current.length === 0) this.take();
      if (this.current.length === 0) return;
      try {
        this.current = this.current.subarray(writeSync(this.descriptor, this.current));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
        attempts++;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMs);
      }
    }
  }
}

/**
 * Standard output; a pipe is opened again so that a write never blocks: a thread that is blocked in one keeps the process from
 * ending.
 */
function outputDescriptor(): number {
  try {
    if (fstatSync(1).isFIFO()) return openSync('/proc/self/fd/1', constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    // Closed, or a system without /proc: the descriptor as it is.
  }
  return 1;
}
