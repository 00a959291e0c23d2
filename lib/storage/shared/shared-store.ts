/** What is particular to a store that several servers write. */
import { LwsError } from '../../errors.js';
import { CommitQueue } from '../engine/commit-queue.js';
import type { Cluster } from './cluster.js';
import { SharedCommitQueue, type SharedCommitQueueOptions } from './shared-commit-queue.js';
import type { SharedLog } from './shared-log.js';

/** Of one row of the journal, about: strings end at twice as much, and all servers have it in memory several times. */
const maxBytes = 256 << 20;

export class SharedStore {
  constructor(
    private readonly log: SharedLog,
    private readonly cluster: Cluster,
  ) {}

  /**
   * Returns when everything is here that any server acknowledged before the call.
   * @throws LwsError `too-busy` when nobody can say what that is
   */
  freshen(): Promise<void> {
    return this.log.freshen();
  }

  /** Everything is made that is made at a start, and others may start. */
  opened(): Promise<void> {
    return this.cluster.opened();
  }

  /** The same for a server, which follows the others from here on. */
  async serve(): Promise<void> {
    this.log.poll();
    await this.cluster.serve();
  }

  /** Whether this server does what only one of them should do. */
  get leads(): boolean {
    return this.cluster.leads;
  }

  /** Calls back when it begins to. */
  onLeading(listener: () => void): void {
    this.cluster.onLeading(listener);
  }

  /** Takes the secrets that other servers have changed, once a second at most. */
  refreshSecrets(): Promise<void> {
    return this.cluster.refreshSecrets();
  }

  /** Whether no server has named an identifier within the time for which it was to be known. @throws LwsError `too-busy` */
  isFirst(id: string, validMs: number): Promise<boolean> {
    return this.cluster.isFirst(id, validMs);
  }

  async close(): Promise<void> {
    await this.log.close();
    await this.cluster.close();
  }
}

/** The queue of a store that this server writes alone, or with others. */
export function commitQueueOf(
  cluster: Cluster | undefined,
  options: SharedCommitQueueOptions,
): { readonly queue: CommitQueue; readonly shared: SharedStore | undefined } {
  if (!cluster) return { queue: new CommitQueue(options), shared: undefined };
  const assertSpace = async (bytes: number, frees: boolean): Promise<void> => {
    if (bytes > maxBytes)
      throw new LwsError('too-large', 'This is too much to be told to the other servers at once. Do it in parts.', {
        reason: `the changes of one transaction have about ${bytes} bytes`,
      });
    await options.assertSpace(bytes, frees);
  };
  const queue = new SharedCommitQueue({ ...options, assertSpace }, cluster.journal);
  return { queue, shared: new SharedStore(queue.log, cluster) };
}
