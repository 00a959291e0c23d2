/** The imports of a server: one at a time, each with the file that was sent, which is kept until it has ended. */
import { randomBytes } from 'node:crypto';
import { createWriteStream, existsSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Access } from '../../lib/authorization/principal.js';
import type { Platform } from '../../lib/component/contract.js';
import { LwsError } from '../../lib/errors.js';
import { TransferError } from '../../lib/exchange/member.js';
import { type Metric, metric } from '../../lib/metrics.js';
import { entryKey } from '../../lib/storage/keys/records.js';
import { makeFolder, syncPath } from '../../lib/storage/level/synced-files.js';
import { Semaphore } from '../../lib/threads/semaphore.js';
import { ImportJob } from './import-job.js';
import {
  forgetState,
  type ImportFacts,
  type ImportState,
  importSpace,
  keepState,
  keptStates,
  newState,
} from './import-state.js';
import { ImportStopped } from './import-thread.js';

/** Imports that are listed; older ones are forgotten with their files. */
const maxKept = 50;

export type ImportRequest = Omit<ImportFacts, 'id' | 'source' | 'began'> & { readonly dryRun: boolean };

interface Starting {
  readonly access: Access;
  readonly dryRun?: boolean;
  /** Gives back the place that it has. */
  readonly leave: () => void;
}

/** Each has a thread of its own, and LevelDB has one for all. */
const slots = new Semaphore(2, 'imports');

export class ImportJobs {
  private readonly states = new Map<string, ImportState>();
  private running: { readonly job: ImportJob; readonly ended: Promise<void> } | undefined;
  /** A file is being received: one at a time, like imports. */
  private isReceiving = false;
  private readonly folder: string;

  private constructor(private readonly platform: Platform) {
    this.folder = join(resolve(platform.dataDir), 'import');
  }

  /** Reads the kept states of imports, and removes files that no import needs to continue. */
  static async open(platform: Platform): Promise<ImportJobs> {
    const jobs = new ImportJobs(platform);
    for (const state of await keptStates(platform.store)) jobs.states.set(state.id, state);
    await makeFolder(jobs.folder);
    for (const name of readdirSync(jobs.folder))
      if ((jobs.states.get(name)?.status ?? 'done') === 'done') rmSync(join(jobs.folder, name), { force: true });
    if (platform.store.coordination.hasOthers) await jobs.followOthers();
    return jobs;
  }

  /** Follows the states of imports of other servers: every server can report them, but only the one with the file can continue. */
  private async followOthers(): Promise<void> {
    const { store } = this.platform;
    const prefix = entryKey(importSpace, '');
    store.onCommit(({ entries, isForeign }) => {
      for (const [key, value] of isForeign ? entries : []) {
        if (!key.startsWith(prefix)) continue;
        if (value === null) this.states.delete(key.slice(prefix.length));
        else this.states.set(key.slice(prefix.length), JSON.parse(value) as ImportState);
      }
    });
    for (const state of this.states.values())
      if (state.status === 'interrupted' && existsSync(this.pathOf(state))) await keepState(store, state);
  }

  private pathOf({ source }: Pick<ImportState, 'source'>): string {
    return resolve(this.platform.dataDir, source);
  }

  find(id: string): ImportState | undefined {
    return this.running?.job.state.id === id ? this.running.job.state : this.states.get(id);
  }

  /** Measures for monitoring. */
  get isBusy(): boolean {
    return this.isReceiving || this.running !== undefined;
  }

  measures(): readonly Metric[] {
    const { quads = 0, created = 0, bytes = 0, total = 0 } = this.running?.job.state ?? {};
    return [
      metric('gauge', 'import_running', '1 while an import runs.', Number(this.running !== undefined)),
      metric('gauge', 'import_quads', 'Quads of the import under way so far.', quads),
      metric('gauge', 'import_resources', 'Resources that the import under way has created.', created),
      metric('gauge', 'import_bytes_read', 'Bytes of its source that the import under way has read.', bytes),
      metric('gauge', 'import_bytes', 'Bytes of the source of the import under way; 0: not known.', total),
    ];
  }

  /** The newest first. */
  all(): ImportState[] {
    const ids = new Set([...this.states.keys(), ...(this.running ? [this.running.job.state.id] : [])]);
    return [...ids].map((id) => this.find(id)!).sort((a, b) => b.began - a.began);
  }

