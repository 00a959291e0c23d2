/** Back-ups under way of a running server: one at a time, each with files that go with it. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Platform } from '../../lib/component/contract.js';
import { LwsError } from '../../lib/errors.js';
import { Semaphore } from '../../lib/threads/semaphore.js';
import { Thread } from '../../lib/threads/thread.js';
import { threadLimits } from '../../lib/threads/thread-limits.js';
import { maxSetBytes } from './graph-set.js';
import type { StateFiles } from './state-file.js';
import type { StateFunctions, StateTask } from './state-worker.js';

/** Milliseconds after which a back-up that nobody asks for lets go. */
const forgottenMs = 15 * 60_000;

export interface BackupJob {
  readonly id: string;
  readonly files: StateFiles;
  readonly state: 'working' | 'ready' | 'failed';
  /** Entries so far. */
  readonly entries: number;
  readonly failure?: string;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Each has a thread of its own, and a file of the whole state. */
const slots = new Semaphore(2, 'back-ups');

export class BackupJobs {
  private current: Mutable<BackupJob> | undefined;
  private thread: Thread<StateFunctions> | undefined;
  private release: (() => void) | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly folder: string;

  constructor(private readonly platform: Platform) {
    this.folder = join(resolve(platform.dataDir), 'backup');
    // Of a process that ended meanwhile.
    rmSync(this.folder, { recursive: true, force: true });
  }

  /**
   * Begins one; `undefined` while there is another.
   * @param known the bytes of a set of graphs that are left out, or none
   * @throws LwsError `too-large`, `conflict` when it was ended meanwhile
   */
  async begin(known: AsyncIterable<Uint8Array>): Promise<BackupJob | undefined> {
    if (this.current) return undefined;
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    const id = randomBytes(9).toString('hex');
    const [state, quads, set] = ['state', 'quads', 'known'].map((part) => join(this.folder, `${id}.${part}`));
    const files = { state: state!, quads: quads! };
    const job: Mutable<BackupJob> = { id, files, state: 'working', entries: 0 };
    this.current = job;
    this.release = this.platform.store.blobs.hold();
    this.wake();
    try {
      const isKnown = await this.receive(job, known, set!);
      const folder = join(resolve(this.platform.dataDir), 'level');
      this.write(job, { folder, files, known: isKnown ? set : undefined });
      return job;
    } catch (error) {
      if (this.current === job) await this.end();
      throw error;
    }
  }

  /** @returns whether there was anything */
  private async receive(job: BackupJob, bytes: AsyncIterable<Uint8Array>, file: string): Promise<boolean> {
    const handle = await open(file, 'wx', 0o600);
    let size = 0;
    try {
      for await (const chunk of bytes) {
        size += chunk.length;
        if (size > maxSetBytes)
          throw new LwsError('too-large', `The known graphs may take ${maxSetBytes} bytes. Make a whole back-up.`);
        if (this.current !== job) break;
        await handle.writeFile(chunk);
      }
    } finally {
      await handle.close();
    }
    if (this.current !== job) throw new LwsError('conflict', 'The back-up was ended before it began.');
    return size > 0;
  }

  private write(job: Mutable<BackupJob>, task: StateTask): void {
    // While it is written alone: who is slow to send, or to fetch, holds up nobody.
    const leave = slots.take();
    const script = new URL('./state-worker.js', import.meta.url);
    const thread = new Thread<StateFunctions>({ script, limits: threadLimits() });
    this.thread = thread;
    const become = (change: Partial<BackupJob>): boolean => {
      const isWanted = this.current === job && !thread.isEnding;
      if (isWanted) Object.assign(job, change);
      return isWanted;
    };
    const failed = (error: Error): void => {
      const { message } = (error.cause ?? error) as Error;
      if (become({ state: 'failed', failure: message }))
        this.platform.log.error({ reason: message }, 'a back-up failed');
    };
    thread
      .call('write', task, { take: (entries) => become({ entries }) })
      .then((entries) => become({ entries, state: 'ready' }), failed)
      .finally(() => thread.end())
      .finally(leave);
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

  get isBusy(): boolean {
    return this.current !== undefined;
  }

  /** Lets go of the current one; waits for its thread, which has LevelDB open. */
  async end(): Promise<void> {
    clearTimeout(this.timer);
    const { current, thread, release } = this;
    this.release = undefined;
    await thread?.end();
    release?.();
    if (this.current !== current) return;
    rmSync(this.folder, { recursive: true, force: true });
    this.current = undefined;
  }
}
