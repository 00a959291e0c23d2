/** Writes text to a stream with backpressure, optionally by gzip. */
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

/** Text is collected up to so many characters, and then written. */
const maxWaiting = 64 << 10;

export class TextOutput {
  private readonly first: PassThrough | ReturnType<typeof createGzip>;
  private readonly sent: Promise<void>;
  private readonly failed: Promise<never>;
  private waiting = '';

  /** @param out is ended by `end` */
  constructor(out: Writable, isGzip = false) {
    this.first = isGzip ? createGzip({ level: 1 }) : new PassThrough();
    this.sent = pipeline(this.first as Readable, out);
    this.failed = this.sent.then(() => new Promise<never>(() => {}));
    // `write` and `end` throw the failure; until then it must not count as unhandled.
    this.failed.catch(() => {});
  }

  /** Returns when more may be written. @throws what the output throws */
  async write(text: string): Promise<void> {
    this.waiting += text;
    if (this.waiting.length >= maxWaiting) await this.flush();
  }

  private async flush(): Promise<void> {
    const text = this.waiting;
    this.waiting = '';
    if (!this.first.destroyed && this.first.write(text)) return;
    await Promise.race([new Promise((resolve) => this.first.once('drain', resolve)), this.failed]);
  }

  async end(): Promise<void> {
    if (this.waiting !== '') await this.flush();
    this.first.end();
    await this.sent;
  }
}
