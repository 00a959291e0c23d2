/**
 * Stream of an object. While its reader is paused, the stream releases the connection, and resumes with a range request. So
 * slow clients do not occupy all connections.
 */
import { Readable } from 'node:stream';
import { discard } from '../../lib/plugin/blobs.js';
import { LwsError } from '../../lib/plugin/component.js';
import { OutboundError } from '../../lib/plugin/requests.js';
import { away, type S3Client } from './s3-client.js';

const defaultPauseMs = 5_000;
/** Maximum consecutive attempts that return no byte. */
const maxTries = 3;
const bufferedBytes = 256 << 10;

export interface S3ReadOptions {
  readonly client: S3Client;
  readonly key: string;
  /** First and last byte to read, and expected size of the object. */
  readonly start: number;
  readonly end: number;
  readonly size: number;
  /** Pause of the reader after which the connection is released, in milliseconds. */
  readonly maxPauseMs?: number;
  /** Returns the error for an object of another size. */
  readonly otherSize: (size: number) => Error;
}

export class S3Read extends Readable {
  private at: number;
  private source: Readable | undefined;
  private isOpening = false;
  private pausing: NodeJS.Timeout | undefined;
  private tries = 0;

  constructor(private readonly options: S3ReadOptions) {
    super({ highWaterMark: bufferedBytes });
    this.at = options.start;
  }

  /** Sends the first request. @throws S3Refusal, LwsError `too-busy`, or the error of `otherSize` */
  async open(): Promise<void> {
    const { client, key, end, size, otherSize } = this.options;
    const isWhole = this.at === 0 && end >= size - 1;
    const headers = isWhole ? {} : { range: `bytes=${this.at}-${end}` };
    const answer = await client.send({ method: 'GET', key, headers });
    const found = sizeIn(answer.headers);
    if (found !== size || (!isWhole && answer.status !== 206)) {
      discard(answer);
      throw found === size ? new Error('The S3 store did not return the requested range.') : otherSize(found);
    }
    if (this.destroyed) discard(answer);
    else this.follow(answer.body);
  }

  private follow(source: Readable): void {
    this.source = source;
    let hasFailed = false;
    source.on('data', (chunk: Buffer) => {
      this.at += chunk.length;
      this.tries = 0;
      if (this.push(chunk)) return;
      source.pause();
      this.pausing = setTimeout(() => this.leave(), this.options.maxPauseMs ?? defaultPauseMs).unref();
    });
    source.once('end', () => {
      this.leave();
      if (this.at > this.options.end) this.push(null);
      else this.again(new OutboundError('protocol', 'The S3 store ended an object too early.'));
    });
    source.on('error', (error) => {
      if (hasFailed || this.source !== source) return;
      hasFailed = true;
      this.leave();
      this.again(error);
    });
  }

  private leave(): void {
    const { source } = this;
    this.source = undefined;
    clearTimeout(this.pausing);
    source?.destroy();
  }

  private again(error: unknown): void {
    if (++this.tries >= maxTries) this.destroy(error instanceof LwsError ? error : away(error));
    else this.reopen();
  }

  private reopen(): void {
    if (this.isOpening || this.destroyed) return;
    this.isOpening = true;
    this.open().then(
      () => {
        this.isOpening = false;
      },
      (error: Error) => this.destroy(error),
    );
  }

  override _read(): void {
    clearTimeout(this.pausing);
    if (this.source) this.source.resume();
    else if (this.at <= this.options.end) this.reopen();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.leave();
    done(error);
  }
}

/** Returns the size of the whole object. */
function sizeIn(headers: Readonly<Record<string, string | string[] | undefined>>): number {
  const range = headers['content-range'];
  return Number(typeof range === 'string' ? range.slice(range.lastIndexOf('/') + 1) : headers['content-length']);
}
