/** Another thread that writes a batch instead of the commit queue. */

import type { BatchWriter } from '../level/durable-level.js';

/** Thread that fills and writes the batch of a transaction, because it has most of the content. */
export interface BulkWriter {
  /** Size of the GSPO keys that the thread has, in bytes. */
  readonly bytes: number;
  /**
   * Writes the keys that the thread has, and other operations, as one atomic, synced batch.
   * @param operations keys with values; `null` removes the key
   */
  write(operations: readonly (readonly [key: string, value: string | null])[]): Promise<void>;
}

/** Lets a bulk writer write its keys, the operations of `fill` and a last operation in one batch. */
export async function writeWithPartner(
  batchWriter: BulkWriter,
  fill: (batch: BatchWriter) => Promise<void>,
  last: readonly [key: string, value: string],
): Promise<void> {
  const operations: [string, string | null][] = [];
  await fill({ put: (key, value) => operations.push([key, value]), del: (key) => operations.push([key, null]) });
  await batchWriter.write([...operations, last]);
}
