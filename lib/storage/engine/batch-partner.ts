/** Who writes a batch in the place of the commit queue. */

import type { BatchWriter } from './durable-level.js';

/** Another thread that fills and writes the batch of a transaction, since it has what most of it is made of. */
export interface BatchPartner {
  /** Of its own part, about. */
  readonly bytes: number;
  /**
   * Writes one atomic, synced batch of its own part and these operations.
   * @param operations keys with their values; `null`: the key is removed
   */
  write(operations: readonly (readonly [key: string, value: string | null])[]): Promise<void>;
}

/** Has a partner write its own part, what is filled in, and a last operation. */
export async function writeWithPartner(
  partner: BatchPartner,
  fill: (batch: BatchWriter) => Promise<void>,
  last: readonly [key: string, value: string],
): Promise<void> {
  const operations: [string, string | null][] = [];
  await fill({
    put: (key, value) => operations.push([key, value]),
    del: (key) => operations.push([key, null]),
  });
  await partner.write([...operations, last]);
}
