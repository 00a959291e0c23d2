/** States and dates of resources as a caller sees them. They reveal nothing of hidden resources. */
import type { Access } from '../authorization/principal.js';
import type { ResourceRecord } from '../storage/keys/records.js';
import { type Dated, undated, wholeSeconds } from './preconditions.js';
import type { Storage } from './storage.js';
import { type MemberView, visibleMembers } from './visible-members.js';

/** State of a resource that `If-Match` is compared with, and the date of its last change, as the caller sees them. */
export interface SeenState extends Dated {
  readonly state: string;
}

/**
 * Returns the state of a container for entity tags. If the caller can read all members, the state is the revision. Otherwise it
 * is a hash of the visible members, which reveals neither hidden members nor changes to them.
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

/** Returns the state of any resource as the caller sees it. */
export async function stateOf(
  storage: Storage,
  view: MemberView,
  access: Access,
  record: ResourceRecord,
): Promise<SeenState> {
  return record.kind === 'container' ? containerState(storage, view, access, record) : dated(record);
}

/**
 * Returns a resource as an entry of a listing. Changes to hidden members update the date of their container, so only callers
 * that see all members get that date.
 */
export async function seenItem(
  { authorizer, store }: Pick<Storage, 'authorizer' | 'store'>,
  access: Access,
  record: ResourceRecord,
): Promise<ResourceRecord> {
  if (record.kind !== 'container' || (await authorizer.readsAllMembers(store, access, record.iri))) return record;
  return { ...record, modified: record.created };
}

/** Returns the latest date of a container and its members, for the listing. */
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
