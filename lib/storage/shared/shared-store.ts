/** What only a store that several servers write has. */
import { LwsError } from '../../errors.js';
import { CommitQueue } from '../transactions/commit-queue.js';
import type { Cluster } from './cluster.js';
import { SharedCommitQueue, type SharedCommitQueueOptions } from './shared-commit-queue.js';
import type { SharedLog } from './shared-log.js';

/** The most bytes of a transaction, and so of a row: strings end at twice as much, and each server has several copies in memory. */
const maxBytes = 256 << 20;

export class SharedStore {
  constructor(
    private readonly log: SharedLog,
    private readonly cluster: Cluster,
  ) {}

  /**
   * Returns when everything is applied here that any server acknowledged before the call.
   * @throws LwsError `too-busy` when the database cannot be asked
   */
  freshen(): Promise<void> {
    return this.log.freshen();
  }

  /** Ends the start: all that a start makes is there, and other servers may start. */
  opened(): Promise<void> {
    return this.cluster.opened();
  }

  /** The same for a server (no command), which follows the journal from here on. */
  async serve(): Promise<void> {
    this.log.poll();
    await this.cluster.serve();
  }

  /** Whether this server leads: it does the work that only one should do. */
  get leads(): boolean {
    return this.cluster.leads;
  }

  /** Calls back when this server begins to lead. */
  onLeading(listener: () => void): void {
    this.cluster.onLeading(listener);
  }

  /** Takes the secrets that other servers have changed, once a second at most. */
  refreshSecrets(): Promise<void> {
    return this.cluster.refreshSecrets();
  }

  /** Registers an identifier for `validMs`. False when a server has registered it before (a replay). @throws LwsError `too-busy` */
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
