/** What becomes of blobs when the fate of their transaction is known. It must not know resources. */
import type { Blobs } from './blobs.js';
import { garbageKey } from './records.js';
import type { Transaction } from './transaction.js';

export class SettledBlobs {
  /**
   * Keys of blobs that are removed. The next batch takes them along: a write of its own, not synced, could fail in the middle of
   * LevelDB's log, and then what is written after it would be lost.
   */
  readonly forgotten = new Set<string>();

  constructor(
    private readonly blobs: Blobs,
    private readonly onTrouble: ((message: string, error: unknown) => void) | undefined,
  ) {}

  /** Its batch is on the disk. */
  async committed({ addedBlobs, removedBlobs, isForeign }: Transaction): Promise<void> {
    if (isForeign) {
      // The server that did it settles the blobs themselves.
      for (const blob of removedBlobs) this.forgotten.add(garbageKey(blob));
      return;
    }
    await this.settle(async () => {
      for (const blob of addedBlobs.keys()) await this.blobs.confirm(blob);
      for (const blob of removedBlobs) {
        await this.blobs.remove(blob);
        this.forgotten.add(garbageKey(blob));
      }
    });
  }

  /** Its batch was in doubt, and is not on the disk. */
  dropped({ addedBlobs }: Transaction): Promise<void> {
    return this.settle(async () => {
      for (const blob of addedBlobs.keys()) await this.blobs.remove(blob);
    });
  }

  private async settle(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.onTrouble?.('A blob could not be settled; the next start will.', error);
    }
  }
}
