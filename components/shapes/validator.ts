/** Validates in worker threads, with limits of time, memory and size, and round robin between clients. */
import { clientFor, connectionOf, priorityOf } from '../../lib/authorization/client.js';
import type { Access } from '../../lib/authorization/principal.js';
import type { Platform } from '../../lib/component/contract.js';
import type { GraphKeys } from '../../lib/storage/keys/graph-keys.js';
import { LwsError, tooBusy } from '../../lib/tools/errors.js';
import { ThreadEnded } from '../../lib/tools/threads/messages.js';
import { WorkerPool } from '../../lib/tools/threads/worker-pool.js';
import type { Result } from './model.js';
import type { SentShapes, ShapesFunctions, ValidationOutcome } from './shapes-worker.js';

/** Version of a shapes document. */
export interface ShapesVersion {
  readonly iri: string;
  /** Text that identifies the version. */
  readonly version: string;
  readonly load: () => Promise<SentShapes>;
}

/** Thrown if a shapes document cannot be applied. */
export class UnusableDocument extends Error {
  constructor(
    readonly iri: string,
    readonly why: string,
  ) {
    super(`The shapes <${iri}> cannot be applied. ${why}`);
  }
}

/** Timeout of a validation in milliseconds. Afterwards the thread is killed: regular expressions cannot be interrupted. */
const deadlineMs = 2_000;
/** Maximum triples of a validated graph. */
export const maxTriples = 200_000;

/** Thread pool, shared by the storages of the process. */
let pool: WorkerPool<ShapesFunctions> | undefined;
let users = 0;

const makePool = (): WorkerPool<ShapesFunctions> =>
  new WorkerPool({
    script: new URL('./shapes-worker.js', import.meta.url),
    // A client runs one validation at a time. Each caller class can use more than one thread, so a client cannot block others.
    ...{ size: 4, isShared: true, perClient: 1, ranks: [4, 3, 2], queue: 500 },
    ...{ idleMs: 60_000, memoryMb: 256, nurseryMb: 8 },
  });

export const tooComplex = (what: string): LwsError => new LwsError('too-complex', what);

export class Validator {
  constructor(private readonly storage: Pick<Platform, 'authorizer' | 'store' | 'rootIri' | 'home'>) {
    users++;
  }

  /** Validates graphs, each against all documents. @throws UnusableDocument, LwsError `too-complex`, `too-busy` */
  async validate(
    access: Access | undefined,
    shapes: readonly ShapesVersion[],
    graphs: readonly GraphKeys[],
  ): Promise<readonly (readonly Result[])[]> {
    return (await this.report(access, shapes, graphs)).results;
  }

  /** Validates graphs, and also returns warnings about ignored properties. @throws as `validate` */
  async report(
    access: Access | undefined,
    shapes: readonly ShapesVersion[],
    graphs: readonly GraphKeys[],
  ): Promise<Extract<ValidationOutcome, { readonly warnings: unknown }>> {
    pool ??= makePool();
    const versions = shapes.map(({ version }) => version);
    const answers = { shapes: (version: string) => shapes[versions.indexOf(version)]!.load() };
    try {
      const outcome = await pool.run({
        ...(await this.sender(access)),
        tenant: this.storage.home && this.storage.rootIri,
        work: (thread) => thread.call('validate', { versions, graphs }, { answers, deadlineMs } as never),
      });
      if ('results' in outcome) return outcome;
      if ('unusable' in outcome)
        throw new UnusableDocument(shapes[versions.indexOf(outcome.unusable.version)]!.iri, outcome.unusable.why);
    } catch (error) {
      if (!(error instanceof ThreadEnded)) throw error;
      if (error.why === 'busy' || error.why === 'closed' || error.why === 'crash')
        throw tooBusy('Too many validations are waiting. Retry in a few seconds.', 5, { cause: error });
    }
    throw tooComplex(
      'The validation exceeded its time or memory limit. Use simpler shapes, or send less data at a time.',
    );
  }

  private async sender(access: Access | undefined) {
    if (!access) return { client: '', rank: 0 };
    const { client, callerClass } = await clientFor(this.storage, access, connectionOf(access)?.address ?? '');
    return { client, rank: priorityOf(callerClass) };
  }

  /** Ends the threads, unless another storage uses them. */
  async close(): Promise<void> {
    if (--users > 0) return;
    const closed = pool;
    pool = undefined;
    await closed?.close();
  }
}
