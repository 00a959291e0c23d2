/** Creates missing ancestor containers on a write, under a profile (rule 20.4). */
import { ancestorsOf, type View } from '../authorization/authorizer.js';
import { requireAccess } from '../authorization/guard.js';
import type { Transaction } from '../storage/transactions/transaction.js';
import { LwsError } from '../tools/errors.js';
import { counterpart } from './names.js';
import type { Storage } from './storage.js';
import { assertUnreserved, stageNew, type WriteRequest } from './write.js';

/** Maximum containers that one write creates: each adds a record, an event and index entries to the transaction. */
const maxMade = 32;

/** Returns the missing ancestor containers, innermost first; none if the profile does not create them. */
function missingParents({ profile, rootIri }: Storage, view: View, iri: string): string[] {
  const missing: string[] = [];
  if (!profile?.makesParents) return missing;
  for (const parent of ancestorsOf(iri, rootIri)) {
    if (view.record(parent)) break;
    missing.push(parent);
  }
  return missing;
}

/** Asserts that no ancestor name is reserved, whether or not it exists (rule 6.11). @throws LwsError `reserved-name` */
export function assertParentNames(storage: Storage, iri: string): void {
  if (storage.profile?.makesParents)
    for (const parent of ancestorsOf(iri, storage.rootIri)) assertUnreserved(storage, parent);
}

/**
 * Asserts that the caller may create the missing ancestors in the nearest existing container.
 * @throws LwsError `parent-not-a-container` for the name of a data resource, or as `requireAccess` if that resource is hidden;
 * `conflict` for too many missing ancestors
 */
export async function assertParentsFree(
  storage: Storage,
  view: View,
  { iri, access }: Pick<WriteRequest, 'iri' | 'access'>,
): Promise<void> {
  const missing = missingParents(storage, view, iri);
  if (missing.length > maxMade)
    throw new LwsError('conflict', `A write cannot create more than ${maxMade} parent containers.`);
  for (const parent of missing) {
    const file = counterpart(parent);
    if (!view.record(file)) continue;
    await requireAccess(storage, view, access, 'read', file);
    throw new LwsError('parent-not-a-container', `The parent of this name is not a container: ${file}`);
  }
}

/** Stages the missing containers. `assertParentsFree` has checked the permission. */
export function stageParents(
  storage: Storage,
  tx: Transaction,
  { iri, access }: Pick<WriteRequest, 'iri' | 'access'>,
): void {
  for (const parent of missingParents(storage, tx, iri).reverse())
    stageNew(storage, tx, { iri: parent, access }, undefined);
}
