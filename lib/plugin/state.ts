/** Plug-in API: records of resources, and other entries that a component stores. */
export { entryKey, entryRange, nameOf, partsOfEntry } from '../storage/keys/records.js';
export type { Store } from '../storage/transactions/store.js';
export type { Transaction } from '../storage/transactions/transaction.js';
