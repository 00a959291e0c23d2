/**
 * Stores blobs in an S3 store, below a prefix: each as the object `blobs/` NAME. One more object identifies the storage.
 *
 * Before a blob, an empty object `pending/` NAME (its marker) is written. The marker is deleted after the commit, so after a
 * crash every unreferenced blob has a marker. Several servers may share the store: a marker younger than a day may belong to an
 * upload in progress.
 */
import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import {
  assertDigest,
  type BlobFacts,
  type BlobLocation,
  type Blobs,
  type BlobWriter,
  DamagedBlobError,
  DiskSpace,
  HeldBlobs,
  StoreUnavailableError,
  verified,
} from '../../lib/plugin/blobs.js';
import { LwsError } from '../../lib/plugin/component.js';
import { elementsOf, firstValue, isMissing, type S3Address, S3Client, S3Refusal } from './s3-client.js';
import { S3Read } from './s3-read.js';
import { blobKeyOf, markKeyOf, PartBuffers, partBytes, S3Upload } from './s3-upload.js';

/** Key of the object with the IRI of the storage that owns the blobs. */
const ownerKey = 'storage';
const doubtMs = 24 * 3_600_000;
/** Maximum count of part buffers in memory, and maximum wait of an upload for a buffer, in milliseconds. */
const [maxParts, maxWaitMs] = [32, 30_000];
/** Time for which the result of a check is cached, in milliseconds. */
const readyMs = 5_000;

/** Opens the blob store at a location. */
export const blobsIn = (location: BlobLocation): Blobs => new S3Blobs(location, location.place!.address as S3Address);

export class S3Blobs extends HeldBlobs implements Blobs {
  readonly name: string;
  readonly isShared = true;
  readonly atOnce = 16;
  isNew = false;
  readonly space: DiskSpace;
  private readonly client: S3Client;
  private readonly buffers = new PartBuffers(maxParts, partBytes, maxWaitMs);
  private readiness: Promise<void> | undefined;
  private askedAt = 0;

  constructor(
    readonly location: BlobLocation,
    private readonly address: S3Address,
  ) {
    super();
    this.name = `s3://${address.bucket}/${address.prefix}`;
    this.client = new S3Client(address);
    this.space = new DiskSpace(location.dataDir);
  }

  async exists(): Promise<boolean> {
    return (await this.owner()) !== undefined;
  }

  private async owner(): Promise<string | undefined> {
    try {
      return (await this.client.find({ method: 'GET', key: ownerKey }))?.text;
    } catch (error) {
      throw this.explained(error);
    }
  }

  async open(storage: string): Promise<void> {
    const owner = await this.owner();
    this.isNew = owner === undefined;
    if (owner !== undefined && owner !== storage)
      throw new StoreUnavailableError(
        `${this.name} (lws.blobs) contains the blobs of another storage, ${owner}; this one is ${storage}. Choose another prefix.`,
      );
    try {
      // Write at every start, so that read-only credentials are detected before clients write.
      await this.client.ask({ method: 'PUT', key: ownerKey, body: [Buffer.from(storage)] });
    } catch (error) {
      throw this.explained(error);
    }
  }

  /** Returns the error for the operator, with the settings that may be wrong. */
  private explained(error: unknown): unknown {
    const { endpoint, bucket, region, accessKeyId } = this.address;
    if (error instanceof LwsError)
      return new StoreUnavailableError(
        `The S3 store at ${endpoint} (lws.blobs.s3.endpoint) cannot be used: ${error.reason}`,
        error,
      );
    if (!(error instanceof S3Refusal)) return error;
    const { code, message } = error;
    const reason =
      code === 'NoSuchBucket'
        ? `Bucket ${bucket} (lws.blobs) does not exist at ${endpoint}. Create it, or choose another.`
        : `${message} Endpoint: ${endpoint} (lws.blobs.s3.endpoint), region: ${region} (lws.blobs.s3.region), bucket: ${this.name} ` +
          `(lws.blobs), key: ${accessKeyId} (lws.blobs.s3.access-key-id) with its lws.blobs.s3.secret-access-key.`;
    return new StoreUnavailableError(reason, error);
  }

  async create(blob: string = randomUUID()): Promise<BlobWriter> {
    await this.space.assertSome();
    return new S3Upload(blob, this.client, this.buffers);
  }

  /** Asserts that the store is available. The result is cached, because anonymous callers can trigger the check. */
  async assertReady(): Promise<void> {
    await this.space.assertSome();
    const now = Date.now();
    if (now - this.askedAt >= readyMs || !this.readiness) {
      this.askedAt = now;
      this.readiness = this.probe();
      this.readiness.catch(() => {});
    }
    await this.readiness;
  }

  async probe(): Promise<void> {
    await this.client.ask({ method: 'HEAD', key: ownerKey, maxTries: 1 });
  }

  async confirm(blob: string): Promise<void> {
    await this.client.delete(markKeyOf(blob));
  }

  /** Deletes a blob. A reader that has it open may fail after a long pause. */
  async remove(blob: string): Promise<void> {
    await this.held;
    await this.client.delete(blobKeyOf(blob));
    await this.confirm(blob);
  }

  async read(expected: BlobFacts, range?: { start: number; end: number }): Promise<Readable> {
    const stream = await this.opened(expected, range ?? { start: 0, end: expected.size - 1 });
    return range ? stream : verified(stream, expected);
  }

