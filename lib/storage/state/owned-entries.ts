/** Who owns which resources, as the index of searches keeps it in entries: read by those who may not ask that feature, which may be off. */
import { keyBlocks, type Level, type LevelSnapshot } from '../engine/durable-level.js';
import { entryKey, entryRange, partsOfEntry } from './records.js';

/** `owned`, owner, resource. */
export const ownedSpace = 'owned';
/** Exists when the index is complete, and then changes with the resources themselves. */
export const indexStateKey = entryKey('index-state');
export const completeIndex = '1';

/**
 * The resources that an identity owns, in order.
 * @returns `undefined` when nobody can say, or there are more than `most`
 */
export async function ownedBy(
  { level, snapshot }: { readonly level: Level; readonly snapshot: LevelSnapshot },
  owner: string,
  most: number,
): Promise<readonly string[] | undefined> {
  // Such an owner is in no entry.
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
