/** Coordination of a server with the other servers of its storage. By default there are no others. */
import type { BlobLocation } from '../blobs/blobs.js';
import type { Replica } from '../graphs/replica.js';
import type { newReplicaThread } from '../graphs/replica-thread.js';
import type { CommitOrder, SharedCommitQueue } from './shared-commit-queue.js';

export interface Coordination {
  /** True if other servers may write the storage. */
  readonly hasOthers: boolean;
  /** True if this server is the leader, which runs the singleton jobs. For a short time, two servers may be leaders. */
  readonly leads: boolean;
  /** Calls back each time this server becomes the leader after another server. */
  onLeading(listener: () => void): void;
  /**
   * Applies commits of other servers. Resolves when this server has every change acknowledged before the call. Returns
   * undefined if it already has all of them.
   * @throws LwsError `too-busy` if the servers cannot agree
   */
  freshen(): Promise<void> | undefined;
  /**
   * Registers an identifier for `validMs`. Resolves to false if another server has registered it (a replay). Returns undefined
   * for a single server.
   * @throws LwsError `too-busy`
   */
  isFirst(id: string, validMs: number): Promise<boolean> | undefined;
  /** Synchronizes the secret files of this server with the secrets that all servers share. Undefined for a single server. */
  refreshSecrets(): Promise<void> | undefined;
  /** Returns the order of the commits of all servers. Called once, by the store. Absent if there are no other servers. */
  order?(queue: SharedCommitQueue): CommitOrder;
  /** Called when startup has created everything: other servers may start then. */
  opened(): Promise<void> | undefined;
  /** Called when a server, unlike a command, is ready. The server takes part in the coordination from then on. */
  serve(): Promise<void> | undefined;
  close(): Promise<void> | undefined;
}

/** The coordination of a server that writes its storage alone. */
export const singleServer: Coordination = {
  hasOthers: false,
  leads: true,
  onLeading() {},
  freshen: () => undefined,
  isFirst: () => undefined,
  refreshSecrets: () => undefined,
  opened: () => undefined,
  serve: () => undefined,
  close: () => undefined,
};

/** Database of a storage that several servers serve: `lws.store`. */
interface DatabaseAddress {
  /** `postgres://…`, without a schema and without a password. */
  readonly url: string;
  /** Schema with the tables of this storage. */
  readonly schema: string;
  readonly password: string | undefined;
}

/** Options for joining the other servers, before the store is opened. */
export interface JoinOptions {
  readonly replica: Replica;
  /** Starts a thread for work on the replica. */
  readonly newThread: () => ReturnType<typeof newReplicaThread>;
  /** Root IRI of the storage. */
  readonly storage: string;
  /** Data directory of this server. */
  readonly folder: string;
  readonly blobs: BlobLocation;
  /** Names of files with secrets that all servers must share. */
  readonly secrets: readonly string[];
  readonly told: (message: string) => void;
  readonly onProgress: (done: number, of: number) => void;
  readonly onTrouble: (message: string, error: unknown) => void;
}

/**
 * Joins the servers of a database: brings the replica to a state of the storage. Until `opened`, no other server can start.
 * @throws StoreUnavailableError if the database or the directory belongs to another storage, or the database cannot be reached
 */
export type JoinServers = (address: DatabaseAddress, options: JoinOptions) => Promise<Coordination>;
