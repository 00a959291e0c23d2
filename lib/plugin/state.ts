/** Plug-in API: records, and entries that a component stores beside them. */
export { entryKey, entryRange, nameOf, partsOfEntry } from '../storage/keys/records.js';
export type { Store } from '../storage/transactions/store.js';
export type { Transaction } from '../storage/transactions/transaction.js';
