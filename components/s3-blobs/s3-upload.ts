/** Upload to an S3 store: one PUT for a small blob; a multipart upload for a larger one, with at most two parts in transit. */
import { createHash } from 'node:crypto';
import type { BlobWriter } from '../../lib/plugin/blobs.js';
import { LwsError, tooBusy } from '../../lib/plugin/component.js';
import { away, firstValue, type S3Client, S3Refusal, type S3Request } from './s3-client.js';

export const partBytes = 8 << 20;
/** Size in bytes of the slices in which a part is sent: only one slice at a time is copied to the connection. */
const sliceBytes = 512 << 10;
/** Bytes that an upload buffers on the heap. For more, it uses a buffer of the pool. */
const unaskedBytes = 256 << 10;
const maxPartsOnTheWay = 2;
/** Maximum parts that S3 allows: 80 GiB with parts of 8 MiB. */
const maxParts = 10_000;
/** Interval at which the marker is renewed, in milliseconds, so that a long upload is not considered abandoned. */
const remarkMs = 3_600_000;

export const blobKeyOf = (blob: string): string => `blobs/${blob}`;
export const markKeyOf = (blob: string): string => `pending/${blob}`;

/** Content of one object or part. */
class Part {
  bytes = 0;
  private chunks: Uint8Array[] = [];
  private readonly digest = createHash('sha256');

  constructor(private place?: PartBuffer) {}

  get hasBuffer(): boolean {
    return this.place !== undefined;
  }

  /** Copies the buffered bytes to a buffer of the pool. */
  moveTo(place: PartBuffer): void {
    this.place = place;
    let at = 0;
    for (const chunk of this.chunks.splice(0)) {
      place.buffer.set(chunk, at);
      at += chunk.length;
    }
  }

  add(chunk: Uint8Array): void {
    if (this.place) this.place.buffer.set(chunk, this.bytes);
    else this.chunks.push(chunk);
    this.bytes += chunk.length;
    this.digest.update(chunk);
  }

  /** Returns body and digest for a request. The store verifies the digest. */
  request(): Required<Pick<S3Request, 'body' | 'sha256'>> {
    const body = this.place ? slicesOf(this.place.buffer.subarray(0, this.bytes)) : this.chunks;
    return { body, sha256: this.digest.digest('hex') };
  }

  release(): void {
    this.chunks = [];
    this.place?.release();
  }
}

const slicesOf = (bytes: Uint8Array): Uint8Array[] =>
  Array.from({ length: Math.ceil(bytes.length / sliceBytes) }, (_, at) =>
    bytes.subarray(at * sliceBytes, (at + 1) * sliceBytes),
  );

export class S3Upload implements BlobWriter {
  private part = new Part();
  private uploadId: string | undefined;
  private readonly etags: string[] = [];
  private readonly onTheWay = new Set<Promise<void>>();
  private failure: unknown;
  private bytes = 0;
  private markedAt = 0;
  private marked: Promise<void>;
  private wasSent = false;
  /** True if the store may still create the blob from bytes that it has received. */
  private isInDoubt = false;

  constructor(
    readonly blob: string,
    private readonly client: S3Client,
    private readonly buffers: PartBuffers,
  ) {
    this.marked = this.mark();
  }

  /** Writes the marker, before the blob: a marker without a blob is harmless. Sent while the first bytes are received. */
  private mark(): Promise<void> {
    this.markedAt = Date.now();
    const marked = this.client.ask({ method: 'PUT', key: markKeyOf(this.blob) }).then(() => {});
    marked.catch(() => {});
    return marked;
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.bytes += chunk.length;
    for (let rest = chunk; rest.length > 0; ) {
      if (this.part.bytes === partBytes) await this.sendPart();
      const taken = rest.subarray(0, partBytes - this.part.bytes);
      rest = rest.subarray(taken.length);
      if (!this.part.hasBuffer && this.part.bytes + taken.length > unaskedBytes)
        this.part.moveTo(await this.buffers.take());
      this.part.add(taken);
    }
  }

  /** Sends the full part, and begins the next one when a buffer is available. */
  private async sendPart(): Promise<void> {
    if (this.failure) throw this.failure;
    const number = this.etags.length + 1;
    if (number >= maxParts) throw new LwsError('too-large', 'The blob store accepts at most 80 GiB per upload.');
    await this.marked;
    while (this.onTheWay.size >= maxPartsOnTheWay) await Promise.race(this.onTheWay);
    if (Date.now() - this.markedAt > remarkMs) this.marked = this.mark();
    this.uploadId ??= await this.begin();
    this.etags.push('');
    const { part } = this;
    // The part in transit releases its buffer.
    this.part = new Part();
    const sent = this.put(part, number).finally(() => this.onTheWay.delete(sent));
    this.onTheWay.add(sent);
    this.part = new Part(await this.buffers.take());
  }

  private async begin(): Promise<string> {
    const { text } = await this.client.ask({ method: 'POST', key: blobKeyOf(this.blob), query: { uploads: '' } });
    const uploadId = firstValue(text, 'UploadId');
    if (!uploadId) throw new Error('The S3 store did not return an upload id.');
    return uploadId;
  }

