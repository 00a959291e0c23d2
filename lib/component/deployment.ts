/** What components get to know of a deployment with many storages. */
import type { Metric } from '../metrics.js';

/** The most days that an invitation is valid for. */
export const invitationDays = 30;

/** In a data directory, the folder of what a new storage begins with, until it is imported. */
export const templateFolder = '.quadpod-template';

/** What is known of a storage of a deployment, besides what lies in its folder. */
export interface StorageRecord {
  readonly name: string;
  /** Random; a later storage of the same name has another. */
  readonly id: string;
  /** Empty: the one whose key is in its folder. */
  readonly owners: readonly string[];
  /** Values, by their names, of settings that each storage may have for itself. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly state: 'ready' | 'suspended' | 'deleted';
  /** ISO 8601. */
  readonly created: string;
  readonly deleted?: string;
  /** The invitation that it was made with, which is good for one. */
  readonly invitation?: string;
  /** Another one after each change of owners: the storage replaces the owners in the ACL of its root once for each. */
  readonly ownersChange?: string;
  /** Another one after each change. */
  readonly revision: string;
}

/** What is to become of a record; what is absent stays. */
export interface StorageChange extends Partial<Pick<StorageRecord, 'owners' | 'state'>> {
  /** `null` takes a setting away. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** The revision that it has to have; `null`: there has to be none. */
  readonly revision?: string | null;
  /** What a new storage begins with, and the invitation that it is made with. */
  readonly template?: string;
  readonly invitation?: string;
  /** A storage that is removed cannot be brought back. */
  readonly isForGood?: boolean;
}

/** The storages of a deployment, but that of `lws.base-uri`. */
export interface Storages {
  /** In the order of their names. */
  all(): readonly StorageRecord[];
  get(name: string): StorageRecord | undefined;
  /** The root IRI of the storage of a name. */
  addressOf(name: string): string;
  /** The names of what a new storage may begin with. */
  templates(): Promise<readonly string[]>;
  /**
   * Changes a record, or makes one. A server takes it up at once.
   * @throws LwsError `reserved-name`, `already-exists`, `not-found`, `precondition-failed`, `malformed-body`, `quota-exceeded`, `conflict`
   */
  change(name: string, wanted: StorageChange): Promise<StorageRecord>;
  /** Whether a later storage can begin so. @throws LwsError `malformed-body` */
  assertCanBegin(wanted: Pick<StorageChange, 'settings' | 'template'>): Promise<void>;
}

/** Storages that this process serves. */
export interface Deployment {
  readonly storages: Storages;
  isOpen(name: string): boolean;
  /** A sign-in credential of the subject for a storage; `undefined` where the subject is not the owner whose key the home has. */
  signIn(name: string, subject: string | undefined): Promise<string | undefined>;
  /** Pages of all storages have one origin. */
  readonly isOneOrigin: boolean;
  readonly metrics: readonly Metric[];
}
