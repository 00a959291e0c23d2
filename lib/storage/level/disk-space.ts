/** Whether the disk has room: asked before anything is written, since LevelDB cannot continue after half a batch. */
import { statfs } from 'node:fs/promises';
import { LwsError } from '../../errors.js';

/** With less free space writes are refused: the rest is kept for LevelDB's own files (logs, compactions). */
const reservedBytes = 32 << 20;
/** Deletions continue until there is less than this. */
const leastBytes = 1 << 20;

export class DiskSpace {
  private checkedAt = 0;
  private free: Promise<number> | undefined;

  constructor(private readonly folder: string) {}

  /**
   * Refuses writes on a nearly full disk. Asks the file system at most once a second.
   * @param frees a deletion, which may take what is reserved
   */
  async assertSome(frees = false): Promise<void> {
    const now = Date.now();
    if (now - this.checkedAt >= 1000 || !this.free) {
      this.checkedAt = now;
      this.free = this.freeBytes();
      this.free.catch(() => {});
    }
    const least = frees ? leastBytes : reservedBytes;
    if ((await this.free) < least) throw storageFull(`less than ${least >> 20} MiB are left on the disk`);
  }

  private async freeBytes(): Promise<number> {
    const { bavail, bsize } = await statfs(this.folder);
    return bavail * bsize;
  }

  /**
   * Refuses a batch that the disk might not take whole: LevelDB writes it into its log, and again into a table.
   * @param frees the batch only deletes: it needs space in the log alone
   * @throws LwsError `storage-full`
   */
  async assertFor(bytes: number, frees: boolean): Promise<void> {
    const needed = frees ? bytes + leastBytes : 2 * bytes + reservedBytes;
    if ((await this.freeBytes()) < needed)
      throw storageFull(`a batch of about ${bytes} bytes needs more space than the disk has`);
  }
}

const noSpace =
  'The server has no space left for this write. Nothing was stored; tell the operator, or try again later.';

export const storageFull = (reason: string, cause?: unknown): LwsError =>
  new LwsError('storage-full', noSpace, { reason, cause });
