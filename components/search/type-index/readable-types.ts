/** Finds the types of the resources that the caller can read. */

import type { ReadScope } from '../../../lib/authorization/authorizer.js';
import { inTurn } from '../../../lib/authorization/decision-turns.js';
import type { Access } from '../../../lib/authorization/principal.js';
import type { Platform } from '../../../lib/component/contract.js';
import { StoreSnapshot } from '../../../lib/storage/graphs/snapshot.js';
import { RangeStream } from '../../../lib/storage/keys/iri-ranges.js';
import { entryRange } from '../../../lib/storage/keys/records.js';
import type { SortedStream } from '../../../lib/storage/level/entry-cursor.js';
import { intersection } from '../postings/merge.js';
import { readableOf } from '../postings/readable.js';
import { ownedSpace, postingSpace, typeRelation } from './postings.js';

/** Runs `read` on a snapshot of the store. */
async function onSnapshot<T>({ store }: Platform, read: (snapshot: StoreSnapshot) => Promise<T>): Promise<T> {
  const snapshot = new StoreSnapshot(store.level);
  try {
    return await read(snapshot);
  } finally {
    await snapshot.close();
  }
}

/** Returns the distinct types of the resources that the caller can read, sorted. */
export async function typesOf(platform: Platform, access: Access): Promise<readonly string[]> {
  const scope = await platform.authorizer.readScope(access);
  if (scope === 'nothing') return [];
  const read = () => onSnapshot(platform, (snapshot) => readableTypes(platform, access, scope, snapshot));
  return scope === 'decide' ? inTurn(platform, access, read) : read();
}

async function readableTypes(
  platform: Platform,
  access: Access,
  scope: ReadScope,
  snapshot: StoreSnapshot,
): Promise<readonly string[]> {
  const types = new Set<string>();
  if (typeof scope === 'object' && scope.owner !== undefined) await collectOwned(snapshot, scope.owner, types);
  if (typeof scope !== 'object' || scope.ranges.length > 0)
    for await (const type of snapshot.distinct(postingSpace, typeRelation))
      if (scope === 'everything' || types.has(type) || (await anyReadable(platform, access, scope, snapshot, type)))
        types.add(type);
  return [...types].sort();
}

/** Adds the types of owned resources. Skips repeated values: many resources have the same types. */
async function collectOwned(snapshot: StoreSnapshot, owner: string, types: Set<string>): Promise<void> {
  const seen = new Set<string>();
  for await (const entries of snapshot.entries(entryRange(ownedSpace, owner)))
    for (const [, value] of entries) {
      if (seen.has(value)) continue;
      seen.add(value);
      for (const type of JSON.parse(value) as string[]) types.add(type);
    }
}

/** Returns true if the caller can read any resource of a type. Skips unreadable ranges. */
async function anyReadable(
  platform: Platform,
  access: Access,
  scope: ReadScope,
  snapshot: StoreSnapshot,
  type: string,
): Promise<boolean> {
  const streams: SortedStream[] = [snapshot.cursor(postingSpace, typeRelation, type)];
  if (typeof scope === 'object') streams.push(new RangeStream(scope.ranges));
  for await (const block of intersection(streams, 20)) {
    const readable = scope === 'decide' ? await readableOf(platform, access, block) : block;
    if (readable.length > 0) return true;
  }
  return false;
}
