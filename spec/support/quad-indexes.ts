/** `QUADPOD_SPECS_ORDERS=four`: storages of specs have all four quad indexes. */
import type { Store } from '../../lib/storage/transactions/store.js';

const { QUADPOD_SPECS_ORDERS: wanted } = process.env;

/** Builds the quad indexes that this run requires. */
export async function withQuadIndexes(store: Store): Promise<void> {
  if (wanted === 'four') await store.grow();
}
