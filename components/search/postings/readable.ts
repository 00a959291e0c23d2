/** Restricts ordered resources to those that the caller can read. */
import type { Authorizer, ReadScope, View } from '../../../lib/authorization/authorizer.js';
import type { Access } from '../../../lib/authorization/principal.js';
import type { StoreSnapshot } from '../../../lib/storage/graphs/snapshot.js';
import { type IriRange, RangeStream } from '../../../lib/storage/keys/iri-ranges.js';
import type { SortedStream } from '../../../lib/storage/level/entry-cursor.js';
import { ownedSpace } from '../../../lib/storage/level/owned-entries.js';

/** Storage whose resources are read. */
export interface ReadStorage {
  readonly authorizer: Authorizer;
  readonly store: View;
}

/** Returns the readable ones of the resources, as far as searches may find them. */
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

/** Returns the ranges that contain exactly the readable resources. `undefined` if others are readable, or some have to be decided. */
export function rangesOf(scope: ReadScope): readonly IriRange[] | undefined {
  if (scope === 'everything') return [whole];
  return typeof scope === 'object' && !scope.owner ? scope.ranges : undefined;
}

/** Returns streams of owned resources and of readable ranges. Ranges contain no resources themselves and only filter other streams. */
export const readableStreams = (
  snapshot: StoreSnapshot,
  { owner, ranges }: Extract<ReadScope, object>,
): readonly SortedStream[] => [
  ...(owner === undefined ? [] : [snapshot.cursor(ownedSpace, owner)]),
  ...(ranges.length > 0 ? [new RangeStream(ranges)] : []),
];
