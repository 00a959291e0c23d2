/** Storages of a deployment, as seen by components. */
import type { Metric } from '../tools/metrics.js';

/** Maximum validity of an invitation, in days. */
export const invitationDays = 30;

/** Directory, in a data directory, with the template files of a new storage until they are imported. */
export const templateFolder = '.quadpod-template';

/** Configuration record of a storage of a deployment. */
export interface StorageRecord {
  readonly name: string;
  /** Random ID. A later storage with the same name has another ID. */
  readonly id: string;
  /** Owners of the storage. Empty: the owner is the identity of the key in its data directory. */
  readonly owners: readonly string[];
  /** Values of settings that are set for this storage, by name. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly state: 'ready' | 'suspended' | 'deleted';
  /** Times of creation and deletion, in ISO 8601 format. */
  readonly created: string;
  readonly deleted?: string;
  /** ID of the invitation with which the storage was created. An invitation can be used once. */
  readonly invitation?: string;
  /** ID of the last change of owners. If it has changed, the storage updates the owners in its root ACL. */
  readonly ownersChange?: string;
  /** Revision, which changes with each write of the record. */
  readonly revision: string;
}

/** Changes of a record. Absent members do not change. */
export interface StorageChange extends Partial<Pick<StorageRecord, 'owners' | 'state'>> {
  /** New values of settings. `null` removes the value of the storage. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Revision that the record must have. `null`: the storage must not exist. */
  readonly revision?: string | null;
  /** Template and invitation used to create a storage. */
  readonly template?: string;
  readonly invitation?: string;
  /** True to delete the storage permanently. */
  readonly isForGood?: boolean;
}

/** Storages of a deployment, except the home storage (`lws.base-uri`). */
export interface Storages {
  /** Returns the records, ordered by name. */
  all(): readonly StorageRecord[];
  get(name: string): StorageRecord | undefined;
  /** Returns the root IRI of a storage. */
  addressOf(name: string): string;
  /** Returns the names of the templates. */
  templates(): Promise<readonly string[]>;
  /**
   * Changes or creates a record. A running server applies it immediately.
   * @throws LwsError `reserved-name`, `already-exists`, `not-found`, `precondition-failed`,
   * `malformed-body`, `quota-exceeded`, `conflict`
   */
  change(name: string, wanted: StorageChange): Promise<StorageRecord>;
  /** Asserts that a storage can be created with these settings and this template. @throws LwsError `malformed-body` */
  assertCanBegin(wanted: Pick<StorageChange, 'settings' | 'template'>): Promise<void>;
}

/** Storages that this process serves. */
export interface Deployment {
  readonly storages: Storages;
  isOpen(name: string): boolean;
  /** Returns the size of a storage in bytes, at its last close if it is closed, or `undefined` if it was never open. */
  usedBytes(name: string): number | undefined;
  /** Returns a credential of a subject for a storage, or `undefined` unless the subject owns the key in the home storage. */
  signIn(name: string, subject: string | undefined): Promise<string | undefined>;
  /** True if the pages of all storages have the same origin. */
  readonly isOneOrigin: boolean;
  readonly metrics: readonly Metric[];
}
