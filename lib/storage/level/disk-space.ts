/** Checks the free disk space before every write, because LevelDB cannot continue after an incomplete batch. */
import { statfs } from 'node:fs/promises';
import { LwsError } from '../../tools/errors.js';

/** Free space in bytes below which writes are rejected. LevelDB needs this space for its own files (logs, compactions). */
const reservedBytes = 32 << 20;
/** Free space in bytes below which deletions are rejected too. */
const leastBytes = 1 << 20;

export class DiskSpace {
  private checkedAt = 0;
  private free: Promise<number> | undefined;

  constructor(private readonly folder: string) {}

  /**
   * Rejects writes on an almost full disk. Reads the free space at most once a second.
   * @param frees true for a deletion, which may use the reserved space
   */
  async assertSome(frees = false): Promise<void> {
    const now = Date.now();
    if (now - this.checkedAt >= 1000 || !this.free) {
      this.checkedAt = now;
      this.free = this.freeBytes();
      this.free.catch(() => {});
    }
    const least = frees ? leastBytes : reservedBytes;
    if ((await this.free) < least) throw storageFull(`less than ${least >> 20} MiB of disk space are left`);
  }

  private async freeBytes(): Promise<number> {
    const { bavail, bsize } = await statfs(this.folder);
    return bavail * bsize;
  }

  /**
   * Rejects a batch if the disk may not have enough space: LevelDB writes it to its log, and again to a table.
   * @param frees true if the batch only deletes, so that it needs space in the log only
   * @throws LwsError `storage-full`
   */
  async assertFor(bytes: number, frees: boolean): Promise<void> {
    const needed = frees ? bytes + leastBytes : 2 * bytes + reservedBytes;
    if ((await this.freeBytes()) < needed)
      throw storageFull(`a batch of about ${bytes} bytes needs more disk space than is free`);
  }
}

const noSpace = 'The server has no disk space for this write. Nothing was stored. Tell the operator, or retry later.';

export const storageFull = (reason: string, cause?: unknown): LwsError =>
  new LwsError('storage-full', noSpace, { reason, cause });
