/** What a crash may have left of blobs. */
import { setTimeout as sleep } from 'node:timers/promises';
import { atOnce } from '../engine/at-once.js';
import { keyBlocks, type Level } from '../engine/durable-level.js';
import { allGarbage, blobKey, garbageKey } from '../state/records.js';
import type { Blobs } from './blobs.js';

const sweepMs = 3_600_000;
/** Nobody is at an upload for so long. */
const dayMs = 24 * sweepMs;

export interface SweeperOptions {
  readonly level: Level;
  readonly blobs: Blobs;
  /** Keys that the next batch removes. */
  readonly forgotten: Set<string>;
  /** Other servers write the storage. */
  readonly hasOthers: boolean;
  /** Makes LevelDB know what other servers have committed. */
  readonly freshen: () => Promise<void> | undefined;
  readonly onTrouble: ((message: string, error: unknown) => void) | undefined;
}

/**
 * Sweeps at the start, before anybody writes. Where other servers put blobs too, doubt takes a day to end, and the store may be away:
 * there it goes on beside requests, now and once an hour.
 */
export class BlobSweeper {
  private readonly ending = new AbortController();
  private running: Promise<void> | undefined;

  constructor(private readonly options: SweeperOptions) {}

  /** @param everywhere blobs without a mark may be of uploads that never committed, or removed ones that are back */
  async begin(everywhere: boolean): Promise<void> {
    const { level, blobs, hasOthers, forgotten } = this.options;
    if (blobs.isShared || hasOthers) this.running = this.goOn();
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

  /** Once; returns early when it is to end. */
  async sweep(): Promise<void> {
    const { level, blobs, forgotten, freshen, hasOthers } = this.options;
    const { signal } = this.ending;
    const doubtful = await blobs.inDoubt(hasOthers ? dayMs : 0);
    // After the list: what was committed before it was read is known here now.
    await freshen();
    await atOnce(doubtful, blobs.atOnce, async (blob) => (signal.aborted ? undefined : settle(level, blobs, blob)));
    for await (const keys of keyBlocks(level, allGarbage()))
      await atOnce(keys, blobs.atOnce, async (key) => {
        if (signal.aborted || forgotten.has(key)) return;
        await blobs.remove(blobOf(key));
        forgotten.add(key);
      });
  }

  /** Ends what is under way, when nothing holds blobs any more. */
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
