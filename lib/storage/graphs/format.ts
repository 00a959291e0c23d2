/**
 * Format of a store, and migrations from earlier formats. A migration can be interrupted at any time: its progress is stored,
 * and the next start continues it.
 */

import {
  addedFeatures,
  featuresKey,
  initialFeatures,
  readFeatures,
  unknownFeatures,
  writeFeatures,
} from '../keys/features.js';
import { endDigits, separator, suffixOfKey, suffixStart, termLengths } from '../keys/key-layout.js';
import { allQuads, graphPrefix } from '../keys/quad-keys.js';
import {
  allRecords,
  entryKey,
  iriOfRecordKey,
  metaKey,
  newRevision,
  type ResourceRecord,
  rangeOf,
  readRecord,
  recordKey,
  writeRecord,
} from '../keys/records.js';
import {
  type BatchWriter,
  entryBlocks,
  keyBlocks,
  type Level,
  putSynced,
  writeBatch,
  writeEntries,
} from '../level/durable-level.js';
import { dropDigests } from '../level/entry-digests.js';
import { countEarlierEntries } from '../level/quota.js';
import { isLargeGraph, lineCounter } from './graph-lines.js';

/** Format of a new store. Servers reject unknown formats. A change of the layout adds a feature instead of a format. */
export const storeFormat = '3';

/** Entry that records that GSPO is the only index of quads. */
export const oneIndex = [metaKey('orders'), 'one'] as const;

/** Entry of a store while its other indexes are being removed. Earlier versions then do not read these indexes. */
const fewerIndexes = [metaKey('orders'), 'growing '] as const;

/** Indexes that earlier versions maintained in addition to GSPO. */
export const formerIndexes = ['SPOG', 'POGS', 'OGSP'] as const;

/** Initial entries of a store. */
export const newFacts: readonly (readonly [key: string, value: string])[] = [
  [metaKey('version'), storeFormat],
  [featuresKey, writeFeatures(initialFeatures)],
  oneIndex,
  [metaKey('quads'), '0'],
];

interface Migration {
  readonly to: string;
  /** Description of the migration for the operator. */
  readonly what: string;
  run(level: Level, options: Required<Pick<MigrationOptions, 'onProgress' | 'deriveGraphs'>>): Promise<void>;
}

/** Migrations by source format. */
const migrations: Readonly<Record<string, Migration>> = {
  1: {
    to: '2',
    what: 'keys of the first servers are rewritten, and sizes, linksets and quota counters are completed',
    async run(level, { onProgress, deriveGraphs }) {
      await widenKeys(level, onProgress);
      await deriveGraphs(level);
      await countEarlierEntries(level);
      await countLines(level, onProgress);
    },
  },
  2: {
    to: '3',
    what: 'its quads are counted',
    async run(level, { onProgress }) {
      // A restore to another base URI has already listed the features of the restored entries: keep them.
      const features = new Set([...initialFeatures, ...readFeatures(await level.get(featuresKey))]);
      const quads = await countQuads(level, onProgress);
      await writeEntries(level, [[featuresKey, writeFeatures(features)]], [metaKey('quads'), String(quads)]);
    },
  },
};

/** Counts the quads of a store without a counter. */
export async function countQuads(level: Level, told: (done: number) => void = () => {}): Promise<number> {
  let quads = 0;
  for await (const keys of keyBlocks(level, allQuads)) {
    quads += keys.length;
    told(quads);
  }
  return quads;
}

/** Asserts that this version knows the format and the features. @throws Error for a later format, or an unknown feature */
export async function assertKnown(level: Level, format: string): Promise<void> {
  if (format !== storeFormat && !Object.hasOwn(migrations, format))
    throw new Error(
      `The storage was written by a later version (format ${format}). This version reads formats up to ${storeFormat}.`,
    );
  const unknown = unknownFeatures(await level.get(featuresKey));
  if (unknown.length > 0)
    throw new Error(
      `The storage was written by a later version with features unknown to this one: ${unknown.join(', ')}. ` +
        'Start the version that last wrote it, or a later one.',
    );
}

export interface MigrationOptions {
  /** Called before a migration starts. */
  readonly onMigration?: (message: string) => void;
  /** Called with the number of processed keys or records. */
  readonly onProgress?: (done: number) => void;
  /** Writes graphs that higher layers derive from entries. A store of format 1 lacks these graphs. */
  readonly deriveGraphs?: (level: Level) => Promise<void>;
}

