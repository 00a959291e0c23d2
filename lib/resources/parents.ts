/** The containers that a write to a deep name makes above it, under a profile (rule 20.4). */
import { ancestorsOf, type View } from '../authorization/authorizer.js';
import { requireAccess } from '../authorization/guard.js';
import { LwsError } from '../errors.js';
import type { Transaction } from '../storage/transactions/transaction.js';
import { counterpart } from './names.js';
import type { Storage } from './storage.js';
import { assertUnreserved, stageNew, type WriteRequest } from './write.js';

/** Each of them is a record, an event and an entry of indexes, in the time of a transaction. */
const maxMade = 32;

/** The containers that are missing above a name, the lowest first; none where they are not made. */
function missingParents({ profile, rootIri }: Storage, view: View, iri: string): string[] {
  const missing: string[] = [];
  if (!profile?.makesParents) return missing;
  for (const parent of ancestorsOf(iri, rootIri)) {
    if (view.record(parent)) break;
    missing.push(parent);
  }
  return missing;
}

/** Whatever there is: a reserved name is told before who asks is looked at (rule 6.11). @throws LwsError `reserved-name` */
export function assertParentNames(storage: Storage, iri: string): void {
  if (storage.profile?.makesParents)
    for (const parent of ancestorsOf(iri, storage.rootIri)) assertUnreserved(storage, parent);
}

/**
 * Asks whether the missing containers can be made, by one who may create in the nearest that is there.
 * @throws LwsError `parent-not-a-container` for the name of a data resource, or as `requireAccess` where that is hidden; `conflict` for too many
 */
export async function assertParentsFree(
  storage: Storage,
  view: View,
  { iri, access }: Pick<WriteRequest, 'iri' | 'access'>,
): Promise<void> {
  const missing = missingParents(storage, view, iri);
  if (missing.length > maxMade)
    throw new LwsError('conflict', `A write makes at most ${maxMade} containers above its name.`);
  for (const parent of missing) {
    const file = counterpart(parent);
    if (!view.record(file)) continue;
    await requireAccess(storage, view, access, 'read', file);
    throw new LwsError('parent-not-a-container', `There is no container above this name: ${file} is none.`);
  }
}

/** Stages the missing containers; the admission found that they may be made. */
export function stageParents(
  storage: Storage,
  tx: Transaction,
  { iri, access }: Pick<WriteRequest, 'iri' | 'access'>,
): void {
  for (const parent of missingParents(storage, tx, iri).reverse())
    stageNew(storage, tx, { iri: parent, access }, undefined);
}
