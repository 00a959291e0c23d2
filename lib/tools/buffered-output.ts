/** Buffers standard output, so that callers never wait for it. */
import { constants, fstatSync, openSync, write, writeSync } from 'node:fs';

/** Characters per write, because each write wakes another thread. After a second, fewer characters are written too. */
const together = 16 << 10;
/** Maximum number of buffered characters. When it is reached, lines are dropped. */
const maxWaiting = 8 << 20;
const retryMs = 100;
/** Makes pino set `lastLevel`. */
const metadata: unique symbol = Symbol.for('pino.metadata');
/** pino's number of level `error`. */
const errorLevel = 50;
/** Number of retries at the end of the process for a full pipe. */
const lastAttempts = 5;

/**
 * Writes in the background, and the rest at the end of the process. Neither waits for a reader, so that an unread log cannot
 * keep a server from ending or fill its memory.
 */
export class BufferedOutput {
  readonly [metadata] = true;
  /** Level of the next line. */
  lastLevel = 0;
  private readonly descriptor = outputDescriptor();
  private waiting = '';
  /** Text that is being written. */
  private current = Buffer.alloc(0);
  private isWriting = false;
  /** True if a line of level `error` or above is buffered. Such a line is written without delay. */
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
      // Standard output is closed or was never opened. The error cannot be reported anywhere.
      this.current = error ? Buffer.alloc(0) : this.current.subarray(written);
      if (this.current.length > 0) this.continue();
      else if (this.isUrgent || this.waiting.length >= together) this.flush();
    });
  }

  private end(): void {
    // Another thread is writing these bytes. Writing them here would repeat them.
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
 * Returns the descriptor of standard output. A pipe is opened again, non-blocking: a blocked thread keeps the process alive.
 */
function outputDescriptor(): number {
  try {
    if (fstatSync(1).isFIFO()) return openSync('/proc/self/fd/1', constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    // Standard output is closed, or the system has no /proc: use the descriptor as it is.
  }
  return 1;
}
