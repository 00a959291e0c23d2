/** The store, its transactions and what is committed. */
export { FollowedEntries } from '../storage/engine/followed-entries.js';
export { countQuads, migrate, storeFormat } from '../storage/engine/format.js';
export { StoreSnapshot } from '../storage/engine/snapshot.js';
export type { Store } from '../storage/engine/store.js';
export type { Transaction } from '../storage/engine/transaction.js';
export type { ChangedResource, LoggedChange, LoggedEvent } from '../storage/log/change-entry.js';
export { positionBefore } from '../storage/log/change-log.js';
export type { Announcement, EventStamp, ResourceChange } from '../storage/log/changes.js';
export { copyIn } from '../storage/shared/copy.js';
