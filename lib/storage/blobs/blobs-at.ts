/** Creates the `Blobs` of a location. The only module that knows all implementations. */
import type { BlobLocation, Blobs } from './blobs.js';
import { FileBlobs } from './file-blobs.js';

/** Returns the blob store at a location, in any thread. Call `open` first if it may not exist. */
export async function blobsAt(location: BlobLocation): Promise<Blobs> {
  if (!location.place) return new FileBlobs(location);
  const { blobsIn } = (await import(location.place.module)) as { blobsIn: (location: BlobLocation) => Blobs };
  return blobsIn(location);
}