  async bytes(expected: BlobFacts): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for await (const chunk of await this.opened(expected, { start: 0, end: expected.size - 1 })) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    assertDigest(bytes, expected);
    return bytes;
  }

  private async opened({ blob, size }: BlobFacts, range: { start: number; end: number }): Promise<Readable> {
    const otherSize = (found: number): Error => new DamagedBlobError(blob, `has ${found} bytes instead of ${size}`);
    const stream = new S3Read({ client: this.client, key: blobKeyOf(blob), ...range, size, otherSize });
    try {
      await stream.open();
      return stream;
    } catch (error) {
      stream.destroy();
      throw isMissing(error) ? Object.assign(error as Error, { code: 'ENOENT' }) : error;
    }
  }

  private listing(folder: string): ListingOptions {
    return { client: this.client, prefix: this.address.prefix, folder };
  }

  /** Returns blobs with an old marker. First aborts abandoned uploads, to which no resource can refer. */
  async inDoubt(): Promise<string[]> {
    for await (const { key, uploadId, ageMs } of openUploads(this.listing('blobs/')))
      if (ageMs > doubtMs && !(await this.isMarkYoung(key.slice(blobKeyOf('').length))))
        await this.client.delete(key, { query: { uploadId } });
    const found: string[] = [];
    for await (const { key, ageMs } of objects(this.listing('pending/')))
      if (ageMs > doubtMs) found.push(key.slice(markKeyOf('').length));
    return found;
  }

  /** True if an upload may be in progress. A long upload renews its marker. */
  private async isMarkYoung(blob: string): Promise<boolean> {
    const { headers } = (await this.client.find({ method: 'HEAD', key: markKeyOf(blob) })) ?? {};
    return headers !== undefined && timeOf(headers['date']) - timeOf(headers['last-modified']) <= doubtMs;
  }

  async *all(): AsyncGenerator<string> {
    const marked = new Set<string>();
    for await (const { key } of objects(this.listing('pending/'))) marked.add(key.slice(markKeyOf('').length));
    for await (const { key } of objects(this.listing('blobs/'))) {
      const blob = key.slice(blobKeyOf('').length);
      if (!marked.has(blob)) yield blob;
    }
  }

  async size(blob: string): Promise<number | undefined> {
    const found = await this.client.find({ method: 'HEAD', key: blobKeyOf(blob) });
    return found && Number(found.headers['content-length']);
  }

  close(): void {
    this.client.close();
  }
}

interface Listed {
  /** Key without the prefix of the store. */
  readonly key: string;
  /** Milliseconds since the object was written, by the clock of the store. */
  readonly ageMs: number;
}

export interface ListingOptions {
  readonly client: S3Client;
  /** Prefix of all keys of the store. */
  readonly prefix: string;
  /** Prefix of the keys to list, after the prefix of the store. */
  readonly folder: string;
  readonly pageSize?: number;
}

/**
 * Yields objects in key order. Uses version 1 of the listing, with the last key as marker, because every store supports it.
 * @throws S3Refusal, LwsError `too-busy`
 */
export async function* objects({ client, prefix, folder, pageSize = 1000 }: ListingOptions): AsyncGenerator<Listed> {
  let marker = '';
  for (;;) {
    const query = { prefix: prefix + folder, 'max-keys': String(pageSize), ...(marker === '' ? {} : { marker }) };
    const { text, headers } = await client.ask({ method: 'GET', query });
    const now = timeOf(headers['date']);
    const before = marker;
    for (const element of elementsOf(text, 'Contents')) {
      marker = firstValue(element, 'Key') ?? '';
      yield { key: marker.slice(prefix.length), ageMs: now - timeOf(firstValue(element, 'LastModified')) };
    }
    if (firstValue(text, 'IsTruncated') !== 'true') return;
    assertForward(before, marker);
  }
}

/** Yields multipart uploads that are neither completed nor aborted. @throws as `objects` */
export async function* openUploads(options: ListingOptions): AsyncGenerator<Listed & { readonly uploadId: string }> {
  const { client, prefix, folder, pageSize = 1000 } = options;
  let after: Readonly<Record<string, string>> = {};
  for (;;) {
    const query = { uploads: '', prefix: prefix + folder, 'max-uploads': String(pageSize), ...after };
    const { text, headers } = await client.ask({ method: 'GET', query });
    const now = timeOf(headers['date']);
    for (const element of elementsOf(text, 'Upload')) {
      const [key, uploadId] = [firstValue(element, 'Key') ?? '', firstValue(element, 'UploadId') ?? ''];
      yield { key: key.slice(prefix.length), uploadId, ageMs: now - timeOf(firstValue(element, 'Initiated')) };
    }
    if (firstValue(text, 'IsTruncated') !== 'true') return;
    const next = {
      'key-marker': firstValue(text, 'NextKeyMarker') ?? '',
      'upload-id-marker': firstValue(text, 'NextUploadIdMarker') ?? '',
    };
    assertForward(JSON.stringify(after), JSON.stringify(next));
    after = next;
  }
}

function assertForward(before: string, after: string): void {
  if (before === after) throw new Error('The S3 store returns the same page repeatedly.');
}

/** Parses a date. @throws Error for an invalid date: an object must not be deleted by mistake because it seems old */
function timeOf(date: string | string[] | undefined): number {
  const time = Date.parse(String(date));
  if (Number.isNaN(time)) throw new Error(`The S3 store returned an invalid date: ${String(date).slice(0, 100)}.`);
  return time;
}
