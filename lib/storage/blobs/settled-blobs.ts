/** What becomes of blobs when the fate of their transaction is known. */
import { atOnce } from '../engine/at-once.js';
import type { Transaction } from '../engine/transaction.js';
import { garbageKey } from '../state/records.js';
import type { Blobs } from './blobs.js';
import { BlobSweeper, type SweeperOptions } from './sweep-blobs.js';

/** Another server may have begun to read a blob before it knew that nothing refers to it any more. */
const keptMs = 30_000;

export class SettledBlobs {
  /**
   * Keys of blobs that are removed. The next batch takes them along: a write of its own, not synced, could fail in the middle of
   * LevelDB's log, and then what is written after it would be lost.
   */
  readonly forgotten = new Set<string>();

  private readonly working = new Set<Promise<void>>();
  private readonly sweeper: BlobSweeper;

  constructor(private readonly options: Omit<SweeperOptions, 'forgotten'>) {
    this.sweeper = new BlobSweeper({ ...options, forgotten: this.forgotten });
  }

  /** Settles what earlier processes left; `everywhere` when the power may have been cut. @throws the error of the disk */
  begin(everywhere: boolean): Promise<void> {
    return this.sweeper.begin(everywhere);
  }

  /** Returns when everything is settled, as far as it can be, and lets go of the blobs. */
  async close(): Promise<void> {
    await this.sweeper.stop();
    await Promise.all(this.working);
    await this.options.blobs.close();
  }

  /** Its batch is on the disk. */
  async committed({ addedBlobs, removedBlobs, isForeign }: Transaction): Promise<void> {
    if (isForeign) {
      // The server that did it settles the blobs themselves.
      for (const blob of removedBlobs) this.forgotten.add(garbageKey(blob));
      return;
    }
    await this.settle(async (blobs) => {
      await atOnce(addedBlobs.keys(), blobs.atOnce, (blob) => blobs.confirm(blob));
      if (!this.options.hasOthers) await this.remove(blobs, removedBlobs);
      // What is left at the end of the process is removed by the next start.
      else setTimeout(() => void this.settle(() => this.remove(blobs, removedBlobs)), keptMs).unref();
    });
  }

  private remove(blobs: Blobs, removed: ReadonlySet<string>): Promise<void> {
    return atOnce(removed, blobs.atOnce, async (blob) => {
      await blobs.remove(blob);
      this.forgotten.add(garbageKey(blob));
    });
  }

  /** Its batch was in doubt, and is not on the disk. */
  dropped({ addedBlobs }: Transaction): Promise<void> {
    return this.settle(async (blobs) => {
      await atOnce(addedBlobs.keys(), blobs.atOnce, (blob) => blobs.remove(blob));
    });
  }

  private async settle(work: (blobs: Blobs) => Promise<void>): Promise<void> {
    const { blobs, onTrouble } = this.options;
    const done = work(blobs).catch((error) => onTrouble?.('A blob could not be settled; a later sweep will.', error));
    this.working.add(done);
    await done;
    this.working.delete(done);
  }
}
