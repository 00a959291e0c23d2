/**
 * Blob directory: the bytes of JSON and binary resources, one immutable file each.
 *
 * A blob is written to `tmp/`, synced, and linked to its final name, whose directory is synced, before the batch that refers to
 * it is written. The `tmp/` name is removed after the commit. So the names in `tmp/` are exactly the blobs with a commit in
 * doubt, and startup reads only those. A crash may leave a file without a reference, never a reference without a file.
 */
import { randomUUID } from 'node:crypto';
import { constants, createReadStream, existsSync } from 'node:fs';
import { type FileHandle, link, mkdir, open, readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { assertDigest, type BlobFacts, DamagedBlobError, verified } from '../keys/blob-integrity.js';
import { DiskSpace, storageFull } from '../level/disk-space.js';
import { syncPath } from '../level/synced-files.js';
import { type BlobLocation, type Blobs, type BlobWriter, HeldBlobs } from './blobs.js';

const coalescedBytes = 256 << 10;
/** Returns true for the name of a subdirectory: the first two digits of a blob's name. */
const isSubfolder = (name: string): boolean => /^[0-9a-f]{2}$/.test(name);

export class FileBlobs extends HeldBlobs implements Blobs {
  readonly name = 'blobs/';
  readonly isShared = false;
  readonly atOnce = 1;
  isNew = false;
  readonly space: DiskSpace;
  private readonly folder: string;
  /** Existing subdirectories, each with a promise that resolves when its name is on disk. */
  private readonly made = new Map<string, Promise<void>>();
  /** Subdirectories from which blobs were removed. `close` syncs them. */
  private readonly thinned = new Set<string>();

  constructor(readonly location: BlobLocation) {
    super();
    this.folder = join(location.dataDir, 'blobs');
    this.space = new DiskSpace(this.folder);
  }

  async exists(): Promise<boolean> {
    return existsSync(this.folder);
  }

  /** Creates the directories, except subdirectories, which are created for their first blob. @throws the file system's error */
  async open(): Promise<void> {
    await mkdir(join(this.folder, 'tmp'), { recursive: true, mode: 0o700 });
    const there = (await readdir(this.folder)).filter(isSubfolder);
    // Sync existing directories too: an earlier process may have ended between creating and syncing them.
    for (const folder of [this.folder, this.location.dataDir]) await syncPath(folder);
    for (const name of there) this.made.set(name, Promise.resolve());
    this.isNew = there.length === 0;
  }

  /** Resolves when the subdirectory of a blob exists and its name is on disk. */
  private makeFolderOf(blob: string): Promise<void> {
    const name = blob.slice(0, 2);
    let making = this.made.get(name);
    if (!making) {
      making = makeIfMissing(join(this.folder, name)).then(() => syncPath(this.folder));
      this.made.set(name, making);
      making.catch(() => this.made.delete(name));
    }
    return making;
  }

  private place(blob: string): string {
    return join(this.folder, blob.slice(0, 2), blob);
  }

  private mark(blob: string): string {
    return join(this.folder, 'tmp', blob);
  }

  /** Starts an upload. @throws LwsError `storage-full` if the disk is almost full */
  async create(blob: string = randomUUID()): Promise<BlobWriter> {
    await this.space.assertSome();
    try {
      await this.makeFolderOf(blob);
      const file = await open(this.mark(blob), 'wx', 0o600);
      return new OpenBlob(blob, file, { mark: this.mark(blob), place: this.place(blob), thinned: this.thinned });
    } catch (error) {
      throw outOfSpace(error);
    }
  }

  assertReady(): Promise<void> {
    return this.space.assertSome();
  }

  /** Writes and syncs a file, as an upload does. @throws the file system's error */
  async probe(): Promise<void> {
    const file = await open(this.mark('probe'), 'w', 0o600);
    try {
      await file.writeFile(Buffer.alloc(coalescedBytes));
      await file.sync();
    } finally {
      await file.close();
      await unlinkIfThere(this.mark('probe'));
    }
  }

  /** Records that the blob's commit is durable, so it is no longer in doubt. */
  async confirm(blob: string): Promise<void> {
    await unlinkIfThere(this.mark(blob));
  }

  /** Removes an unreferenced blob. Readers that have it open can finish. */
  async remove(blob: string): Promise<void> {
    await this.held;
    if (this.made.has(blob.slice(0, 2))) this.thinned.add(join(this.place(blob), '..'));
    await unlinkIfThere(this.place(blob));
    await unlinkIfThere(this.mark(blob));
  }

  /**
   * Returns a stream of the bytes from `start` to `end` (inclusive). The file is open when the promise resolves, so a blob
   * replaced meanwhile is still read completely. A stream of all bytes fails at its end if the digest differs.
   * @throws DamagedBlobError if the size differs; the file system's error (`ENOENT` if the blob is missing)
   */
  async read(expected: BlobFacts, range?: { start: number; end: number }): Promise<Readable> {
    const file = await this.openWhole(expected);
    const stream = createReadStream('', { fd: file, autoClose: true, highWaterMark: coalescedBytes, ...range });
    return range ? stream : verified(stream, expected);
  }

  /** Returns all bytes of a blob. @throws DamagedBlobError if they differ from the stored bytes; other errors as `read` */
  async bytes(expected: BlobFacts): Promise<Buffer> {
    const file = await this.openWhole(expected);
    try {
      const bytes = await file.readFile();
      assertDigest(bytes, expected);
      return bytes;
    } finally {
      await file.close();
    }
  }

  private async openWhole({ blob, size: expected }: BlobFacts): Promise<FileHandle> {
    const file = await open(this.place(blob), constants.O_RDONLY);
    const { size } = await file.stat();
    if (size === expected) return file;
    await file.close();
    throw new DamagedBlobError(blob, `has ${size} bytes instead of ${expected}`);
  }

  /** Returns the blobs whose commit was in doubt when the last process ended. */
  async inDoubt(minMs: number): Promise<string[]> {
    const marks = await readdir(join(this.folder, 'tmp'));
    if (minMs === 0) return marks;
    const old = await Promise.all(marks.map((blob) => isOlder(this.mark(blob), minMs)));
    return marks.filter((_, index) => old[index]);
  }

  /** Yields every blob file, for `check`. */
  async *all(): AsyncGenerator<string> {
    for (const name of await readdir(this.folder)) if (isSubfolder(name)) yield* await readdir(join(this.folder, name));
  }

  /** Returns the size of a blob in bytes, `undefined` if it is missing, for `check`. */
  async size(blob: string): Promise<number | undefined> {
    try {
      const file = await open(this.place(blob), constants.O_RDONLY);
      const { size } = await file.stat();
      await file.close();
      return size;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  afterCrash(): void {
    for (const name of this.made.keys()) this.thinned.add(join(this.folder, name));
  }

  /** Syncs removals: after that, a power cut cannot bring a removed blob back. No file is open between calls. */
  async close(): Promise<void> {
    for (const folder of this.thinned) await syncPath(folder);
  }
}

class OpenBlob implements BlobWriter {
  private pending: Uint8Array[] = [];
  private pendingBytes = 0;
  private closed = false;

  constructor(
    readonly blob: string,
    private readonly file: FileHandle,
    private readonly at: { readonly mark: string; readonly place: string; readonly thinned: Set<string> },
  ) {}

  async write(chunk: Uint8Array): Promise<void> {
    this.pending.push(chunk);
    this.pendingBytes += chunk.length;
    if (this.pendingBytes >= coalescedBytes) await this.flush();
  }

  private async flush(): Promise<void> {
    if (this.pendingBytes === 0) return;
    const chunks = this.pending;
    let left = this.pendingBytes;
    [this.pending, this.pendingBytes] = [[], 0];
    try {
      const { bytesWritten } = await this.file.writev(chunks);
      left -= bytesWritten;
      // `writev` may write less than requested. Write the rest.
      if (left > 0) await this.file.writeFile(Buffer.concat(chunks).subarray(-left));
    } catch (error) {
      throw outOfSpace(error);
    }
  }

  async finish(): Promise<void> {
    try {
      await this.flush();
      await this.file.datasync();
      await this.close();
      await link(this.at.mark, this.at.place);
      await syncPath(join(this.at.place, '..'));
    } catch (error) {
      throw outOfSpace(error);
    }
  }

  private async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    await this.file.close();
  }

  async abort(): Promise<void> {
    const { mark, place, thinned } = this.at;
    await this.close();
    thinned.add(join(place, '..'));
    await unlinkIfThere(place);
    await unlinkIfThere(mark);
  }
}

const outOfSpace = (error: unknown): unknown => {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG'
    ? storageFull(`writing a blob: ${code}`, error)
    : error;
};

/** Creates a directory unless it exists. Not recursive, because Node would then report another error for a full disk. */
async function makeIfMissing(folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

async function isOlder(path: string, ms: number): Promise<boolean> {
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
  return mtimeMs < Date.now() - ms;
}

async function unlinkIfThere(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
