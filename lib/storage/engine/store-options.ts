/** What a store is opened with. */
import type { S3Address } from '../blobs/blobs.js';
import type { Cluster } from '../shared/cluster.js';
import type { MigrationOptions } from './format.js';

export interface StoreOptions extends MigrationOptions {
  /** Notified of a failure that no request can be answered with: a blob that could not be removed, a failed batch. */
  readonly onTrouble?: (message: string, error: unknown) => void;
  /** Told when a trouble has ended by itself. */
  readonly onRecovery?: (message: string) => void;
  /** Other servers write the storage as well, and this is a member of those. */
  readonly cluster?: Cluster | undefined;
  /** Where the blobs are; absent: the folder `blobs/`. */
  readonly s3?: S3Address | undefined;
  /** Called when it is closed. */
  readonly onClose?: () => void;
  /** Bytes that it may hold (see quota.ts); 0 or absent: any number. */
  readonly quotaBytes?: number;
}
