/** Verifies the size and the digest of blobs. */
import { createHash, hash } from 'node:crypto';
import { pipeline, type Readable, Transform, type TransformCallback } from 'node:stream';

/** Facts about a blob in a resource's record: size in bytes and SHA-256 (base64). */
export interface BlobFacts {
  readonly blob: string;
  readonly size: number;
  readonly sha256: string;
}

/** Thrown if a blob differs from what was stored, because the disk has lost or changed it. No part of it may be served. */
export class DamagedBlobError extends Error {
  constructor(blob: string, what: string) {
    super(
      `The blob ${blob} ${what}. Stop the server, run "quadpod check --content", and restore the damaged resources from a backup.`,
    );
  }
}

/** Verifies the digest of a blob. @throws DamagedBlobError */
export function assertDigest(bytes: Uint8Array, expected: BlobFacts): void {
  if (hash('sha256', bytes, 'base64') !== expected.sha256) throw otherDigest(expected);
}

/** Returns a stream of the same bytes. If the digest differs, the stream fails before the last bytes. */
export function verified(stream: Readable, expected: BlobFacts): Readable {
  // Errors are emitted by the returned stream. The pipeline only closes the file.
  return pipeline(stream, new Verifier(expected), () => {});
}

/** Delays the last chunk until the digest is verified: a client counting bytes would accept damaged content as complete. */
class Verifier extends Transform {
  private readonly digest = createHash('sha256');
  private held: Buffer | undefined;

  constructor(private readonly expected: BlobFacts) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    this.digest.update(chunk);
    const ready = this.held;
    this.held = chunk;
    done(null, ready);
  }

  override _flush(done: TransformCallback): void {
    if (this.digest.digest('base64') === this.expected.sha256) done(null, this.held);
    else done(otherDigest(this.expected));
  }
}

const otherDigest = ({ blob }: BlobFacts): DamagedBlobError => new DamagedBlobError(blob, 'does not have its digest');
