/** Resources owned by an identity, from the entries of the search index: for code that must not depend on that component, which may be off. */

import { entryKey, entryRange, partsOfEntry } from '../keys/records.js';
import { keyBlocks, type Level, type LevelSnapshot } from './durable-level.js';

/** Entry space; the parts are owner and resource. */
export const ownedSpace = 'owned';
/** Entry space of postings; the parts are relation (`type` for types), value and resource. */
export const relationSpace = 'index';
/** Exists when the index is complete. From then on, every transaction keeps it up to date. */
export const indexStateKey = entryKey('index-state');
export const completeIndex = '1';

/** Returns the resources of an owner in order. @returns `undefined` if the index is incomplete, or there are more than `most` */
export async function ownedBy(
  { level, snapshot }: { readonly level: Level; readonly snapshot: LevelSnapshot },
  owner: string,
  most: number,
): Promise<readonly string[] | undefined> {
  // Such an owner has no entries: U+0000 separates the parts of keys.
  if (owner.includes('\u0000') || level.getSync(indexStateKey, { snapshot }) !== completeIndex) return undefined;
  const found: string[] = [];
  for await (const keys of keyBlocks(level, entryRange(ownedSpace, owner), { snapshot, limit: most + 1 }))
    for (const key of keys) found.push(partsOfEntry(key).at(-1)!);
  return found.length > most ? undefined : found;
}

/** True if an identity owns anything according to the index. */
export async function ownsAny(level: Level, owner: string): Promise<boolean> {
  if (owner.includes('\u0000')) return false;
  for await (const _ of keyBlocks(level, entryRange(ownedSpace, owner), { limit: 1 })) return true;
  return false;
}
