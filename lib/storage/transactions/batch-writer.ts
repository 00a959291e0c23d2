/** Another thread that writes a batch instead of the commit queue. */

import type { BatchWriter } from '../level/durable-level.js';

/** Thread that fills and writes the batch of a transaction, since it holds most of the content. */
export interface BulkWriter {
  /** Size of the GSPO keys of its own part, in bytes. */
  readonly bytes: number;
  /**
   * Writes one atomic, synced batch of its own part and these operations.
   * @param operations keys with values; `null` removes the key
   */
  write(operations: readonly (readonly [key: string, value: string | null])[]): Promise<void>;
}

/** Makes the writer write its own part, the operations of `fill` and a last operation in one batch. */
export async function writeWithPartner(
  batchWriter: BulkWriter,
  fill: (batch: BatchWriter) => Promise<void>,
  last: readonly [key: string, value: string],
): Promise<void> {
  const operations: [string, string | null][] = [];
  await fill({ put: (key, value) => operations.push([key, value]), del: (key) => operations.push([key, null]) });
  await batchWriter.write([...operations, last]);
}
