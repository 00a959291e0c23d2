/** Which resources an identity owns, from the entries of the search index: for code that must not depend on that feature (it may be off). */

import { entryKey, entryRange, partsOfEntry } from '../keys/records.js';
import { keyBlocks, type Level, type LevelSnapshot } from './durable-level.js';

/** The space of the entries; the parts are the owner and the resource. */
export const ownedSpace = 'owned';
/** The entry exists when the index is complete; from then on, every transaction keeps the index up to date. */
export const indexStateKey = entryKey('index-state');
export const completeIndex = '1';

/**
 * The resources that an identity owns, in order.
 * @returns `undefined` when the index is not complete, or there are more than `most`
 */
export async function ownedBy(
  { level, snapshot }: { readonly level: Level; readonly snapshot: LevelSnapshot },
  owner: string,
  most: number,
): Promise<readonly string[] | undefined> {
  // No entry can have such an owner: U+0000 separates the parts of keys.
  if (owner.includes('\u0000') || level.getSync(indexStateKey, { snapshot }) !== completeIndex) return undefined;
  const found: string[] = [];
  for await (const keys of keyBlocks(level, entryRange(ownedSpace, owner), { snapshot, limit: most + 1 }))
    for (const key of keys) found.push(partsOfEntry(key).at(-1)!);
  return found.length > most ? undefined : found;
}

/** Whether an identity owns anything, as far as the index says. */
export async function ownsAny(level: Level, owner: string): Promise<boolean> {
  if (owner.includes('\u0000')) return false;
  for await (const _ of keyBlocks(level, entryRange(ownedSpace, owner), { limit: 1 })) return true;
  return false;
}
