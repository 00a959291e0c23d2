/** Whether the disk has room: asked before anything is written, since LevelDB cannot go on behind half a batch. */
import { statfs } from 'node:fs/promises';
import { LwsError } from '../errors.js';

/** Below this much free space writes are refused while the disk still has room for LevelDB's own files. */
const reservedBytes = 32 << 20;

export class DiskSpace {
  private checkedAt = 0;
  private check: Promise<void> | undefined;

  constructor(private readonly folder: string) {}

  /** Refuses writes on a nearly full disk. Asks the file system at most once a second. */
  async assertSome(): Promise<void> {
    const now = Date.now();
    if (now - this.checkedAt >= 1000 || !this.check) {
      this.checkedAt = now;
      this.check = statfs(this.folder).then(({ bavail, bsize }) => {
        if (bavail * bsize < reservedBytes) throw storageFull('less than 32 MiB are left on the disk');
      });
      this.check.catch(() => {});
    }
    await this.check;
  }

  /**
   * Refuses a batch that the disk might not take whole: LevelDB writes it into its log, and again into a table.
   * @param frees it is let through as long as the log has room for it
   * @throws LwsError `storage-full`
   */
  async assertFor(bytes: number, frees: boolean): Promise<void> {
    const { bavail, bsize } = await statfs(this.folder);
    const needed = frees ? bytes + (1 << 20) : 2 * bytes + reservedBytes;
    if (bavail * bsize < needed)
      throw storageFull(`a batch of about ${bytes} bytes needs more space than the disk has`);
  }
}

const noSpace =
  'The server has no space left for this write. Nothing was stored; tell the operator, or try again later.';

export const storageFull = (reason: string, cause?: unknown): LwsError =>
  new LwsError('storage-full', noSpace, { reason, cause });
