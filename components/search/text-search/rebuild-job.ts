/** Job that rebuilds the text index while the server is running (rule 13.13). */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Progress } from '../../../lib/component/contract.js';
import type { Store } from '../../../lib/storage/transactions/store.js';
import { tooBusy } from '../../../lib/tools/errors.js';
import type { Log } from '../../../lib/tools/log.js';
import type { BackgroundRebuild } from '../postings/background-rebuild.js';

/** Resources and quads that are indexed within about a second: such an index is rebuilt before the server accepts requests. */
const [fewResources, fewQuads] = [100, 20_000];

export const isQuicklyIndexed = ({ commits: { counts } }: Store): boolean =>
  counts.resources <= fewResources && counts.quads <= fewQuads;

/** Asserts that the index can be searched. @throws LwsError `too-busy` while it is being rebuilt */
export function assertComplete(index: BackgroundRebuild): void {
  if (!index.isComplete)
    throw tooBusy('The text index is being rebuilt. Retry after the time in Retry-After.', index.secondsLeft);
}

/** Milliseconds until a failed rebuild is retried, for example after a full disk. */
const retryMs = 60_000;

export class RebuildJob {
  private readonly ended = new AbortController();
  private running: Promise<void> | undefined;

  constructor(
    private readonly index: BackgroundRebuild,
    private readonly log: Log,
    private readonly progress: Progress,
  ) {}

  get isRunning(): boolean {
    return this.running !== undefined;
  }

  start(): void {
    if (this.index.isComplete) return;
    this.log.warn(
      'The text index is being rebuilt. Text searches and labels are answered with 503 until it is complete.',
    );
    this.running = this.run().finally(() => {
      this.running = undefined;
    });
  }

  /** Stops the rebuild permanently. After a restart of the server, the rebuild begins from scratch. */
  async stop(): Promise<void> {
    this.ended.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { signal } = this.ended;
    while (!this.index.isComplete && !signal.aborted)
      try {
        const resources = await this.index.run(this.progress, signal);
        this.log.warn({ resources }, 'The text index is complete.');
      } catch (error) {
        if (signal.aborted) return;
        this.log.error({ err: error }, 'The text index could not be rebuilt. Retrying in a minute.');
        // The sleep rejects when the server stops.
        await sleep(retryMs, undefined, { signal }).catch(() => {});
      }
  }
}
