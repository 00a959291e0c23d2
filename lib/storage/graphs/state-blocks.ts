/** Converts all entries of one LevelDB state to lines of JSON, and lines to entries. */

import { isQuad } from '../keys/iri-rewriting.js';
import { graphPrefix } from '../keys/quad-keys.js';
import { type KeyRange, rangeOf } from '../keys/records.js';
import { entryBlocks, type Level, type LevelSnapshot } from '../level/durable-level.js';
import { allChanges } from '../log/change-entry.js';

export type Entry = readonly [key: string, value: string];

/** Prefix of all keys of quads. */
const quads = graphPrefix('').slice(0, 'GSPO\u0000'.length);
/** Prefixes of entries in the state. `G` is excluded, because unreferenced blobs are not part of the state. */
const spaces = ['B\u0000', 'E\u0000', 'M\u0000', 'R\u0000'];
/** `M` entries that are excluded, because they describe only this data directory. */
const own = new Set(['journal', 'orders', 'position', 'row', 'batch', 'opened', 'resources']);

export interface StateParts {
  readonly hasQuads: boolean;
  /** True to include the change log, which a copy needs to continue as a server of the storage (`Replica`). */
  readonly hasLog?: boolean;
  /** Range of entries to omit, within one of the prefixes. */
  readonly without?: KeyRange;
}

/** Yields the entries in blocks, in key order. */
export async function* stateBlocks(
  level: Level,
  snapshot: LevelSnapshot,
  { hasQuads, hasLog = false, without }: StateParts,
): AsyncGenerator<Entry[]> {
  const wanted = [...spaces, ...(hasQuads ? [quads] : []), ...(hasLog ? [allChanges().gte] : [])];
  for (const space of wanted.sort())
    for await (const block of blocksOf(level, snapshot, rangeOf(space), without))
      yield space === 'M\u0000' ? block.filter(([key]) => !own.has(key.split('\u0000')[1]!)) : block;
}

/** Yields the entries of a range. @param without range to omit */
async function* blocksOf(
  level: Level,
  snapshot: LevelSnapshot,
  range: KeyRange,
  without: KeyRange | undefined,
): AsyncGenerator<Entry[]> {
  const isPart = without && without.gte >= range.gte && without.lt <= range.lt;
  const ranges = isPart
    ? [
        { gte: range.gte, lt: without.gte },
        { gte: without.lt, lt: range.lt },
      ]
    : [range];
  for (const each of ranges) yield* entryBlocks(level, each, { snapshot });
}

/** Yields the entries as lines. */
export async function* stateLines(...of: Parameters<typeof stateBlocks>): AsyncGenerator<string[]> {
  for await (const block of stateBlocks(...of)) yield block.map(lineOf);
}

/** Returns the line of an entry, without line break. For a quad it contains only the key, because the value is empty. */
export const lineOf = ([key, value]: Entry): string => JSON.stringify(isQuad(key) ? key : [key, value]);

/** Returns the line that begins a section: its name, without U+0000, and its parameters. */
export const sectionLine = (name: string, ...parts: readonly unknown[]): string => JSON.stringify([name, ...parts]);

/** Returns true if a line begins a section. In an entry, the second character of the key is U+0000. */
export const isSection = (line: string): boolean => line.startsWith('[') && !line.startsWith('\\u0000', 3);

/** Returns the entry of a line. @throws SyntaxError if the line is not an entry; for a section, the message has its name */
export function entryOf(line: string): Entry {
  if (isSection(line))
    throw new SyntaxError(`it contains a section unknown to this version, ${line.slice(1, 100).split(',', 1)}`);
  const found: unknown = JSON.parse(line);
  if (typeof found === 'string' && isQuad(found)) return [found, ''];
  if (Array.isArray(found) && found.length === 2 && found.every((part) => typeof part === 'string'))
    return found as unknown as Entry;
  throw new SyntaxError('a line is not an entry');
}
