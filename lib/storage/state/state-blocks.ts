/**
 * All entries of one state, and each as a line of JSON, and back. Of the four orders of a quad only the first is kept, since the others
 * follow from it.
 */
import { putQuad } from '../engine/batch-filling.js';
import { type BatchWriter, entryBlocks, type Level, type LevelSnapshot } from '../engine/durable-level.js';
import { graphPrefix } from '../graphs/quad-keys.js';
import { allChanges } from '../log/change-entry.js';
import { isQuad } from './iri-rewriting.js';
import { rangeOf } from './records.js';

export type Entry = readonly [key: string, value: string];

/** `GSPO`, without the name of a graph: the other orders of a quad follow from it. */
const quads = graphPrefix('').slice(0, 'GSPO\u0000'.length);
/** Blobs that nothing refers to any more are left out with what says so. */
const spaces = ['B\u0000', 'E\u0000', 'M\u0000', 'R\u0000'];
/** Of this folder alone. */
const own = new Set(['journal', 'position', 'row', 'batch', 'opened']);

export interface StateParts {
  readonly hasQuads: boolean;
  /** The log of changes is a part of it, as it is for what goes on from there. */
  readonly hasLog?: boolean;
}

/** In blocks, in the order of their keys. */
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

/** The same as lines. */
export async function* stateLines(...of: Parameters<typeof stateBlocks>): AsyncGenerator<string[]> {
  for await (const block of stateBlocks(...of)) yield block.map(lineOf);
}

/** Puts an entry of a state into a store: a quad in all of its orders. */
export function putEntry(batch: Pick<BatchWriter, 'put'>, [key, value]: Entry): void {
  if (isQuad(key)) putQuad(batch, key);
  else batch.put(key, value);
}

/** A line without its end. The value of a quad is empty. */
export const lineOf = ([key, value]: Entry): string => JSON.stringify(isQuad(key) ? key : [key, value]);

/** Lines of other things than entries: a name, which has no U+0000, and what belongs to it. */
export const sectionLine = (name: string, ...parts: readonly unknown[]): string => JSON.stringify([name, ...parts]);

/** Keys of entries have U+0000 behind their space, which is a letter. */
export const isSection = (line: string): boolean => line.startsWith('[') && !line.startsWith('\\u0000', 3);

/** @throws SyntaxError when the line is none, with the name of the section that it is */
export function entryOf(line: string): Entry {
  if (isSection(line))
    throw new SyntaxError(`there is a section that this version does not know, ${line.slice(1, 100).split(',', 1)}`);
  const found: unknown = JSON.parse(line);
  if (typeof found === 'string' && isQuad(found)) return [found, ''];
  if (Array.isArray(found) && found.length === 2 && found.every((part) => typeof part === 'string'))
    return found as unknown as Entry;
  throw new SyntaxError('a line is no entry');
}
