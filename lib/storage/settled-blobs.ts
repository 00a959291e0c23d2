/** What becomes of blobs when the fate of their transaction is known. It must not know resources. */
import type { Blobs } from './blobs.js';
import { garbageKey } from './records.js';
import type { Transaction } from './transaction.js';

/** Another server may have begun to read a blob before it knew that nothing refers to it any more. */
const keptMs = 30_000;

export class SettledBlobs {
  /**
   * Keys of blobs that are removed. The next batch takes them along: a write of its own, not synced, could fail in the middle of
   * LevelDB's log, and then what is written after it would be lost.
   */
  readonly forgotten = new Set<string>();

  constructor(
    private readonly blobs: Blobs,
    private readonly onTrouble: ((message: string, error: unknown) => void) | undefined,
    private readonly isShared: boolean,
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
      if (!this.isShared) await this.remove(removedBlobs);
      // What is left at the end of the process is removed by the next start.
      else setTimeout(() => void this.settle(() => this.remove(removedBlobs)), keptMs).unref();
    });
  }

  private async remove(removedBlobs: ReadonlySet<string>): Promise<void> {
    for (const blob of removedBlobs) {
      await this.blobs.remove(blob);
      this.forgotten.add(garbageKey(blob));
    }
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
