/** Plug-in API: blob stores. */

export { type BlobLocation, type Blobs, type BlobWriter, HeldBlobs } from '../storage/blobs/blobs.js';
export { assertDigest, type BlobFacts, DamagedBlobError, verified } from '../storage/keys/blob-integrity.js';
export { DiskSpace } from '../storage/level/disk-space.js';
export { StoreUnavailableError } from '../storage/level/durable-level.js';
export { discard, Endpoint, type EndpointAnswer } from '../tools/outbound/endpoint.js';
