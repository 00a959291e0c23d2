/** Traverses a container and its descendants. */
import type { View } from '../authorization/authorizer.js';
import type { Access } from '../authorization/principal.js';
import type { ResourceRecord } from '../storage/keys/records.js';
import type { Storage } from './storage.js';

/** Committed state, or state of a transaction, with a function to list members. */
export type Tree = View & { members(container: string): AsyncIterable<readonly ResourceRecord[]> };

/** Decides if a member, with its descendants, is included in the traversal. */
export type IsPart = (member: ResourceRecord, container: ResourceRecord) => boolean | Promise<boolean>;

/** Yields a resource and its descendants, containers before their members. @throws errors of `isPart` */
export async function* subtreeOf(view: Tree, root: ResourceRecord, isPart: IsPart): AsyncGenerator<ResourceRecord> {
  yield root;
  const containers = [root];
  for (const container of containers)
    if (container.kind === 'container' && container.members)
      for await (const members of view.members(container.iri))
        for (const member of members) {
          if (!(await isPart(member, container))) continue;
          containers.push(member);
          yield member;
        }
}

/** Returns a function that decides if the caller may delete a member; under a profile, also from its container (rule 20.7). */
export function mayDelete(storage: Storage, view: View, access: Access): IsPart {
  const needsContainers = storage.profile?.deletesFromContainers;
  return async (member, container) =>
    (await storage.authorizer.allows({ view, access, mode: 'delete', iri: member.iri, record: member })) &&
    (!needsContainers ||
      (await storage.authorizer.allows({ view, access, mode: 'write', iri: container.iri, record: container })));
}
