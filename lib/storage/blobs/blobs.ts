/**
 * Where the bytes of JSON and binary resources are, one immutable blob each: in a folder (file-blobs.ts), or in a place that a
 * component gives. It must not know resources; the store says which blobs are referred to.
 */
import type { Readable } from 'node:stream';
import type { BlobFacts } from '../keys/blob-integrity.js';
import type { DiskSpace } from '../level/disk-space.js';

/** A place of blobs that a component gives. Plain data, for threads too. */
export interface BlobPlace {
  /** The URL of a module that exports `blobsIn(location: BlobLocation): Blobs`. */
  readonly module: string;
  /** An id that no other place has; the same on all servers of a storage. */
  readonly id: string;
  /** What the module needs to reach the place. It may have secrets, and is never printed or logged. */
  readonly address: unknown;
}

/** Plain data, from which a thread opens the same blobs (`blobsAt`). */
export interface BlobLocation {
  readonly dataDir: string;
  /** Absent: the folder `blobs/` of the data directory. */
  readonly place?: BlobPlace | undefined;
}

/** Takes the bytes of one upload. Exactly one of `finish` and `abort` must be called. */
export interface BlobWriter {
  readonly blob: string;
  write(chunk: Uint8Array): Promise<void>;
  /** Returns when the blob is in its place and survives a loss of power. It is unreferenced until a transaction commits. */
  finish(): Promise<void>;
  /** Removes what was written; harmless after `finish` when the transaction did not commit. */
  abort(): Promise<void>;
}

export interface Blobs {
  readonly location: BlobLocation;
  /** The name of the place in messages to the operator. */
  readonly name: string;
  /** Other servers may put blobs there too. Uploads that a crash broke off are removed while the server runs, when they are old enough. */
  readonly isShared: boolean;
  /** How many concurrent calls are worth it. */
  readonly atOnce: number;
  /** The place was made when it was opened. */
  readonly isNew: boolean;
  /** The free space of the disk that LevelDB is on. */
  readonly space: DiskSpace;
  /** Whether the place is there, before `open` makes it. */
  exists(): Promise<boolean>;
  /**
   * Makes the place when it is missing.
   * @param storage the storage's IRI
   * @throws the file system's error; StoreUnavailableError when the place refuses, or has the blobs of another storage
   */
  open(storage: string): Promise<void>;
  /**
   * Begins an upload.
   * @param blob its name, of a blob that is restored; absent: a new one
   * @throws LwsError `storage-full`
   */
  create(blob?: string): Promise<BlobWriter>;
  /** Whether uploads are taken now; cheap. @throws LwsError `storage-full`, `too-busy` */
  assertReady(): Promise<void>;
  /** Tries the steps of an upload, to find out whether uploads work. @throws the error of the disk or the place */
  probe(): Promise<void>;
  /** Notes that the blob's commit is durable: the blob is not in doubt any more. */
  confirm(blob: string): Promise<void>;
  /**
   * Keeps every blob that is there, also when nothing refers to it any more, so that those of one state can be copied. Other servers
   * do not hear of it: what they delete meanwhile is gone.
   * @returns a function that ends this
   */
  hold(): () => void;
  /** Removes a blob that nothing refers to. Readers that have it open keep it until they are done. */
  remove(blob: string): Promise<void>;
  /**
   * A stream of the bytes from `start` to `end` (inclusive). The blob is open when this returns. A stream of all bytes fails at its
   * end when they do not have their digest.
   * @throws DamagedBlobError when its length is another; an error with the code `ENOENT` when the blob is gone; LwsError `too-busy`
   */
  read(expected: BlobFacts, range?: { start: number; end: number }): Promise<Readable>;
  /** All bytes of a blob. @throws DamagedBlobError when they are not those that were stored; other errors as `read` */
  bytes(expected: BlobFacts): Promise<Buffer>;
  /** Blobs that may never have been committed, and whose upload began `minMs` ago or earlier. */
  inDoubt(minMs: number): Promise<string[]>;
  /** Every blob in its place but those in doubt; for `check`. */
  all(): AsyncIterable<string>;
  /** The size of a blob in bytes, `undefined` when it is missing; for `check`. */
  size(blob: string): Promise<number | undefined>;
  /** Closes connections. */
  close(): void | Promise<void>;
}

/** Lets removal wait until nothing copies blobs. */
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
