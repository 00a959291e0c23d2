/** Opens blobs wherever they are: the one place that knows every kind. */
import type { BlobLocation, Blobs } from './blobs.js';
import { FileBlobs } from './file-blobs.js';

/** The blobs at a location, which any thread may ask for; `open` comes first where the place may be missing. */
export async function blobsAt(location: BlobLocation): Promise<Blobs> {
  if (!location.s3) return new FileBlobs(location);
  // Who has a folder need not load it.
  const { S3Blobs } = await import('../s3/s3-blobs.js');
  return new S3Blobs(location, location.s3);
}
