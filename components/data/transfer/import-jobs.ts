/** Imports of a running server. The received file is stored until its import is done. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Access } from '../../../lib/authorization/principal.js';
import type { Platform } from '../../../lib/component/contract.js';
import { Slots } from '../../../lib/component/slots.js';
import { TransferError } from '../../../lib/exchange/member.js';
import { entryKey } from '../../../lib/storage/keys/records.js';
import { makeFolder, syncPath } from '../../../lib/storage/level/synced-files.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { type Metric, metric } from '../../../lib/tools/metrics.js';
import { JobRunner, type JobState } from '../jobs/job-runner.js';
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

export type ImportRequest = Omit<ImportFacts, 'id' | 'source' | 'began'> & { readonly dryRun: boolean };

/** Slots for imports of all storages: each import has a thread, and LevelDB has only one thread for compactions. */
const slots = Slots.forControllers(2, 'imports');

const busy = 'Another import is running. Wait for it, or cancel it with DELETE.';

export class ImportJobs extends JobRunner<ImportJob> {
  /** Loads the stored states of imports, and deletes files no longer needed. */
  static async open(platform: Platform): Promise<ImportJobs> {
    const jobs = new ImportJobs(platform, { name: 'import', slots, busy });
    jobs.restore(await keptStates(platform.store));
    await makeFolder(jobs.folder);
    for (const name of readdirSync(jobs.folder))
      if ((jobs.states.get(name)?.status ?? 'done') === 'done') jobs.deleteFiles(name);
    if (platform.store.coordination.hasOthers) await jobs.followOthers();
    return jobs;
  }

  /** Tracks imports on other servers: every server can report them, but only the server with the file can resume them. */
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

  metrics(): readonly Metric[] {
    const { quads = 0, created = 0, bytes = 0, total = 0 } = this.running?.job.state ?? {};
    return [
      metric('gauge', 'import_running', '1 while an import is running.', Number(this.running !== undefined)),
      metric('gauge', 'import_quads', 'Quads of the running import so far.', quads),
      metric('gauge', 'import_resources', 'Resources created by the running import.', created),
      metric('gauge', 'import_bytes_read', 'Bytes of its source read by the running import.', bytes),
      metric('gauge', 'import_bytes', 'Size of the source of the running import in bytes; 0 if unknown.', total),
    ];
  }

  /** Receives a file and starts its import. @throws LwsError `conflict` while another import is running, `too-busy`, `storage-full` */
  async begin(
    { dryRun, ...facts }: ImportRequest,
    access: Access,
    body: AsyncIterable<Uint8Array>,
  ): Promise<ImportState> {
    this.assertIdle();
    const release = slots.take();
    const { store, clock } = this.platform;
    const begun = this.receive(
      body,
      () => store.blobs.space.assertSome(),
      async (id) => {
        // The file name is durable only after this sync: otherwise the response could refer to an import without a file.
        await syncPath(this.folder);
        const state = newState({ ...facts, id, source: join('import', id), began: clock() });
        // The state is stored before the response, so that the client finds the import after a crash.
        if (!dryRun) await keepState(store, state);
        return this.start(this.jobOf(state, access, dryRun), release);
      },
    );
    begun.catch(release);
    return begun;
  }

  private jobOf(state: ImportState, access: Access, dryRun = false): ImportJob {
    return new ImportJob(state, { platform: this.platform, access, isOperator: false, dryRun });
  }

  /** Resumes an interrupted or failed import. @throws LwsError `conflict`, `too-busy` */
  resume(state: ImportState, access: Access): ImportState {
    this.assertIdle();
    if (state.status === 'done') throw new LwsError('conflict', 'This import has ended.');
    if (state.status === 'running')
      throw new LwsError('conflict', 'This import runs on another server of the storage.');
    if (!existsSync(this.pathOf(state)))
      throw new LwsError('conflict', 'The uploaded file is not on this server or was deleted. Upload it again.');
    const { failure: _failure, ...rest } = state;
    return this.start(this.jobOf({ ...rest, status: 'running' }, access));
  }

  protected override async abandon(): Promise<void> {
    await this.running?.job.abandon();
  }

  protected failed(error: unknown, state: ImportState): Pick<JobState, 'status' | 'failure'> {
    const isTold = error instanceof TransferError || error instanceof LwsError;
    if (!isTold) this.platform.log.error({ err: error }, 'an import failed');
    // Messages contain the file name given by the client, not the path on the server.
    const failure = isTold
      ? error.message.replaceAll(this.pathOf(state), state.name)
      : 'The server failed. See its log.';
    return { status: error instanceof ImportStopped ? 'interrupted' : 'failed', failure };
  }

  protected override async retain(state: ImportState, { isDryRun }: ImportJob): Promise<void> {
    if (!isDryRun) await keepState(this.platform.store, state);
    if (isDryRun || state.status === 'done') this.deleteFiles(state.id);
  }

  protected override discard(id: string): Promise<void> {
    return forgetState(this.platform.store, id);
  }

  protected deleteFiles(id: string): void {
    rmSync(join(this.folder, id), { force: true });
  }
}
