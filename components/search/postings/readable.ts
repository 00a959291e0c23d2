/** Restricts sorted lists of resources to those that the caller can read. */
import type { Authorizer, ReadScope, View } from '../../../lib/authorization/authorizer.js';
import type { Access } from '../../../lib/authorization/principal.js';
import type { StoreSnapshot } from '../../../lib/storage/graphs/snapshot.js';
import { type IriRange, RangeStream } from '../../../lib/storage/keys/iri-ranges.js';
import type { SortedStream } from '../../../lib/storage/level/entry-cursor.js';
import { ownedSpace } from '../../../lib/storage/level/owned-entries.js';

/** Parts of a storage that are needed to check read access. */
export interface ReadStorage {
  readonly authorizer: Authorizer;
  readonly store: View;
}

/** Returns the resources that the caller can read and that searches may return. */
export async function readableOf(
  { authorizer, store }: ReadStorage,
  access: Access,
  iris: readonly string[],
): Promise<readonly string[]> {
  const readable: string[] = [];
  for (const iri of iris) {
    const answer = authorizer.finds({ view: store, access, iri });
    // Most decisions are synchronous, and a promise for each would cost more than the decision.
    if (typeof answer === 'boolean' ? answer : await answer) readable.push(iri);
  }
  return readable;
}

export const whole: IriRange = { from: '', to: '\uffff' };

/** Returns ranges that contain exactly the readable resources, or `undefined` if ranges alone do not determine them. */
export function rangesOf(scope: ReadScope): readonly IriRange[] | undefined {
  if (scope === 'everything') return [whole];
  return typeof scope === 'object' && !scope.owner ? scope.ranges : undefined;
}

/** Returns streams of owned resources and of readable ranges. A range stream only filters: it does not list resources. */
export const readableStreams = (
  snapshot: StoreSnapshot,
  { owner, ranges }: Extract<ReadScope, object>,
): readonly SortedStream[] => [
  ...(owner === undefined ? [] : [snapshot.cursor(ownedSpace, owner)]),
  ...(ranges.length > 0 ? [new RangeStream(ranges)] : []),
];