/** Migrates a store to the current format and to one index, and lists its features. */
export async function migrate(level: Level, options: MigrationOptions): Promise<void> {
  const { onMigration, onProgress = () => {}, deriveGraphs = async () => {} } = options;
  for (;;) {
    const migration = migrations[(await level.get(metaKey('version')))!];
    if (!migration) {
      await removeFormerIndexes(level, options);
      return listFeatures(level);
    }
    const { to, what, run } = migration;
    onMigration?.(
      `The storage has an earlier format and is migrated to format ${to}: ${what}. ` +
        'Earlier versions of the server cannot open it afterwards. The migration may be interrupted; the next start continues it.',
    );
    await run(level, { onProgress, deriveGraphs });
    const fill = (batch: BatchWriter): void => {
      for (const mark of ['lines', 'counted'] as const) batch.del(metaKey(mark));
      dropDigests(batch);
    };
    await writeBatch(level, fill, () => [metaKey('version'), to]);
  }
}

/** Removes the keys of former indexes. A store without the record `oneIndex` may have them. */
async function removeFormerIndexes(
  level: Level,
  { onMigration, onProgress = () => {} }: MigrationOptions,
): Promise<void> {
  if ((await level.get(oneIndex[0])) === oneIndex[1]) return;
  onMigration?.(
    'The database has four indexes of its quads. Three of them are removed: queries use the files in index/. ' +
      'This may be interrupted; the next start continues it.',
  );
  let done = 0;
  for (const index of formerIndexes)
    for await (const keys of keyBlocks(level, rangeOf(`${index}\u0000`))) {
      await writeEntries(
        level,
        keys.map((key) => [key, null]),
        fewerIndexes,
      );
      done += keys.length;
      onProgress(done);
    }
  await putSynced(level, ...oneIndex);
}

/** Adds features for existing entries, because earlier versions did not list features. */
async function listFeatures(level: Level): Promise<void> {
  const before = readFeatures(await level.get(featuresKey));
  const features = new Set([...initialFeatures, ...before]);
  for (const [name, { spaces }] of addedFeatures) {
    const first = entryKey(spaces[0]);
    if (features.has(name)) continue;
    for await (const _ of keyBlocks(level, { gte: first, lt: `${first}\u0001` }, { limit: 1 })) features.add(name);
  }
  if (features.size > before.size) await putSynced(level, featuresKey, writeFeatures(features));
}

/** Writes the size of large graphs (as lines) into their records. @param told called with the count of records so far */
async function countLines(level: Level, told: (done: number) => void): Promise<void> {
  // Versions before numbered formats wrote this entry after counting.
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
  // The representation of the resource has changed, so it needs another entity tag.
  const counted = { ...record, size, revision: newRevision() };
  await writeEntries(level, [[recordKey(record.iri), writeRecord(counted)]], [metaKey('bytes'), String(bytes)]);
}

/*
 * Migration of quad keys: the first servers wrote one U+0000 between the parts. Later ones write two, since a term that ends in
 * U+0000 was ambiguous with one. Types and lengths at the end are the same.
 */

const narrow = '\u0000';

/** Returns the key with the current separator. */
function widened(key: string): string {
  const suffix = suffixOfKey(key);
  let at = key.indexOf(narrow);
  const parts = [key.slice(0, at)];
  for (const lengths of termLengths(suffix))
    for (const length of lengths.toReversed()) {
      parts.push(key.slice(at + narrow.length, at + narrow.length + length));
      at += narrow.length + length;
    }
  if (at + narrow.length !== suffixStart(key)) throw new Error(`The key ${JSON.stringify(key)} of a quad is damaged.`);
  return [...parts, suffix].join(separator) + key.slice(-endDigits);
}

/**
 * Rewrites the keys of all quads, each block in one batch, so that it may be interrupted.
 * @param told called with the number of processed keys
 */
async function widenKeys(level: Level, told: (done: number) => void): Promise<void> {
  let done = 0;
  for await (const keys of keyBlocks(level, { gte: `GSPO${narrow}\u0001`, lt: 'GSPO\u0001' })) {
    const moved = keys.flatMap((key): [string, string | null][] => [
      [widened(key), ''],
      [key, null],
    ]);
    await writeEntries(level, moved, [widened(keys.at(-1)!), '']);
    done += keys.length;
    told(done);
  }
}
