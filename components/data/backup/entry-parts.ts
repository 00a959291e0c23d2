/**
 * Divides the entries of a storage into parts of consecutive entries, in key order. The end of a part depends only on its last
 * key or its length. A write therefore changes only the parts with its keys, and an incremental backup omits the other parts.
 */
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { allLinks } from '../../../lib/resources/linkset.js';
import { lineOf } from '../../../lib/storage/graphs/state-blocks.js';
import { keptBlobs } from '../../../lib/storage/keys/kept-blobs.js';
import { type KeyRange, rangeOf } from '../../../lib/storage/keys/records.js';
import { openVersions } from '../../../lib/storage/keys/version-entries.js';
import { entryBlocks, type Level, type LevelSnapshot } from '../../../lib/storage/level/durable-level.js';
import type { BackupSection } from './entries.js';

/** Entries that refer to graphs and blobs. They are not divided into parts, because readers of a backup search them. */
export const referringEntries: readonly KeyRange[] = [allLinks, keptBlobs, openVersions];

const allEntries = rangeOf('E\u0000');
/** Mean count of entries in a part, and maximum characters of a part with several entries. */
const [meanEntries, maxCharacters] = [128, 1 << 18];

export interface EntryPart {
  readonly state: BackupSection;
  readonly lines: readonly string[];
}

/** Yields the parts of all entries except `referringEntries`, in key order. */
export async function* entryParts(level: Level, snapshot: LevelSnapshot): AsyncGenerator<EntryPart> {
  let lines: string[] = [];
  let characters = 0;
  const end = (): EntryPart => {
    const part = { state: stateOfPart(lines), lines };
    [lines, characters] = [[], 0];
    return part;
  };
  for (const range of others())
    for await (const block of entryBlocks(level, range, { snapshot }))
      for (const entry of block) {
        const line = lineOf(entry);
        // A long entry begins a new part, so that it does not change the part of the entries before it.
        if (lines.length > 0 && characters + line.length > maxCharacters) yield end();
        lines.push(line);
        characters += line.length;
        if (characters >= maxCharacters || crc32(entry[0]) % meanEntries === 0) yield end();
      }
  if (lines.length > 0) yield end();
}

/** Returns the ranges before, between and after `referringEntries`. */
function others(): KeyRange[] {
  const inOrder = [...referringEntries].sort((one, other) => (one.gte < other.gte ? -1 : 1));
  const starts = [allEntries.gte, ...inOrder.map(({ lt }) => lt)];
  const ends = [...inOrder.map(({ gte }) => gte), allEntries.lt];
  return starts.map((gte, index) => ({ gte, lt: ends[index]! }));
}

function stateOfPart(lines: readonly string[]): BackupSection {
  const hash = createHash('sha256');
  for (const line of lines) hash.update(line).update('\n');
  // Half of the digest suffices to identify a part, and saves space: every state file contains the digests of all parts.
  return { name: '', token: hash.digest().toString('base64url', 0, 16), count: lines.length };
}
