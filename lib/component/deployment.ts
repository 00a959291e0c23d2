/** Storages of a deployment, as components see them. */
import type { Metric } from '../tools/metrics.js';

/** Maximum validity of an invitation, in days. */
export const invitationDays = 30;

/** Directory in a data directory with the files of a new storage, until they are imported. */
export const templateFolder = '.quadpod-template';

/** Configuration record of a storage of a deployment. */
export interface StorageRecord {
  readonly name: string;
  /** Random. A later storage of the same name has another one. */
  readonly id: string;
  /** Empty: the owner of the key in its directory. */
  readonly owners: readonly string[];
  /** Values of the storage's own settings, by name. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly state: 'ready' | 'suspended' | 'deleted';
  /** ISO 8601. */
  readonly created: string;
  readonly deleted?: string;
  /** Invitation that the storage was created with. Each can be used once. */
  readonly invitation?: string;
  /** Changes with each change of owners: the storage then updates the owners in the ACL of its root once. */
  readonly ownersChange?: string;
  /** Changes with each write. */
  readonly revision: string;
}

/** Changes of a record. Absent members stay. */
export interface StorageChange extends Partial<Pick<StorageRecord, 'owners' | 'state'>> {
  /** `null` removes a setting. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Required revision. `null`: the storage must not exist. */
  readonly revision?: string | null;
  /** Template and invitation of a new storage. */
  readonly template?: string;
  readonly invitation?: string;
  /** Deletes the storage permanently. */
  readonly isForGood?: boolean;
}

/** Storages of a deployment, except that of `lws.base-uri`. */
export interface Storages {
  /** In name order. */
  all(): readonly StorageRecord[];
  get(name: string): StorageRecord | undefined;
  /** Root IRI of a storage. */
  addressOf(name: string): string;
  /** Names of the templates. */
  templates(): Promise<readonly string[]>;
  /**
   * Changes or creates a record. A running server applies it immediately.
   * @throws LwsError `reserved-name`, `already-exists`, `not-found`, `precondition-failed`, `malformed-body`, `quota-exceeded`,
   * `conflict`
   */
  change(name: string, wanted: StorageChange): Promise<StorageRecord>;
  /** Checks that a new storage can be created this way. @throws LwsError `malformed-body` */
  assertCanBegin(wanted: Pick<StorageChange, 'settings' | 'template'>): Promise<void>;
}

/** Storages that this process serves. */
export interface Deployment {
  readonly storages: Storages;
  isOpen(name: string): boolean;
  /** Returns the used bytes of a storage, those of its last closing if it is not open. `undefined` if it was never open. */
  usedBytes(name: string): number | undefined;
  /** Returns a sign-in credential of the subject for a storage. `undefined` if the subject is not the owner of the key in the home storage. */
  signIn(name: string, subject: string | undefined): Promise<string | undefined>;
  /** True if the pages of all storages have the same origin. */
  readonly isOneOrigin: boolean;
  readonly metrics: readonly Metric[];
}
