/**
 * Recovers after a batch that the disk has rejected: reopens LevelDB when the disk accepts writes again, because nothing can be
 * written after an incomplete record of its log.
 */
import type { Blobs } from '../blobs/blobs.js';
import { type Level, reopenLevel, sizeOfLog } from '../level/durable-level.js';
import type { CommitQueue } from './commit-queue.js';

/** Closes LevelDB in another thread. Returns a function that allows the thread to open it again. */
export type ReopeningPause = () => Promise<() => void>;

export interface RecoveryOptions {
  readonly level: Level;
  readonly blobs: Blobs;
  readonly queue: CommitQueue;
  readonly onTrouble: (message: string, error: unknown) => void;
  readonly onRecovery: (message: string) => void;
}

/** Minimum and maximum time between two attempts in milliseconds. Each attempt closes LevelDB, which interrupts readers. */
const [shortestMs, longestMs] = [1_000, 10_000];
/** Time without a failure after which the next failure starts with the minimum time again, in milliseconds. */
const forgottenMs = 60_000;
/** Disk space that LevelDB needs to open, in addition to a copy of its log, in bytes. */
const spareBytes = 4 << 20;

export class Recovery {
  /** Functions that close LevelDB in other threads of the server. */
  readonly pauses: ReopeningPause[] = [];
  private resumes: (() => void)[] = [];
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private delayMs = shortestMs;
  private failedAt = 0;
  private reason = '';
  private isClosed = false;

  constructor(private readonly options: RecoveryOptions) {}

  /** Starts the recovery after a failed batch. */
  begin(error: unknown): void {
    this.options.onTrouble(
      'The disk rejected a write. The storage is read-only until the disk accepts writes again.',
      error,
    );
    if (Date.now() - this.failedAt > forgottenMs) this.delayMs = shortestMs;
    this.failedAt = Date.now();
    this.plan();
  }

  /** Cancels a running attempt and starts no other. */
  async stop(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    await this.running;
    this.resume();
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
      onRecovery(`The storage accepts writes again. The write in doubt was ${wasStored ? '' : 'not '}stored.`);
    } catch (error) {
      // Report a reason once, not at each attempt.
      const reason = String((error as { reason?: string }).reason ?? error);
      if (reason !== this.reason) onTrouble('The storage cannot be opened for writes yet.', error);
      this.reason = reason;
      this.plan();
    }
  }

  private async reopen(): Promise<void> {
    // Threads of the process share one open LevelDB. While any of them has it open, LevelDB stays in its failed state.
    if (this.resumes.length === 0) await this.pause();
    try {
      await reopenLevel(this.options.level);
    } finally {
      // LevelDB may be open and still reject writes, but reads are possible.
      if (this.options.level.status === 'open') this.resume();
    }
  }

  /** Pauses the other threads. @throws the error of a thread that could not be paused; the others are resumed */
  private async pause(): Promise<void> {
    const results = await Promise.allSettled(this.pauses.map((pause) => pause()));
    this.resumes = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    const failed = results.find((result) => result.status === 'rejected');
    if (!failed) return;
    this.resume();
    throw failed.reason;
  }

  private resume(): void {
    for (const resume of this.resumes.splice(0)) resume();
  }
}
