/** The root container: made at the first start, never deleted. */
import { newRevision } from '../storage/records.js';
import type { Store } from '../storage/store.js';

/** Makes the root container of a new storage. */
export async function ensureRoot(store: Store, storage: string, now: number): Promise<void> {
  if (store.record(storage)) return;
  await store.transact((tx) => {
    tx.putRecord({
      iri: storage,
      kind: 'container',
      mediaType: 'application/lws+json',
      revision: newRevision(),
      size: 0,
      members: 0,
      created: now,
      modified: now,
    });
  });
}
