/** Keeps or removes blobs after their transaction was committed or dropped. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Blobs } from '../blobs/blobs.js';
import { allGarbage, blobKey, garbageKey } from '../keys/records.js';
import { forEachConcurrently } from '../level/concurrently.js';
import { keyBlocks, type Level } from '../level/durable-level.js';
import type { Coordination } from './coordination.js';
import type { Transaction } from './transaction.js';

/** Time between two sweeps for blobs left by a crash, in milliseconds. */
const sweepMs = 3_600_000;
/** Maximum duration of an upload, in milliseconds. An older uncommitted blob belongs to an interrupted upload. */
const dayMs = 24 * sweepMs;

export interface SweeperOptions {
  readonly level: Level;
  readonly blobs: Blobs;
  /** Keys of removed blobs, which the next batch deletes. */
  readonly forgotten: Set<string>;
  readonly coordination: Pick<Coordination, 'hasOthers' | 'freshen'>;
  readonly onTrouble: ((message: string, error: unknown) => void) | undefined;
}

/**
 * Keeps or removes blobs in doubt at startup, before any transaction. If other servers share the blob store, an upload counts
 * as interrupted only after a day, and the blob store may be unreachable. The sweep then runs in the background, at startup and
 * every hour.
 */
export class BlobSweeper {
  private readonly ending = new AbortController();
  private running: Promise<void> | undefined;

  constructor(private readonly options: SweeperOptions) {}

  /** Starts the sweep. @param everywhere true to also check blobs without a mark: not committed, or removed and returned */
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
        this.options.onTrouble?.('Blobs could not be swept. The sweep is retried in an hour.', error),
      );
      await sleep(sweepMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  /** Runs one sweep. Returns early after `stop`. */
  async sweep(): Promise<void> {
    const { level, blobs, forgotten, coordination } = this.options;
    const { signal } = this.ending;
    const doubtful = await blobs.inDoubt(coordination.hasOthers ? dayMs : 0);
    // Apply commits of other servers after reading the list, so that commits of blobs in the list are known.
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

  /** Ends a running sweep. Waits for removals that are delayed by `hold`. */
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

/** Delay before a blob is removed, in milliseconds: another server may still be reading it. */
const keptMs = 30_000;

export class SettledBlobs {
  /**
   * Garbage keys of removed blobs, which the next batch deletes. A separate unsynced write could fail in the middle of
   * LevelDB's log and lose all later writes.
   */
  readonly forgotten = new Set<string>();

  private readonly working = new Set<Promise<void>>();
  private readonly sweeper: BlobSweeper;

  constructor(private readonly options: Omit<SweeperOptions, 'forgotten'>) {
    this.sweeper = new BlobSweeper({ ...options, forgotten: this.forgotten });
  }

  /** Starts the sweep at startup. @param everywhere true after a possible power cut @throws the error of the disk */
  begin(everywhere: boolean): Promise<void> {
    return this.sweeper.begin(everywhere);
  }

  /** Waits for pending work and closes the blob store. */
  async close(): Promise<void> {
    await this.sweeper.stop();
    await Promise.all(this.working);
    await this.options.blobs.close();
  }

  /** Confirms the new blobs of a committed transaction, and deletes the blobs that the transaction has removed. */
  async committed({ addedBlobs, removedBlobs, isForeign }: Transaction): Promise<void> {
    if (isForeign) {
      // The server that committed the transaction removes the blobs.
      for (const blob of removedBlobs) this.forgotten.add(garbageKey(blob));
      return;
    }
    await this.settle(async (blobs) => {
      await forEachConcurrently(addedBlobs.keys(), blobs.atOnce, (blob) => blobs.confirm(blob));
      if (!this.options.coordination.hasOthers) await this.remove(blobs, removedBlobs);
      // If the process ends first, the next start removes the blobs.
      else setTimeout(() => void this.settle(() => this.remove(blobs, removedBlobs)), keptMs).unref();
    });
  }

  private remove(blobs: Blobs, removed: ReadonlySet<string>): Promise<void> {
    return forEachConcurrently(removed, blobs.atOnce, async (blob) => {
      await blobs.remove(blob);
      this.forgotten.add(garbageKey(blob));
    });
  }

  /** Removes the new blobs of a transaction that is not on disk. */
  dropped({ addedBlobs }: Transaction): Promise<void> {
    return this.settle(async (blobs) => {
      await forEachConcurrently(addedBlobs.keys(), blobs.atOnce, (blob) => blobs.remove(blob));
    });
  }

  private async settle(work: (blobs: Blobs) => Promise<void>): Promise<void> {
    const { blobs, onTrouble } = this.options;
    const done = work(blobs).catch((error) =>
      onTrouble?.('A blob could not be settled. A later sweep retries it.', error),
    );
    this.working.add(done);
    await done;
    this.working.delete(done);
  }
}
