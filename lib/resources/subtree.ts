/** Walks a container and everything below it. */
import type { View } from '../authorization/authorizer.js';
import type { Access } from '../authorization/principal.js';
import type { ResourceRecord } from '../storage/keys/records.js';
import type { Storage } from './storage.js';

/** A view that lists members: the committed state, or that of a transaction. */
export type Tree = View & { members(container: string): AsyncIterable<readonly ResourceRecord[]> };

/** Decides if a member of a container is a part of the walk. */
export type IsPart = (member: ResourceRecord, container: ResourceRecord) => boolean | Promise<boolean>;

/** Yields a resource and everything below it, containers before their members. @throws errors of `isPart` */
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
