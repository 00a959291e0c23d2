/**
 * Makes a store writable again after a batch that the disk did not take: as soon as the cause is gone, LevelDB is opened again,
 * since nothing can be written after half a record of its log. It must not know what is stored, nor who reads.
 */
import type { Blobs } from '../blobs/blobs.js';
import { type Level, reopenLevel, sizeOfLog } from '../level/durable-level.js';
import type { CommitQueue } from './commit-queue.js';

/** Closes LevelDB in another thread, and returns a function that lets the thread open it again. */
export type Pause = () => Promise<() => void>;

export interface RecoveryOptions {
  readonly level: Level;
  readonly blobs: Blobs;
  readonly queue: CommitQueue;
  readonly onTrouble: (message: string, error: unknown) => void;
  readonly onRecovery: (message: string) => void;
}

/** The time between two attempts: each closes LevelDB, which interrupts all readers. */
const [shortestMs, longestMs] = [1_000, 10_000];
/** A failure so long after the last one is a new one. */
const forgottenMs = 60_000;
/** The disk space that LevelDB needs to open, besides a copy of its log. */
const spareBytes = 4 << 20;

export class Recovery {
  /** One for each other part of the server that has LevelDB open. */
  readonly pauses: Pause[] = [];
  private resumes: (() => void)[] = [];
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private delayMs = shortestMs;
  private failedAt = 0;
  private reason = '';
  private isClosed = false;

  constructor(private readonly options: RecoveryOptions) {}

  /** A batch could not be written. */
  begin(error: unknown): void {
    this.options.onTrouble('The disk did not take a write; the storage is read-only until it does again.', error);
    if (Date.now() - this.failedAt > forgottenMs) this.delayMs = shortestMs;
    this.failedAt = Date.now();
    this.plan();
  }

  /** Ends an attempt under way, and makes no other one. */
  async stop(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    await this.running;
  }

  private plan(): void {
    if (this.isClosed) return;
    this.timer = setTimeout(() => {
      this.running = this.attempt();
    }, this.delayMs).unref();
    this.delayMs = Math.min(longestMs, this.delayMs * 2);
  }

  private async attempt(): Promise<void> {
    const { level, blobs, queue, onTrouble, onRecovery } = this.options;
    try {
      await blobs.space.assertFor((await sizeOfLog(level)) + spareBytes, true);
      await blobs.probe();
      const wasStored = await queue.recover(() => this.reopen());
      this.reason = '';
      onRecovery(
        `The storage takes writes again. What was in doubt ${wasStored ? 'had been stored' : 'was not stored'}.`,
      );
    } catch (error) {
      // Reports a reason once, not at every attempt.
      const reason = String((error as { reason?: string }).reason ?? error);
      if (reason !== this.reason) onTrouble('The storage cannot be opened for writes yet.', error);
      this.reason = reason;
      this.plan();
    }
  }

  private async reopen(): Promise<void> {
    // Threads of the process share one open LevelDB: while any of them keeps it open, the failed one stays in use.
    if (this.resumes.length === 0) this.resumes = await Promise.all(this.pauses.map((pause) => pause()));
    try {
      await reopenLevel(this.options.level);
    } finally {
      // LevelDB may be open and still refuse writes; reads at least are possible then.
      if (this.options.level.status === 'open') for (const resume of this.resumes.splice(0)) resume();
    }
  }
}
