/** A job for a thread of a pool. */
import type { Worker } from 'node:worker_threads';

/** A job did not begin: `busy` (too many are waiting), `closed`, or `gone` (nobody waits for it any more). */
export class NotBegun extends Error {
  constructor(readonly why: 'busy' | 'closed' | 'gone') {
    super(`A job for a worker did not begin: ${why}`);
    this.name = 'NotBegun';
  }
}

export interface Job<T> {
  /** Whose it is, where clients share a pool. */
  readonly client?: string;
  /** Jobs of a lower one come first; 0 when absent. */
  readonly rank?: number;
  /** Aborts when nobody waits for it any more. */
  readonly gone?: AbortSignal;
  /**
   * Works with a thread that is its own for so long.
   * @param ended called once, when the thread may be used again, or (`false`) has to be given up
   */
  work(worker: Worker, ended: (reuse: boolean) => void): Promise<T>;
}
