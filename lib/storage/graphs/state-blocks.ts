/**
 * Reads all entries of one state of LevelDB, and turns each into a line of JSON and back. Of the four keys of a quad only that of GSPO is
 * read, since the others follow from it.
 */

import type { IndexSet } from '../keys/index-set.js';
import { isQuad } from '../keys/iri-rewriting.js';
import { graphPrefix } from '../keys/quad-keys.js';
import { rangeOf } from '../keys/records.js';
import { type BatchWriter, entryBlocks, type Level, type LevelSnapshot } from '../level/durable-level.js';
import { allChanges } from '../log/change-entry.js';

export type Entry = readonly [key: string, value: string];

/** `GSPO`, without the name of a graph: the other orders of a quad follow from it. */
const quads = graphPrefix('').slice(0, 'GSPO\u0000'.length);
/** `G` is not among them: the blobs that nothing refers to any more are no part of the state. */
const spaces = ['B\u0000', 'E\u0000', 'M\u0000', 'R\u0000'];
/** Facts about this data directory alone (`M` entries), which are left out. */
const own = new Set(['journal', 'orders', 'position', 'row', 'batch', 'opened']);

export interface StateParts {
  readonly hasQuads: boolean;
  /** With the log of changes: for a copy that continues the storage. */
  readonly hasLog?: boolean;
}

/** The entries in blocks, in the order of their keys. */
export async function* stateBlocks(
  level: Level,
  snapshot: LevelSnapshot,
  { hasQuads, hasLog = false }: StateParts,
): AsyncGenerator<Entry[]> {
  const wanted = [...spaces, ...(hasQuads ? [quads] : []), ...(hasLog ? [allChanges().gte] : [])];
  for (const space of wanted.sort())
    for await (const block of entryBlocks(level, rangeOf(space), { snapshot }))
      yield space === 'M\u0000' ? block.filter(([key]) => !own.has(key.split('\u0000')[1]!)) : block;
}

/** The entries as lines. */
export async function* stateLines(...of: Parameters<typeof stateBlocks>): AsyncGenerator<string[]> {
  for await (const block of stateBlocks(...of)) yield block.map(lineOf);
}

/** Puts an entry of a state into a store. @param orders in which quads are put */
export function putEntry(batch: Pick<BatchWriter, 'put'>, [key, value]: Entry, orders: IndexSet): void {
  if (isQuad(key)) orders.put(batch, key);
  else batch.put(key, value);
}

/** The line of an entry, without the line break. For a quad it is the key alone, as the value is empty. */
export const lineOf = ([key, value]: Entry): string => JSON.stringify(isQuad(key) ? key : [key, value]);

/** A line that is no entry but begins a section: a name, which has no U+0000, and its parameters. */
export const sectionLine = (name: string, ...parts: readonly unknown[]): string => JSON.stringify([name, ...parts]);

/** Whether a line begins a section: the key of an entry has U+0000 as its second character. */
export const isSection = (line: string): boolean => line.startsWith('[') && !line.startsWith('\\u0000', 3);

/** @throws SyntaxError when the line is no entry; for a section it names that */
export function entryOf(line: string): Entry {
  if (isSection(line))
    throw new SyntaxError(`there is a section that this version does not know, ${line.slice(1, 100).split(',', 1)}`);
  const found: unknown = JSON.parse(line);
  if (typeof found === 'string' && isQuad(found)) return [found, ''];
  if (Array.isArray(found) && found.length === 2 && found.every((part) => typeof part === 'string'))
    return found as unknown as Entry;
  throw new SyntaxError('a line is no entry');
}
