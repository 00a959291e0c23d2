/** DELETE: a resource, an empty container, or with `Depth: infinity` a subtree in one transaction. */

import { aclKey } from '../authorization/acl.js';
import { attribute } from '../authorization/audit.js';
import type { View } from '../authorization/authorizer.js';
import { requireAccess } from '../authorization/guard.js';
import type { Access } from '../authorization/principal.js';
import { parentOf, type ResourceRecord } from '../storage/keys/records.js';
import type { Transaction } from '../storage/transactions/transaction.js';
import { LwsError } from '../tools/errors.js';
import { assertDigests, type RequestBody } from './body.js';
import { deleteLinks } from './metadata.js';
import { assertPreconditions } from './preconditions.js';
import { stateOf } from './seen-state.js';
import type { Storage } from './storage.js';
import { type IsPart, mayDelete, subtreeOf, type Tree } from './subtree.js';
import { stageGraphDeletion, stageMembership, type WriteRequest } from './write.js';

export interface DeleteRequest extends WriteRequest {
  /** True for `Depth: infinity`. */
  readonly recursive: boolean;
  /** Request body, if it has digests to verify. */
  readonly body?: RequestBody | undefined;
}

/** Resource and triple counts of a subtree above which a transaction is long (`isLongFor`). */
const [manyResources, manyTriples] = [1_000, 20_000];

/** Triple count above which small graphs are removed after the transaction, as large graphs always are. */
const maxTriples = 100_000;

/**
 * Deletes content and metadata in one transaction.
 * @throws LwsError `root-not-deletable`, `digest-mismatch`, `precondition-failed`, `not-empty`, `forbidden` if any descendant may
 * not be deleted (rule 2.3: nothing is deleted then)
 */
export async function remove(storage: Storage, request: DeleteRequest): Promise<void> {
  const { iri, access, preconditions, recursive } = request;
  const admitted = await admit(storage, storage.store, request);
  if (iri === storage.rootIri) throw new LwsError('root-not-deletable', 'The root container cannot be deleted.');
  const work = async (tx: Transaction): Promise<void> => {
    attribute(tx, access);
    const record = await admit(storage, tx, request);
    const seen = await stateOf(storage, tx, access, record);
    assertPreconditions(preconditions, seen, seen.state);
    if (record.members && !recursive)
      throw new LwsError(
        'not-empty',
        'The container is not empty. Delete its members first, or send "Depth: infinity".',
      );
    await stageRemoval(storage, tx, { access, record });
  };
  if (request.body) await assertDigests(request.body);
  if (!recursive || !admitted.members) {
    await storage.store.prefetch(admitted);
    return storage.store.transact(work, { frees: true });
  }
  await askGroups(storage, access, iri);
  const found = await deletable({ storage, view: storage.store }, access, admitted);
  const prepare = storage.store.readAhead(isLongFor(storage, admitted, found) ? [] : found);
  await storage.store.transact(work, { frees: true, prepare });
}

/** Requires delete on the resource and, under a profile, write on its container (rule 20.7). @throws LwsError as `requireAccess` */
async function admit(storage: Storage, view: View, { iri, access }: DeleteRequest): Promise<ResourceRecord> {
  const record = await requireAccess(storage, view, access, 'delete', iri);
  if (storage.profile?.deletesFromContainers && iri !== storage.rootIri)
    await requireAccess(storage, view, access, 'write', parentOf(iri));
  return record;
}

/** Stages the deletion of a resource, its descendants and its membership. @throws LwsError `forbidden` if a descendant may not be deleted */
export async function stageRemoval(
  storage: Storage,
  tx: Transaction,
  { access, record }: { readonly access: Access; readonly record: ResourceRecord },
): Promise<void> {
  await stageDeletion(storage, tx, access, record);
  stageMembership({ storage, tx }, record, -1);
}

/** Evaluates the ACLs of all descendants before the transaction, which must not fetch remote groups. */
async function askGroups({ acls, authorizer, store }: Storage, access: Access, container: string): Promise<void> {
  for (const iri of acls?.below(container) ?? []) await authorizer.allows({ view: store, access, mode: 'delete', iri });
}

/** Returns a resource and its descendants. @throws LwsError `forbidden` if a descendant may not be deleted */
async function deletable(
  { storage, view }: { readonly storage: Storage; readonly view: Tree },
  access: Access,
  root: ResourceRecord,
): Promise<readonly ResourceRecord[]> {
  const may = mayDelete(storage, view, access);
  const found: ResourceRecord[] = [];
  const isPart: IsPart = async (member, container) => {
    if (await may(member, container)) return true;
    // The message names no resource, because the caller may not be allowed to know of the descendant.
    throw new LwsError(
      'forbidden',
      'You are not allowed to delete everything in this container. Nothing was deleted.',
      {
        reason: `${member.iri} refuses delete`,
      },
    );
  };
  for await (const record of subtreeOf(view, root, isPart)) found.push(record);
  return found;
}

async function stageDeletion(storage: Storage, tx: Transaction, access: Access, root: ResourceRecord): Promise<void> {
  const found = await deletable({ storage, view: tx }, access, root);
  if (isLongFor(storage, root, found)) {
    for (const record of found) tx.deleteLater(record);
    tx.deleteSubtree(root.iri);
    return;
  }
  // Above the limit, small graphs are removed later too: the transaction would hold their keys in memory.
  const isLarge = triplesOf(found) > maxTriples;
  for (const record of found) await stageDeleted(tx, record, isLarge);
}

const triplesOf = (records: readonly ResourceRecord[]): number =>
  records.reduce((sum, { triples = 0 }) => sum + triples, 0);

/** Returns true if a transaction on a subtree would block others for too long. Parts of it are then done before or after. */
export const isLongFor = (
  { store: { coordination } }: Storage,
  root: ResourceRecord,
  found: readonly ResourceRecord[],
): boolean =>
  root.kind === 'container' &&
  // False with several servers: the other servers do not know which subtrees this server is removing.
  !coordination.hasOthers &&
  (found.length > manyResources || triplesOf(found) > manyTriples);

/** Stages the deletion of one resource, but not the change of its container. @param isLarge see `stageGraphDeletion` */
export async function stageDeleted(tx: Transaction, record: ResourceRecord, isLarge = false): Promise<void> {
  await stageRest(tx, record, isLarge);
  tx.deleteRecord(record);
}

/** Stages the deletion of a resource's graph, links and ACL, and reports the deletion. The record stays. */
export async function stageRest(tx: Transaction, record: ResourceRecord, isLarge = false): Promise<void> {
  if (record.kind === 'rdf') await stageGraphDeletion(tx, record, isLarge);
  deleteLinks(tx, record);
  if (record.acl) tx.deleteEntry(aclKey(record.iri));
  tx.changed({ before: record });
}
