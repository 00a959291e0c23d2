/** Finds the resources of an owner by entries of the search index. Works even if the component for search is off. */

import { entryKey, entryRange, partsOfEntry } from '../keys/records.js';
import { keyBlocks, type Level, type LevelSnapshot } from './durable-level.js';

/** Entry space; the parts are owner and resource. */
export const ownedSpace = 'owned';
/** Entry space of postings; the parts are relation (`type` for types), value and resource. */
export const relationSpace = 'index';
/** Key of an entry that exists when the index is complete. From then on, every transaction updates the index. */
export const indexStateKey = entryKey('index-state');
export const completeIndex = '1';

/** Returns the resources of an owner in order. @returns `undefined` if the index is incomplete, or there are more than `most` */
export async function ownedBy(
  { level, snapshot }: { readonly level: Level; readonly snapshot: LevelSnapshot },
  owner: string,
  most: number,
): Promise<readonly string[] | undefined> {
  // An identity with U+0000, which separates the parts of keys, has no entries.
  if (owner.includes('\u0000') || level.getSync(indexStateKey, { snapshot }) !== completeIndex) return undefined;
  const found: string[] = [];
  for await (const keys of keyBlocks(level, entryRange(ownedSpace, owner), { snapshot, limit: most + 1 }))
    for (const key of keys) found.push(partsOfEntry(key).at(-1)!);
  return found.length > most ? undefined : found;
}

/** Returns true if an identity owns a resource, according to the index. */
export async function ownsAny(level: Level, owner: string): Promise<boolean> {
  if (owner.includes('\u0000')) return false;
  for await (const _ of keyBlocks(level, entryRange(ownedSpace, owner), { limit: 1 })) return true;
  return false;
}
