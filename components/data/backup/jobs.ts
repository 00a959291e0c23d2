/** Backup jobs of a running server. DELETE, or 15 minutes without a request, removes the files of a backup. */
import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Platform } from '../../../lib/component/contract.js';
import { Slots } from '../../../lib/component/slots.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { Thread } from '../../../lib/tools/threads/thread.js';
import { threadLimits } from '../../../lib/tools/threads/thread-limits.js';
import { type Job, JobRunner, type JobState } from '../jobs/job-runner.js';
import { maxSetBytes } from './graph-set.js';
import type { StateFiles } from './state-file.js';
import type { StateFunctions, StateTask } from './state-worker.js';

/** Time without a request after which the files of a backup are removed, in milliseconds. */
const idleMs = 15 * 60_000;

export interface BackupState extends JobState {
  readonly files: StateFiles;
  /** Count of entries written so far. */
  entries: number;
}

/** Limits concurrent backups over all storages: each needs a thread, and a file with the whole state. */
const slots = Slots.forControllers(2, 'backups');

const busy = 'Another backup is in progress. It ends when it is deleted, or after 15 minutes.';

class BackupJob implements Job<BackupState> {
  private readonly thread = new Thread<StateFunctions>({
    script: new URL('./state-worker.js', import.meta.url),
    limits: threadLimits(),
  });

  constructor(
    readonly state: BackupState,
    private readonly task: StateTask,
  ) {}

  async run(): Promise<void> {
    const take = (entries: number): void => {
      this.state.entries = entries;
    };
    this.state.entries = await this.thread.call('write', this.task, { take }).finally(() => this.stop());
  }

  stop(): Promise<void> {
    return this.thread.end();
  }
}

export class BackupJobs extends JobRunner<BackupJob> {
  /** Allows the deletion of blobs again. During a backup, no blobs are deleted. */
  private release: (() => void) | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isCancelled = false;

  constructor(platform: Platform) {
    super(platform, { name: 'backup', slots, busy });
    // Delete files of an earlier process.
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** True while a backup runs, and for a completed backup until its files are removed. */
  override get isBusy(): boolean {
    return super.isBusy || this.states.size > 0;
  }

  /**
   * Starts a backup. @param known serialized `GraphSet` of graphs to omit, or no bytes @throws LwsError `too-large`,
   * `too-busy`, or `conflict` if another backup exists or if `stop` was called meanwhile
   */
  begin(known: AsyncIterable<Uint8Array>): Promise<BackupState> {
    this.assertIdle();
    this.isCancelled = false;
    // Start the timeout here, so that it also applies to a client that sends slowly.
    this.keepAlive();
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    const check = (size: number): void => this.assertAccepted(size);
    return this.receive(known, check, async (id, size) => {
      check(size);
      const { dataDir, store, clock } = this.platform;
      const file = join(this.folder, id);
      const files = { state: `${file}.state`, quads: `${file}.quads` };
      const task = { folder: join(resolve(dataDir), 'level'), files, known: size > 0 ? file : undefined };
      const state = { id, files, status: 'running', entries: 0, began: clock() } as const;
      // Acquire the slot after the body was received, so that slow clients do not occupy slots.
      const release = slots.take();
      this.release = store.blobs.hold();
      this.keepAlive();
      return this.start(new BackupJob({ ...state }, task), release);
    });
  }

  private assertAccepted(size: number): void {
    if (size > maxSetBytes)
      throw new LwsError('too-large', `The set of known graphs exceeds ${maxSetBytes} bytes. Make a full backup.`);
    if (this.isCancelled) throw new LwsError('conflict', 'The backup was stopped before it began.');
  }

  override find(id: string): BackupState | undefined {
    const state = super.find(id);
    if (state) this.keepAlive();
    return state;
  }

  private keepAlive(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.stop(), idleMs).unref();
  }

  protected failed(error: unknown): Pick<JobState, 'status' | 'failure'> {
    const { message } = ((error as Error).cause ?? error) as Error;
    if (!this.isCancelled) this.platform.log.error({ reason: message }, 'a backup failed');
    return { status: 'failed', failure: message };
  }

  /** Cancels the backup, and removes its files. */
  override async stop(): Promise<void> {
    clearTimeout(this.timer);
    this.isCancelled = true;
    await super.stop();
    for (const id of this.states.keys()) await this.forget(id);
  }

  protected deleteFiles(): void {
    clearTimeout(this.timer);
    this.release?.();
    this.release = undefined;
    rmSync(this.folder, { recursive: true, force: true });
  }
}
