/** Keeps or removes blobs when it is known whether their transaction was stored. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Blobs } from '../blobs/blobs.js';
import { allGarbage, blobKey, garbageKey } from '../keys/records.js';
import { forEachConcurrently } from '../level/concurrently.js';
import { keyBlocks, type Level } from '../level/durable-level.js';
import type { Coordination } from './coordination.js';
import type { Transaction } from './transaction.js';

/** The time between two sweeps for blobs that a crash left. */
const sweepMs = 3_600_000;
/** No upload takes longer: after this, a blob without a commit is of an upload that was broken off. */
const dayMs = 24 * sweepMs;

export interface SweeperOptions {
  readonly level: Level;
  readonly blobs: Blobs;
  /** Keys of removed blobs, which the next batch removes. */
  readonly forgotten: Set<string>;
  readonly coordination: Pick<Coordination, 'hasOthers' | 'freshen'>;
  readonly onTrouble: ((message: string, error: unknown) => void) | undefined;
}

/**
 * Settles the blobs in doubt at the start, before any transaction. Where other servers put blobs too, an upload counts as broken off only
 * after a day, and the place of the blobs may be unreachable: there the sweep runs beside requests, at the start and once an hour.
 */
export class BlobSweeper {
  private readonly ending = new AbortController();
  private running: Promise<void> | undefined;

  constructor(private readonly options: SweeperOptions) {}

  /** @param everywhere blobs without a mark may be of uploads that never committed, or removed ones that are back */
  async begin(everywhere: boolean): Promise<void> {
    const { level, blobs, coordination, forgotten } = this.options;
    if (blobs.isShared || coordination.hasOthers) this.running = this.goOn();
    else {
      if (everywhere && !blobs.isNew)
        for await (const blob of blobs.all()) if (level.getSync(blobKey(blob)) === undefined) await blobs.remove(blob);
      await this.sweep();
      for (const key of forgotten) await level.del(key);
      forgotten.clear();
    }
  }

  private async goOn(): Promise<void> {
    const { signal } = this.ending;
    while (!signal.aborted) {
      await this.sweep().catch((error) =>
        this.options.onTrouble?.('Blobs could not be swept; that is tried again in an hour.', error),
      );
      await sleep(sweepMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  /** One sweep; returns early after `stop`. */
  async sweep(): Promise<void> {
    const { level, blobs, forgotten, coordination } = this.options;
    const { signal } = this.ending;
    const doubtful = await blobs.inDoubt(coordination.hasOthers ? dayMs : 0);
    // After the list was read: so each blob of it that other servers have committed meanwhile is known as committed.
    await coordination.freshen();
    await forEachConcurrently(doubtful, blobs.atOnce, async (blob) =>
      signal.aborted ? undefined : settle(level, blobs, blob),
    );
    for await (const keys of keyBlocks(level, allGarbage()))
      await forEachConcurrently(keys, blobs.atOnce, async (key) => {
        if (signal.aborted || forgotten.has(key)) return;
        await blobs.remove(blobOf(key));
        forgotten.add(key);
      });
  }

  /** Ends a sweep under way. Removals that wait for `hold` to end are waited for. */
  async stop(): Promise<void> {
    this.ending.abort();
    await this.running;
  }
}

const blobOf = (garbage: string): string => garbage.slice(garbageKey('').length);

async function settle(level: Level, blobs: Blobs, blob: string): Promise<void> {
  if ((await level.get(blobKey(blob))) === undefined) await blobs.remove(blob);
  else await blobs.confirm(blob);
}

/** Another server may have begun to read a blob before it knew that nothing refers to it any more. */
const keptMs = 30_000;

export class SettledBlobs {
  /**
   * Garbage keys of blobs that have been removed. The next batch removes them: an unsynced write of their own could fail in the middle
   * of LevelDB's log, and then all later writes would be lost.
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

  /** Waits for the work under way and closes the blobs. */
  async close(): Promise<void> {
    await this.sweeper.stop();
    await Promise.all(this.working);
    await this.options.blobs.close();
  }

  /** Settles the blobs of a transaction that is on the disk. */
  async committed({ addedBlobs, removedBlobs, isForeign }: Transaction): Promise<void> {
    if (isForeign) {
      // The server that committed it removes the blobs themselves.
      for (const blob of removedBlobs) this.forgotten.add(garbageKey(blob));
      return;
    }
    await this.settle(async (blobs) => {
      await forEachConcurrently(addedBlobs.keys(), blobs.atOnce, (blob) => blobs.confirm(blob));
      if (!this.options.coordination.hasOthers) await this.remove(blobs, removedBlobs);
      // When the process ends first, the next start removes them.
      else setTimeout(() => void this.settle(() => this.remove(blobs, removedBlobs)), keptMs).unref();
    });
  }

  private remove(blobs: Blobs, removed: ReadonlySet<string>): Promise<void> {
    return forEachConcurrently(removed, blobs.atOnce, async (blob) => {
      await blobs.remove(blob);
      this.forgotten.add(garbageKey(blob));
    });
  }

  /** Removes the new blobs of a transaction that is not on the disk. */
  dropped({ addedBlobs }: Transaction): Promise<void> {
    return this.settle(async (blobs) => {
      await forEachConcurrently(addedBlobs.keys(), blobs.atOnce, (blob) => blobs.remove(blob));
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
