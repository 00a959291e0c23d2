/** Entries of blobs that earlier states of resources refer to. The blobs are kept when the resource is replaced or deleted. */
import type { BlobFacts } from './blob-integrity.js';
import { entryKey, entryRange, partsOfEntry } from './records.js';

const space = 'versions-blobs';

export interface KeptBlob extends Omit<BlobFacts, 'blob'> {
  /** Count of earlier states with this content. */
  readonly count: number;
  /** True if no current resource has the blob. */
  readonly isFree?: true;
  /** True while a current resource has the blob, so that its size is counted for that resource. */
  readonly isShared?: true;
}

export const keptBlobKey = (blob: string): string => entryKey(space, blob);
export const keptBlobs = entryRange(space);
export const isKeptBlob = (key: string): boolean => key.startsWith(keptBlobs.gte);
export const readKeptBlob = (value: string): KeptBlob => JSON.parse(value) as KeptBlob;

/** Returns the facts about a kept blob, from its entry. */
export const keptBlobFacts = ([key, value]: readonly [key: string, value: string]): BlobFacts => ({
  blob: partsOfEntry(key)[1]!,
  ...factsIn(readKeptBlob(value)),
});

const factsIn = ({ size, sha256 }: KeptBlob) => ({ size, sha256 });
