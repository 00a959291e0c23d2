/** Back-ups under way of a running server: one at a time, each with a file that goes with it. It must not know HTTP. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Platform } from '../../lib/component.js';
import type { StateMessage, StateTask } from './state-worker.js';

/** Milliseconds after which a back-up that nobody asks for lets go. */
const forgottenMs = 15 * 60_000;

export interface BackupJob {
  readonly id: string;
  readonly file: string;
  readonly state: 'working' | 'ready' | 'failed';
  /** Entries so far. */
  readonly entries: number;
  readonly failure?: string;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export class BackupJobs {
  private current: Mutable<BackupJob> | undefined;
  private worker: Worker | undefined;
  private release: (() => void) | undefined;
  private timer: NodeJS.Timeout | undefined;
  private ended = new Int32Array(new SharedArrayBuffer(4));
  private readonly folder: string;

  constructor(private readonly platform: Platform) {
    this.folder = join(resolve(platform.dataDir), 'backup');
    // Of a process that ended meanwhile.
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Begins one; `undefined` while there is another. */
  begin(): BackupJob | undefined {
    if (this.current) return undefined;
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    const id = randomBytes(9).toString('hex');
    const job: Mutable<BackupJob> = { id, file: join(this.folder, id), state: 'working', entries: 0 };
    this.current = job;
    this.release = this.platform.store.blobs.hold();
    this.ended = new Int32Array(new SharedArrayBuffer(4));
    const folder = join(resolve(this.platform.dataDir), 'level');
    const task: StateTask = { folder, file: job.file, ended: this.ended };
    const worker = new Worker(new URL('./state-worker.js', import.meta.url), { workerData: task });
    this.worker = worker;
    worker.on('message', (message: StateMessage) => this.hear(job, message));
    worker.once('error', (error) => this.hear(job, { failure: error.message }));
    this.wake();
    return job;
  }

  private hear(job: Mutable<BackupJob>, message: StateMessage): void {
    if (this.current !== job || Atomics.load(this.ended, 0) !== 0) return;
    if ('failure' in message) {
      Object.assign(job, { state: 'failed', failure: message.failure });
      this.platform.log.error({ reason: message.failure }, 'a back-up failed');
    } else Object.assign(job, { entries: message.entries, state: message.done ? 'ready' : 'working' });
  }

  find(id: string): BackupJob | undefined {
    if (this.current?.id !== id) return undefined;
    this.wake();
    return this.current;
  }

  /** Whoever asks for it keeps it. */
  private wake(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.end(), forgottenMs).unref();
  }

  /** Lets go of the current one; waits for its thread, which has LevelDB open. */
  async end(): Promise<void> {
    clearTimeout(this.timer);
    const { current, worker, release } = this;
    this.release = undefined;
    // A thread that is killed while it reads could end the process: it ends by itself.
    Atomics.store(this.ended, 0, 1);
    if (worker) await new Promise((done) => (worker.threadId < 0 ? done(undefined) : worker.once('exit', done)));
    if (current) rmSync(current.file, { force: true });
    release?.();
    if (this.current === current) this.current = undefined;
  }
}
