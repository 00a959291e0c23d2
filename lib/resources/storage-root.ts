/** The root container: made at the first start, never deleted. */

import type { Store } from '../storage/engine/store.js';
import { newRevision, type ResourceRecord } from '../storage/state/records.js';

/** Makes the root container of a new storage. */
export async function ensureRoot(store: Store, storage: string, now: number): Promise<void> {
  if (store.record(storage)) return;
  await store.transact((tx) => {
    const root: ResourceRecord = {
      iri: storage,
      kind: 'container',
      mediaType: 'application/lws+json',
      revision: newRevision(),
      size: 0,
      members: 0,
      created: now,
      modified: now,
    };
    tx.putRecord(root);
    tx.changed({ after: root });
  });
}
