/** Migration: counts the sizes of large graphs again, whose Turtle an earlier version grouped by subject instead of one triple per line. */
import { entryBlocks, keyBlocks, type Level, writeBatch } from '../engine/durable-level.js';
import {
  allRecords,
  iriOfRecordKey,
  metaKey,
  newRevision,
  type ResourceRecord,
  rangeOf,
  readRecord,
  recordKey,
  writeRecord,
} from '../state/records.js';
import { isLargeGraph, lineCounter } from './graph-lines.js';
import { graphPrefix } from './quad-keys.js';

/** Writes the size of their lines into the records of large graphs. @param told called with the number of records so far */
export async function countLines(level: Level, told: (done: number) => void): Promise<void> {
  // Servers from before the formats had numbers left this mark when they had done it.
  if ((await level.get(metaKey('lines'))) !== undefined) return;
  let done = 0;
  for await (const entries of entryBlocks(level, allRecords())) {
    for (const [key, value] of entries) {
      const record = readRecord(iriOfRecordKey(key), value);
      if (record.kind === 'rdf' && isLargeGraph(record.triples ?? 0)) await countOf(level, record);
    }
    done += entries.length;
    told(done);
  }
}

async function countOf(level: Level, record: ResourceRecord): Promise<void> {
  const count = lineCounter();
  let size = 0;
  for await (const keys of keyBlocks(level, rangeOf(graphPrefix(record.iri))))
    for (const key of keys) size += count(key);
  if (size === record.size) return;
  const bytes = Number((await level.get(metaKey('bytes'))) ?? 0) + size - record.size;
  // The text of the resource is another one, so it needs another entity tag.
  const counted = { ...record, size, revision: newRevision() };
  await writeBatch(
    level,
    (batch) => batch.put(recordKey(record.iri), writeRecord(counted)),
    () => [metaKey('bytes'), String(bytes)],
  );
}
