/** Bytes of JSON and binary resources, one immutable blob each: in a directory (file-blobs.ts), or in a blob store of a component. */
import type { Readable } from 'node:stream';
import type { BlobFacts } from '../keys/blob-integrity.js';
import type { DiskSpace } from '../level/disk-space.js';

/** A blob store contributed by a component. Plain data, also for threads. */
export interface BlobPlace {
  /** URL of a module that exports `blobsIn(location: BlobLocation): Blobs`. */
  readonly module: string;
  /** Unique id of the blob store, the same on all servers of a storage. */
  readonly id: string;
  /** Data that the module needs to connect. It may contain secrets and is never printed or logged. */
  readonly address: unknown;
}

/** Location of blobs: plain data, with which any thread can open the blob store (`blobsAt`). */
export interface BlobLocation {
  readonly dataDir: string;
  /** Blob store of a component. Default: the directory `blobs/` of the data directory. */
  readonly place?: BlobPlace | undefined;
}

/** Receives the bytes of one upload. Exactly one of `finish` and `abort` must be called. */
export interface BlobWriter {
  readonly blob: string;
  write(chunk: Uint8Array): Promise<void>;
  /** Resolves when the blob is stored and survives a power cut. The blob is unreferenced until a transaction commits. */
  finish(): Promise<void>;
  /** Removes the written bytes. Can also be called after `finish`, if the transaction did not commit. */
  abort(): Promise<void>;
}

export interface Blobs {
  readonly location: BlobLocation;
  /** Name of the location in messages to the operator. */
  readonly name: string;
  /** True if other servers store blobs there too. Interrupted uploads are then removed at run time when they are old enough. */
  readonly isShared: boolean;
  /** Recommended number of concurrent calls. */
  readonly atOnce: number;
  /** True if the location was created when it was opened. */
  readonly isNew: boolean;
  /** Free space of LevelDB's disk. */
  readonly space: DiskSpace;
  /** Returns true if the location exists, before `open` creates it. */
  exists(): Promise<boolean>;
  /**
   * Creates the location if it is missing.
   * @param storage the storage's IRI
   * @throws the file system's error; StoreUnavailableError if the store refuses access, or has the blobs of another storage
   */
  open(storage: string): Promise<void>;
  /** Starts an upload. @param blob name of a restored blob; default: a new name @throws LwsError `storage-full` */
  create(blob?: string): Promise<BlobWriter>;
  /** Checks quickly that uploads are accepted. @throws LwsError `storage-full`, `too-busy` */
  assertReady(): Promise<void>;
  /** Performs the steps of an upload to test that uploads work. @throws the error of the disk or the blob store */
  probe(): Promise<void>;
  /** Records that the commit of the blob is durable, so that the blob is no longer in doubt. */
  confirm(blob: string): Promise<void>;
  /**
   * Delays deletions, also of unreferenced blobs, so that a consistent set can be copied. Other servers still delete.
   * @returns a function that ends the delay
   */
  hold(): () => void;
  /** Removes an unreferenced blob. Readers that have it open can finish. */
  remove(blob: string): Promise<void>;
  /**
   * Returns a stream of the bytes from `start` to `end` (inclusive). The blob is open when the promise resolves. A stream of
   * all bytes fails at its end if the digest differs.
   * @throws DamagedBlobError if the size differs; an error with code `ENOENT` if the blob is missing; LwsError `too-busy`
   */
  read(expected: BlobFacts, range?: { start: number; end: number }): Promise<Readable>;
  /** Returns all bytes of a blob. @throws DamagedBlobError if they differ from what was stored; other errors as `read` */
  bytes(expected: BlobFacts): Promise<Buffer>;
  /** Returns the blobs whose commit is in doubt and whose upload started at least `minMs` ago. */
  inDoubt(minMs: number): Promise<string[]>;
  /** Yields every blob except those in doubt, for `check`. */
  all(): AsyncIterable<string>;
  /** Returns the size of a blob in bytes, `undefined` if it is missing, for `check`. */
  size(blob: string): Promise<number | undefined>;
  /**
   * Called if the last process did not close the store: `close` then syncs its removals. Absent: removals are durable at once.
   */
  afterCrash?(): void;
  close(): void | Promise<void>;
}

/** Base class that delays deletions while blobs are copied. */
export abstract class HeldBlobs {
  /** Resolves when every `hold` has been released. */
  protected held: Promise<unknown> | undefined;

  hold(): () => void {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.held = Promise.all([this.held, held]);
    return release;
  }
}
