/** The store, its transactions and what is committed. */
export { FollowedEntries } from '../storage/transactions/followed-entries.js';
export { countQuads, migrate, storeFormat } from '../storage/graphs/format.js';
export { StoreSnapshot } from '../storage/graphs/snapshot.js';
export type { Store } from '../storage/transactions/store.js';
export type { Transaction } from '../storage/transactions/transaction.js';
export type { ChangedResource, LoggedChange, LoggedEvent } from '../storage/log/change-entry.js';
export { positionBefore } from '../storage/transactions/change-log.js';
export type { Announcement, EventStamp, ResourceChange } from '../storage/log/changes.js';
export { copyIn } from '../storage/shared/copy.js';
