/** Text sent as fast as its reader takes it, also by gzip. */
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

/** Characters that are sent at once. */
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
    // Whoever writes or ends hears of it.
    this.failed.catch(() => {});
  }

  /** Comes back when there may be more. @throws what the output throws */
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
