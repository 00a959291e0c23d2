/** Validation in worker threads: bounded in time, memory and number, and fair between clients. */
import { clientFor, connectionOf, priorityOf } from '../../lib/authorization/client.js';
import type { Access } from '../../lib/authorization/principal.js';
import type { Platform } from '../../lib/component/contract.js';
import type { GraphKeys } from '../../lib/storage/keys/graph-keys.js';
import { LwsError, tooBusy } from '../../lib/tools/errors.js';
import { ThreadEnded } from '../../lib/tools/threads/messages.js';
import { WorkerPool } from '../../lib/tools/threads/worker-pool.js';
import type { Result } from './model.js';
import type { SentShapes, ShapesFunctions, ValidationOutcome } from './shapes-worker.js';

/** A state of a document of shapes. */
export interface ShapesVersion {
  readonly iri: string;
  /** Identifies the state. */
  readonly version: string;
  readonly load: () => Promise<SentShapes>;
}

/** A document of shapes that cannot be applied. */
export class UnusableDocument extends Error {
  constructor(
    readonly iri: string,
    readonly why: string,
  ) {
    super(`The shapes <${iri}> cannot be applied. ${why}`);
  }
}

/** Maximum time of a validation in milliseconds. Then its thread is ended: regular expressions cannot be interrupted. */
const deadlineMs = 2_000;
/** Maximum size of a validated graph in triples. */
export const maxTriples = 200_000;

/** Threads are shared by the storages of a process. */
let pool: WorkerPool<ShapesFunctions> | undefined;
let users = 0;

const makePool = (): WorkerPool<ShapesFunctions> =>
  new WorkerPool({
    script: new URL('./shapes-worker.js', import.meta.url),
    // One validation at a time runs for a client. In each caller class another client finds a free thread beside it.
    ...{ size: 4, isShared: true, perClient: 1, ranks: [4, 3, 2], queue: 500 },
    ...{ idleMs: 60_000, memoryMb: 256, nurseryMb: 8 },
  });

export const tooComplex = (what: string): LwsError => new LwsError('too-complex', what);

export class Validator {
  constructor(private readonly storage: Pick<Platform, 'authorizer' | 'store' | 'rootIri' | 'home'>) {
    users++;
  }

  /**
   * Validates graphs, each against all documents.
   * @throws UnusableDocument, LwsError `too-complex`, `too-busy`
   */
  async validate(
    access: Access | undefined,
    shapes: readonly ShapesVersion[],
    graphs: readonly GraphKeys[],
  ): Promise<readonly (readonly Result[])[]> {
    return (await this.report(access, shapes, graphs)).results;
  }

  /** Validates graphs, and also returns sentences about what is ignored in the documents. @throws as `validate` */
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

  /** Ends the threads, unless other storages use them. */
  async close(): Promise<void> {
    if (--users > 0) return;
    const closed = pool;
    pool = undefined;
    await closed?.close();
  }
}
