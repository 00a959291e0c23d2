/** Makes the `Blobs` of a location: the one place that knows every kind. */
import type { BlobLocation, Blobs } from './blobs.js';
import { FileBlobs } from './file-blobs.js';

/** The blobs at a location, in any thread. The caller calls `open` first where the place may be missing. */
export async function blobsAt(location: BlobLocation): Promise<Blobs> {
  if (!location.place) return new FileBlobs(location);
  const { blobsIn } = (await import(location.place.module)) as { blobsIn: (location: BlobLocation) => Blobs };
  return blobsIn(location);
}
