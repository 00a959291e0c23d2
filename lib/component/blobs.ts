/** Contents of JSON and binary resources. */
export { assertDigest, type BlobFacts, DamagedBlobError, verified } from '../storage/keys/blob-integrity.js';
export { type BlobLocation, type BlobPlace, type Blobs, type BlobWriter, HeldBlobs } from '../storage/blobs/blobs.js';
export { blobsAt } from '../storage/blobs/blobs-at.js';
export { DiskSpace } from '../storage/level/disk-space.js';
