/** `QUADPOD_SPECS_ORDERS=four`: storages of specs keep their quads in all four orders, as those do that have grown. */
import type { Store } from '../../lib/storage/transactions/store.js';

const { QUADPOD_SPECS_ORDERS: wanted } = process.env;

/** Gives a store the orders that this run of the specs wants. */
export async function withQuadIndexes(store: Store): Promise<void> {
  if (wanted === 'four') await store.grow();
}