  /**
   * Receives a file and begins to import it.
   * @throws LwsError `conflict` while another import is under way, `storage-full`
   */
  async begin(request: ImportRequest, access: Access, body: AsyncIterable<Uint8Array>): Promise<ImportState> {
    this.assertIdle();
    const leave = slots.take();
    this.isReceiving = true;
    const id = randomBytes(9).toString('hex');
    const source = join('import', id);
    try {
      await this.receive(this.pathOf({ source }), body);
      const { dryRun, ...facts } = request;
      const state = newState({ ...facts, id, source, began: this.platform.clock() });
      // The state is kept before the answer: the client finds the import after a crash, too.
      if (!dryRun) await keepState(this.platform.store, state);
      return this.start(state, { access, dryRun, leave });
    } catch (error) {
      leave();
      rmSync(this.pathOf({ source }), { force: true });
      throw error;
    } finally {
      this.isReceiving = false;
    }
  }

  private async receive(source: string, body: AsyncIterable<Uint8Array>): Promise<void> {
    const { space } = this.platform.store.blobs;
    const checked = async function* (): AsyncGenerator<Uint8Array> {
      for await (const chunk of body) {
        await space.assertSome();
        yield chunk;
      }
    };
    // Synced: after a power cut the import must not continue with a part of the file.
    await pipeline(Readable.from(checked()), createWriteStream(source, { flags: 'wx', mode: 0o600, flush: true }));
    // Its name is durable only after this: without it, the import that the answer promises has no file.
    await syncPath(this.folder);
  }

  private assertIdle(): void {
    if (this.running || this.isReceiving)
      throw new LwsError('conflict', 'Another import is under way. It can be waited for, or stopped by a DELETE.');
  }

  private start(state: ImportState, { access, dryRun = false, leave }: Starting): ImportState {
    const job = new ImportJob(state, { platform: this.platform, access, isOperator: false, dryRun });
    const ended = this.follow(job, dryRun).finally(leave);
    this.running = { job, ended };
    return job.state;
  }

  /** Follows an import. Its end is reported only when the next import can begin. */
  private async follow(job: ImportJob, dryRun: boolean): Promise<void> {
    const state = await this.outcome(job);
    try {
      await this.keep(state, dryRun);
    } catch (error) {
      this.platform.log.error({ err: error }, 'the state of an import could not be kept');
    }
    if (dryRun || state.status === 'done') rmSync(join(this.folder, state.id), { force: true });
    this.running = undefined;
  }

  private async outcome(job: ImportJob): Promise<ImportState> {
    try {
      await job.run();
      return { ...job.state, status: 'done' };
    } catch (error) {
      const isTold = error instanceof TransferError || error instanceof LwsError;
      if (!isTold) this.platform.log.error({ err: error }, 'an import failed');
      // Messages have the name that the client knows, not the path on the server.
      const told = (error as Error).message.replaceAll(this.pathOf(job.state), job.state.name);
      const failure = isTold ? told : 'The server failed; its log says why.';
      return { ...job.state, status: error instanceof ImportStopped ? 'interrupted' : 'failed', failure };
    }
  }

  private async keep(state: ImportState, dryRun: boolean): Promise<void> {
    this.states.set(state.id, state);
    if (!dryRun) await keepState(this.platform.store, state);
    for (const { id } of this.all().slice(maxKept)) await this.forget(id);
  }

  /** Continues an import that was interrupted or failed. @throws LwsError `conflict` */
  resume(state: ImportState, access: Access): ImportState {
    this.assertIdle();
    if (state.status === 'done') throw new LwsError('conflict', 'This import has ended.');
    if (state.status === 'running')
      throw new LwsError('conflict', 'This import runs on another server of the storage.');
    if (!existsSync(this.pathOf(state)))
      throw new LwsError('conflict', 'What was sent is not on this server, or gone. Send it again.');
    const { failure: _failure, ...rest } = state;
    return this.start({ ...rest, status: 'running' }, { access, leave: slots.take() });
  }

  /** Stops a running import, and forgets any other. */
  async end(id: string): Promise<void> {
    if (this.running?.job.state.id !== id) {
      if (this.states.get(id)?.status === 'running')
        throw new LwsError('conflict', 'This import runs on another server of the storage. Ask that one to stop it.');
      return this.forget(id);
    }
    const { job, ended } = this.running;
    await job.stop();
    await ended;
  }

  private async forget(id: string): Promise<void> {
    this.states.delete(id);
    await forgetState(this.platform.store, id);
    rmSync(join(this.folder, id), { force: true });
  }

  /** Stops the running import, whose thread closes LevelDB; it can continue later. */
  async stop(): Promise<void> {
    if (this.running) await this.end(this.running.job.state.id);
  }

  /** The same while no transaction can run. */
  async abandon(): Promise<void> {
    await this.running?.job.abandon();
  }
}
