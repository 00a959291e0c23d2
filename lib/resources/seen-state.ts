/** Containers and resources in a caller's view: states and dates that reveal nothing of hidden resources. */
import type { Access } from '../authorization/principal.js';
import type { ResourceRecord } from '../storage/keys/records.js';
import { type Dated, undated, wholeSeconds } from './preconditions.js';
import type { Storage } from './storage.js';
import { type MemberView, visibleMembers } from './visible-members.js';

/** A resource in a caller's view: the state that `If-Match` is compared with, and the date of its last change. */
export interface SeenState extends Dated {
  readonly state: string;
}

/**
 * Returns the state of a container for the caller's entity tags. For a caller with full read access it is the revision. For
 * others it is a hash of the visible members, so that it reveals neither hidden members nor their changes.
 */
export async function containerState(
  storage: Storage,
  view: MemberView,
  access: Access,
  container: ResourceRecord,
): Promise<SeenState> {
  if (await storage.authorizer.readsAllMembers(view, access, container.iri)) return dated(container);
  const { state } = await visibleMembers({ storage, access, container }, view, { from: 0, count: 0 });
  return { state, ...undated };
}

const dated = ({ revision, modified, sharesSecond }: ResourceRecord): SeenState => ({
  state: revision,
  modified,
  sharesSecond,
});

/** Returns the state of any resource in the caller's view. */
export async function stateOf(
  storage: Storage,
  view: MemberView,
  access: Access,
  record: ResourceRecord,
): Promise<SeenState> {
  return record.kind === 'container' ? containerState(storage, view, access, record) : dated(record);
}

/**
 * Returns a resource as an entry of a listing. The date of a container changes with hidden members, so only callers that see all
 * members get it.
 */
export async function seenItem(
  { authorizer, store }: Pick<Storage, 'authorizer' | 'store'>,
  access: Access,
  record: ResourceRecord,
): Promise<ResourceRecord> {
  if (record.kind !== 'container' || (await authorizer.readsAllMembers(store, access, record.iri))) return record;
  return { ...record, modified: record.created };
}

/** Returns the latest date of a container and its members: the date of their listing. */
export function latest(container: Dated, members: readonly Dated[]): Dated {
  let found: Dated = { modified: container.modified, sharesSecond: container.sharesSecond };
  for (const { modified, sharesSecond } of members) {
    const isSameSecond = wholeSeconds(modified) === wholeSeconds(found.modified);
    const shares = isSameSecond && (sharesSecond || found.sharesSecond || modified !== found.modified);
    if (shares) found = { modified: Math.max(modified, found.modified), sharesSecond: true };
    else if (modified > found.modified) found = { modified, sharesSecond };
  }
  return found;
}