  /** Uploads a part. Never rejects: the next write, or `finish`, throws the error. */
  private async put(part: Part, number: number): Promise<void> {
    try {
      const query = { partNumber: String(number), uploadId: this.uploadId! };
      const { headers } = await this.client.ask({
        ...{ method: 'PUT', key: blobKeyOf(this.blob), query },
        ...part.request(),
      });
      this.etags[number - 1] = String(headers['etag'] ?? '');
    } catch (error) {
      this.failure ??= error;
    } finally {
      part.release();
    }
  }

  async finish(): Promise<void> {
    await this.marked;
    if (this.uploadId === undefined) {
      this.wasSent = this.isInDoubt = true;
      await this.client.ask({ method: 'PUT', key: blobKeyOf(this.blob), ...this.part.request() });
    } else {
      const number = this.etags.push('');
      await Promise.all([...this.onTheWay, this.put(this.part, number)]);
      if (this.failure) throw this.failure;
      this.wasSent = this.isInDoubt = true;
      await this.complete(this.uploadId);
    }
    this.isInDoubt = false;
    this.letGo();
  }

  private async complete(uploadId: string): Promise<void> {
    const parts = this.etags.map((etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${etag}</ETag></Part>`);
    const body = Buffer.from(
      `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.join('')}</CompleteMultipartUpload>`,
    );
    const request: S3Request = { method: 'POST', key: blobKeyOf(this.blob), query: { uploadId }, body: [body] };
    try {
      const { text } = await this.client.ask({ ...request, headers: { 'content-type': 'application/xml' } });
      // The store starts its response before the result is known, so the response can be an error despite status 200.
      if (text.includes('<Error>')) throw away(new Error(`Completing an upload: ${firstValue(text, 'Code')}`));
    } catch (error) {
      // The first attempt may have succeeded although its response was lost.
      if (!(error instanceof S3Refusal && error.code === 'NoSuchUpload') || !(await this.isComplete())) throw error;
    }
    this.uploadId = undefined;
  }

  private async isComplete(): Promise<boolean> {
    const found = await this.client.find({ method: 'HEAD', key: blobKeyOf(this.blob) });
    return found !== undefined && Number(found.headers['content-length']) === this.bytes;
  }

  private letGo(): void {
    this.part.release();
    this.part = new Part();
  }

  /** Deletes the upload. Never throws, so that the original error is kept. Remaining data has a marker and is deleted later. */
  async abort(): Promise<void> {
    this.letGo();
    try {
      await Promise.all(this.onTheWay);
      await this.marked;
      const key = blobKeyOf(this.blob);
      const { uploadId, wasSent } = this;
      if (uploadId !== undefined) await this.client.delete(key, { query: { uploadId }, maxTries: 1 });
      if (wasSent) await this.client.delete(key, { maxTries: 1 });
      if (!this.isInDoubt) await this.client.delete(markKeyOf(this.blob), { maxTries: 1 });
    } catch {
      // Ignore the error: if the later deletion fails too, it reports the error.
    }
  }
}

/** Maximum unused buffers that are kept. */
const maxIdle = 3;

export interface PartBuffer {
  readonly buffer: Buffer;
  /** Returns the buffer to the pool. Can be called twice. */
  release(): void;
}

/** Pool of buffers. Without reuse, garbage collection frees buffers so late that uploads take several times the memory. */
export class PartBuffers {
  private readonly waiting = new Set<() => void>();
  private readonly idle: Buffer[] = [];
  private releases = 0;

  /** @param free maximum buffers @param bytes size of each @param maxWaitMs maximum wait while no buffer is released */
  constructor(
    private free: number,
    private readonly bytes: number,
    private readonly maxWaitMs: number,
  ) {}

  /** Waits for a buffer, first come, first served. @throws LwsError `too-busy` if none is released in time */
  async take(): Promise<PartBuffer> {
    if (this.free > 0) this.free--;
    else await this.turn();
    const buffer = this.idle.pop() ?? Buffer.allocUnsafeSlow(this.bytes);
    let isTaken = true;
    const release = (): void => {
      if (isTaken) this.giveBack(buffer);
      isTaken = false;
    };
    return { buffer, release };
  }

  private giveBack(buffer: Buffer): void {
    if (this.idle.length < maxIdle) this.idle.push(buffer);
    this.releases++;
    const [next] = this.waiting;
    if (next) next();
    else this.free++;
  }

  private turn(): Promise<void> {
    return new Promise((resolve, reject) => {
      let seen = this.releases;
      const timer = setInterval(() => {
        if (seen === this.releases) settle(busy());
        seen = this.releases;
      }, this.maxWaitMs);
      const settle = (error?: Error): void => {
        clearInterval(timer);
        this.waiting.delete(settle);
        if (error) reject(error);
        else resolve();
      };
      this.waiting.add(settle);
    });
  }
}

const busy = (): LwsError => tooBusy('Too many large uploads are in progress. Retry in a few seconds.', 10);
