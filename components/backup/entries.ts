/**
 * The entries of a back-up as lines of JSON, and back. Of the four orders of a quad only the first is kept, since the others follow
 * from it. It must not know files or HTTP.
 */
import { entryBlocks, type Level, type LevelSnapshot } from '../../lib/storage/durable-level.js';
import { graphPrefix } from '../../lib/storage/quad-keys.js';
import { type KeyRange, rangeOf } from '../../lib/storage/records.js';
import { isQuad } from '../../lib/storage/rewritten-entries.js';

/** What stands first in a back-up. */
export interface Header {
  readonly 'quadpod-backup': 1;
  /** The storage's IRI. */
  readonly storage: string;
  /** The version of the store's format. */
  readonly version: string;
  /** ISO 8601. */
  readonly made: string;
}

/** What stands last: without it a back-up is cut off. */
export interface Trailer {
  readonly entries: number;
}

export type Entry = readonly [key: string, value: string];

/** `GSPO`, without the name of a graph. */
const quads = graphPrefix('').slice(0, 'GSPO\u0000'.length);
/** In the order of their keys. Blobs that nothing refers to any more are left out with what says so. */
const spaces = ['B\u0000', 'E\u0000', quads, 'M\u0000', 'R\u0000'];
export const spaceOf = (space: 'B' | 'E' | 'GSPO' | 'M' | 'R'): KeyRange => rangeOf(`${space}\u0000`);

export const isOf = (space: 'B' | 'E' | 'M' | 'R', key: string): boolean => key.startsWith(`${space}\u0000`);

/** All entries of one state in blocks, in the order of their keys. */
export async function* stateBlocks(level: Level, snapshot: LevelSnapshot): AsyncGenerator<Entry[]> {
  for (const space of spaces) yield* entryBlocks(level, rangeOf(space), { snapshot });
}

/** A line without its end. The value of a quad is empty. */
export const lineOf = ([key, value]: Entry): string => JSON.stringify(isQuad(key) ? key : [key, value]);

/** @throws SyntaxError when the line is none */
export function entryOf(line: string): Entry {
  const found: unknown = JSON.parse(line);
  if (typeof found === 'string' && isQuad(found)) return [found, ''];
  if (Array.isArray(found) && found.length === 2 && found.every((part) => typeof part === 'string'))
    return found as unknown as Entry;
  throw new SyntaxError('a line is no entry');
}
