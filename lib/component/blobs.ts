/** Contents of JSON and binary resources. */
export { type BlobFacts, DamagedBlobError } from '../storage/blobs/blob-integrity.js';
export type { BlobLocation, Blobs, BlobWriter } from '../storage/blobs/blobs.js';
export { blobsAt } from '../storage/blobs/blobs-at.js';
