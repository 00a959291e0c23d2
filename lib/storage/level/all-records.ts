/** Reads or counts all records of a storage. */

import { allRecords, iriOfRecordKey, type ResourceRecord, readRecord } from '../keys/records.js';
import { entryBlocks, keyBlocks, type Level } from './durable-level.js';

/** Yields all records in blocks in key order, of one committed state. */
export async function* recordBlocks({ level }: { readonly level: Level }): AsyncGenerator<ResourceRecord[]> {
  for await (const entries of entryBlocks(level, allRecords()))
    yield entries.map(([key, value]) => readRecord(iriOfRecordKey(key), value));
}

/** Counts resources by reading all their keys. */
export async function countRecords({ level }: { readonly level: Level }): Promise<number> {
  let count = 0;
  for await (const keys of keyBlocks(level, allRecords())) count += keys.length;
  return count;
}
