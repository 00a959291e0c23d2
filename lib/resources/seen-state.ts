/** Containers and resources as a caller sees them: states and dates that tell nothing of what is hidden from it. */
import { createHash } from 'node:crypto';
import type { View } from '../authorization/authorizer.js';
import type { Access } from '../authorization/principal.js';
import type { ResourceRecord } from '../storage/keys/records.js';
import { type Dated, undated, wholeSeconds } from './preconditions.js';
import type { Storage } from './storage.js';

/** A state of the storage whose members can be listed. */
export type MemberView = View & { members(container: string): AsyncIterable<readonly ResourceRecord[]> };

/** A resource as a caller sees it: the state that `If-Match` is compared with, and when that changed last. */
export interface SeenState extends Dated {
  readonly state: string;
}

/**
 * The state of a container for the tags of a caller: its revision for one who may read everything; for others a hash of
 * what they see, which tells nothing of what they do not see, nor when that came or went.
 */
export async function containerState(
  storage: Storage,
  view: MemberView,
  access: Access,
  container: ResourceRecord,
): Promise<SeenState> {
  if (await storage.authorizer.readsAllMembers(view, access, container.iri)) return dated(container);
  const visible: ResourceRecord[] = [];
  for await (const members of view.members(container.iri))
    for (const member of members)
      if (await storage.authorizer.allows({ view, access, mode: 'read', iri: member.iri, record: member }))
        visible.push(member);
  return { state: viewState(visible.map(({ iri }) => iri).sort()), ...undated };
}

const dated = ({ revision, modified, sharesSecond }: ResourceRecord): SeenState => ({
  state: revision,
  modified,
  sharesSecond,
});

/** The state of any resource, as the caller may see it. */
export async function stateOf(
  storage: Storage,
  view: MemberView,
  access: Access,
  record: ResourceRecord,
): Promise<SeenState> {
  return record.kind === 'container' ? containerState(storage, view, access, record) : dated(record);
}

/**
 * A resource as it is shown among others: a container's date moves with members that the caller may not know of, so it is
 * told to who sees all of them.
 */
export async function seenItem(
  { authorizer, store }: Pick<Storage, 'authorizer' | 'store'>,
  access: Access,
  record: ResourceRecord,
): Promise<ResourceRecord> {
  if (record.kind !== 'container' || (await authorizer.readsAllMembers(store, access, record.iri))) return record;
  return { ...record, modified: record.created };
}

export const viewState = (iris: readonly string[]): string => {
  const hash = createHash('sha256');
  for (const iri of iris) hash.update(`${iri}\n`);
  // As long as a revision: the form of a tag must not tell that something is hidden.
  return hash.digest('base64url').slice(0, 12);
};

/** The latest date among a container's and its members', which is that of their listing. */
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
