/** Listings of an S3 store: objects, and uploads that were never completed. */
import type { S3Client } from './s3-client.js';
import { elementsOf, firstValue } from './xml.js';

export interface Listed {
  /** Below the prefix of the store. */
  readonly key: string;
  /** Milliseconds since it was written, by the clock of the store. */
  readonly ageMs: number;
}

export interface OpenUpload extends Listed {
  readonly uploadId: string;
}

export interface ListingOptions {
  readonly client: S3Client;
  /** What all keys of the store begin with. */
  readonly prefix: string;
  /** What the wanted keys continue with. */
  readonly folder: string;
  readonly pageSize?: number;
}

/**
 * Objects in the order of their keys. The first version of the listing is asked for, whose pages begin after a key: every store has it.
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

/** Multipart uploads that were neither completed nor aborted. @throws as `objects` */
export async function* openUploads(options: ListingOptions): AsyncGenerator<OpenUpload> {
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
  if (before === after) throw new Error('The S3 store lists the same page again and again.');
}

/** @throws Error for what is no date: nothing is taken for old by mistake */
export function timeOf(date: string | string[] | undefined): number {
  const time = Date.parse(String(date));
  if (Number.isNaN(time)) throw new Error(`The S3 store gives a date that is none: ${String(date).slice(0, 100)}.`);
  return time;
}
