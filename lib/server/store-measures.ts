/** Numbers of the store, for those who watch the server. */
import { type Measure, measure } from '../measures.js';
import { openSnapshots } from '../storage/engine/snapshot.js';
import type { Store } from '../storage/engine/store.js';

export const storeMeasures = (store: Store, quotaBytes: number): readonly Measure[] => [
  measure('gauge', 'store_bytes', 'Bytes that count against the quota.', store.bytes),
  measure('gauge', 'store_quota_bytes', 'The quota in bytes; 0: none.', quotaBytes),
  measure('gauge', 'store_transactions_waiting', 'Transactions under way or waiting.', store.commits.waiting),
  measure(
    'gauge',
    'store_failed',
    '1 while the disk takes no writes.',
    Number(store.commits.hasFailed || !store.isOpen),
  ),
  measure(
    'gauge',
    'store_snapshots_open',
    'Open snapshots of the thread that answers requests.',
    openSnapshots(store.level),
  ),
];
