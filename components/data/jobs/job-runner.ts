/** Runs the jobs of a storage, such as imports and backups: one at a time, with state, progress, cancel and resume. */
import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Platform } from '../../../lib/component/contract.js';
import type { Slots } from '../../../lib/component/slots.js';
import { LwsError } from '../../../lib/tools/errors.js';

export interface JobState {
  readonly id: string;
  /** Time of the start, in milliseconds since the epoch. */
  readonly began: number;
  /** `interrupted`: the job can be resumed. */
  readonly status: 'running' | 'done' | 'failed' | 'interrupted';
  readonly failure?: string;
}

export interface Job<S extends JobState = JobState> {
  /** Current state with the progress. Its status is always `running`. */
  readonly state: S;
  /** Does the work. @throws the reason why the job failed or was stopped */
  run(): Promise<void>;
  /** Stops the work. Returns when its thread has closed LevelDB. */
  stop(): Promise<void>;
}

/** Maximum count of jobs in the list. Older jobs are deleted. */
const maxRetained = 50;

export abstract class JobRunner<J extends Job> {
  protected readonly states = new Map<string, J['state']>();
  /** Directory for the files of jobs. */
  protected readonly folder: string;
  protected running: { readonly job: J; readonly ended: Promise<void> } | undefined;
  /** True while the body of a request for a job is being received. */
  private isReceiving = false;

  /** @param kind `name` for messages and the directory, `slots` of all storages, `busy`: the error while a job is running */
  constructor(
    protected readonly platform: Platform,
    protected readonly kind: { readonly name: string; readonly slots: Slots; readonly busy: string },
  ) {
    this.folder = join(resolve(platform.dataDir), kind.name);
    // The thread of a job has LevelDB open: end it before LevelDB is reopened.
    platform.store.beforeReopening(async () => {
      await this.abandon();
      return () => {};
    });
  }

  /** Returns the status and the message of a job that threw an error. */
  protected abstract failed(error: unknown, state: J['state']): Pick<JobState, 'status' | 'failure'>;

  /** Stores the state of a job that has ended. */
  protected async retain(_state: J['state'], _job: J): Promise<void> {}

  /** Deletes the stored state of a job. */
  protected async discard(_id: string): Promise<void> {}

  protected abstract deleteFiles(id: string): void;

  /** Deletes a job that is not running. */
  protected async forget(id: string): Promise<void> {
    // Delete the state first, so that the job cannot be resumed meanwhile.
    this.states.delete(id);
    await this.discard(id);
    this.deleteFiles(id);
  }

  /** Adds jobs of an earlier process. Jobs that were running become interrupted. */
  protected restore(states: readonly J['state'][]): void {
    for (const state of states)
      this.states.set(state.id, state.status === 'running' ? { ...state, status: 'interrupted' } : state);
  }

  get isBusy(): boolean {
    return this.isReceiving || this.running !== undefined;
  }

  find(id: string): J['state'] | undefined {
    const running = this.running?.job.state;
    return running?.id === id ? running : this.states.get(id);
  }

  /** Lists the jobs, newest first. */
  all(): J['state'][] {
    return [...this.states.values()].sort((a, b) => b.began - a.began);
  }

  /** Asserts that no job is running. @throws LwsError `conflict` */
  protected assertIdle(): void {
    if (this.isBusy) throw new LwsError('conflict', this.kind.busy);
  }

  /**
   * Receives the input of a new job into a file named by the job's id. No other job can start meanwhile.
   * @param check called for each chunk with the size so far
   * @param start starts the job; if it fails, the files of the job are deleted
   */
  protected async receive(
    body: AsyncIterable<Uint8Array>,
    check: (size: number) => unknown,
    start: (id: string, size: number) => Promise<J['state']>,
  ): Promise<J['state']> {
    this.assertIdle();
    this.isReceiving = true;
    const id = randomBytes(9).toString('hex');
    let size = 0;
    const chunks = async function* (): AsyncGenerator<Uint8Array> {
      for await (const chunk of body) {
        size += chunk.length;
        await check(size);
        yield chunk;
      }
    };
    try {
      const file = createWriteStream(join(this.folder, id), { flags: 'wx', mode: 0o600, flush: true });
      await pipeline(Readable.from(chunks()), file);
      return await start(id, size);
    } catch (error) {
      this.deleteFiles(id);
      throw error;
    } finally {
      this.isReceiving = false;
    }
  }

  /** Starts a job. @param release releases the job's slot @throws LwsError `too-busy` */
  protected start(job: J, release = this.kind.slots.take()): J['state'] {
    this.states.set(job.state.id, job.state);
    this.running = { job, ended: this.follow(job).finally(release) };
    return job.state;
  }

  /** Runs a job. Reports its end only when the next job can start. */
  private async follow(job: J): Promise<void> {
    const ended = await job.run().then(
      () => ({ status: 'done' }) as const,
      (error: unknown) => this.failed(error, job.state),
    );
    const state = { ...job.state, ...ended };
    const report = (error: unknown): void =>
      this.platform.log.error({ err: error }, `the state of the ${this.kind.name} could not be stored`);
    await this.retain(state, job).catch(report);
    this.states.set(state.id, state);
    this.running = undefined;
    await this.forgetOld().catch(report);
  }

  private async forgetOld(): Promise<void> {
    for (const { id } of this.all().slice(maxRetained)) if (this.running?.job.state.id !== id) await this.forget(id);
  }

  /** Stops a running job, and deletes any other. @throws LwsError `conflict` if the job runs on another server */
  async cancel(id: string): Promise<void> {
    if (this.running?.job.state.id === id) return this.stop();
    const message = `This ${this.kind.name} is running on another server of the storage. Cancel it there.`;
    if (this.states.get(id)?.status === 'running') throw new LwsError('conflict', message);
    await this.forget(id);
  }

  /** Stops the running job while no transaction can run. */
  protected abandon(): Promise<void> {
    return this.stop();
  }

  async stop(): Promise<void> {
    const { running } = this;
    await running?.job.stop();
    await running?.ended;
  }
}
