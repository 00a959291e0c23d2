/** Size of a container with everything below it that the caller can read. */
import { inTurn, untilNextStep } from '../authorization/decision-turns.js';
import { requireAccess } from '../authorization/guard.js';
import type { Access } from '../authorization/principal.js';
import type { ResourceRecord } from '../storage/keys/records.js';
import type { Storage } from './storage.js';
import { visibleMembers } from './visible-members.js';

export interface FolderSize {
  /** Sum of the sizes of the resources, in bytes. */
  readonly bytes: number;
  readonly resources: number;
  /** False if the container has more than `maxResources` descendants. The rest is not counted. */
  readonly isComplete: boolean;
}

const maxResources = 100_000;

/** Sums the sizes of all descendants that listings show to the caller. @throws LwsError as GET, `too-busy` */
export async function folderSize(storage: Storage, access: Access, iri: string): Promise<FolderSize> {
  const container = await requireAccess(storage, storage.store, access, 'read', iri);
  const began = performance.now();
  const size = await sizeBelow(storage, access, container);
  if ((await storage.authorizer.readScope(access)) !== 'everything') await untilNextStep(began);
  return size;
}

async function sizeBelow(storage: Storage, access: Access, top: ResourceRecord): Promise<FolderSize> {
  const containers = [top];
  let [bytes, resources] = [0, 0];
  for (const container of containers) {
    const list = () =>
      visibleMembers({ storage, access, container }, storage.store, { from: 0, count: maxResources - resources + 1 });
    // Only small containers are queued here: listing a larger container is queued separately.
    const isSmall = (container.members ?? 0) <= storage.limits.pageSize;
    const { members } = await (isSmall ? inTurn(storage, access, list) : list());
    for (const member of members) {
      if (resources === maxResources) return { bytes, resources, isComplete: false };
      bytes += member.size;
      resources++;
      if (member.kind === 'container' && member.members) containers.push(member);
    }
  }
  return { bytes, resources, isComplete: true };
}
