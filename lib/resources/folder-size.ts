/** Size of a container with everything below it that the caller can read. */
import { inTurn, untilNextStep } from '../authorization/decision-turns.js';
import { requireAccess } from '../authorization/guard.js';
import type { Access } from '../authorization/principal.js';
import type { Storage } from './storage.js';
import { subtreeOf } from './subtree.js';

export interface FolderSize {
  /** Sum of the sizes of the resources, in bytes. */
  readonly bytes: number;
  readonly resources: number;
  /** False if there are more resources than are counted. */
  readonly isComplete: boolean;
}

const maxResources = 100_000;

/** Resources that the caller cannot read, and those below them, do not count. @throws LwsError as GET, `too-busy` */
export async function folderSize(storage: Storage, access: Access, iri: string): Promise<FolderSize> {
  const { store: view, authorizer } = storage;
  const container = await requireAccess(storage, view, access, 'read', iri);
  const began = performance.now();
  const size = await inTurn(storage, access, async (pause) => {
    // The container itself does not count.
    let [bytes, resources] = [0, -1];
    const isReadable = async (record: typeof container): Promise<boolean> => {
      await pause();
      return authorizer.allows({ view, access, mode: 'read', iri: record.iri, record });
    };
    for await (const { size } of subtreeOf(view, container, isReadable)) {
      if (resources === maxResources) return { bytes, resources, isComplete: false };
      bytes += size;
      resources++;
    }
    return { bytes, resources, isComplete: true };
  });
  if ((await authorizer.readScope(access)) !== 'everything') await untilNextStep(began);
  return size;
}
