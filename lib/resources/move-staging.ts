/** Stages the parts of a MOVE or COPY in its transaction. */
import { type AclDocument, aclDocumentOf, aclKey } from '../authorization/acl.js';
import type { View } from '../authorization/authorizer.js';
import type { GraphKeys } from '../storage/keys/graph-keys.js';
import type { IriRewriting } from '../storage/keys/iri-rewriting.js';
import { sortKeys } from '../storage/keys/key-order.js';
import { newRevision, parentOf, type ResourceRecord } from '../storage/keys/records.js';
import type { Transaction } from '../storage/transactions/transaction.js';
import { LwsError } from '../tools/errors.js';
import { clientLinks, deleteLinks, stageLinks } from './metadata.js';
import type { MoveRequest, Moving, Placed } from './moved-content.js';
import { dateAfter } from './preconditions.js';
import type { Storage } from './storage.js';
import { type Staging, stageGraph, stageGraphDeletion, stageNewGraph } from './write.js';

/** Stages the removal of a resource from its old name. @param isStaged true if its graph is already written at the new name */
export async function stageLeaving(tx: Transaction, record: ResourceRecord, isStaged: boolean): Promise<void> {
  if (record.kind === 'rdf') await stageGraphDeletion(tx, record, isStaged);
  tx.changed({ before: record });
}

/** Stages a resource at its new name with its links. A moved resource also keeps its ACL and owner (rule 6.25). */
export async function stageArrival({ storage, tx }: Staging, request: Moving, arriving: Arriving): Promise<void> {
  const { copies, rewrites, rewriting } = request;
  const { record: from, iri, graph, old } = arriving;
  if (old) await stageGraph(tx, old, graph?.keys);
  else if (graph) stageNewGraph(tx, iri, graph.keys);
  const links = from.linked === undefined ? undefined : clientLinks(tx, from.iri);
  if (!copies) deleteLinks(tx, from);
  if (old && !links) deleteLinks(tx, old);
  if (old?.acl && !copies) tx.deleteEntry(aclKey(iri));
  const record = arrived({ storage, tx }, request, arriving);
  if (!copies) tx.deleteRecord(from);
  tx.putRecord(record);
  if (links) tx.putRecord(stageLinks(storage, tx, record, rewrites ? rewriting.value(links) : links));
  if (from.acl && !copies) stageMovedAcl({ storage, tx }, rewriting, { from, iri });
  const after = tx.record(iri)!;
  tx.changed(old ? { before: old, after } : { after });
}

/** Resource at its new name, and the resource `old` that it replaces. The keys are packed if the graph is already written. */
type Arriving = Omit<Placed, 'graph'> & {
  readonly graph: { readonly keys: GraphKeys; readonly size: number } | undefined;
  readonly old: ResourceRecord | undefined;
};

/** Returns the record for the new name. Links and ACL are staged later. */
function arrived(
  { storage, tx }: Staging,
  { access, copies, ownerAfter = (_tx, { owner }) => owner }: Moving,
  { record: from, iri, graph, blob, old }: Arriving,
): ResourceRecord {
  const {
    acl: _acl,
    owner: _owner,
    types: _types,
    sharesSecond: _shares,
    linkedSharesSecond: _second,
    ...facts
  } = from;
  const now = storage.clock();
  const ownerOfNew = (): string | undefined =>
    copies ? storage.authorizer.ownerOfNew(access, tx.record(parentOf(iri))!) : ownerAfter(tx, from);
  // A replaced resource keeps its owner: otherwise a caller with write access would own it, also after a revocation.
  const owner = old ? old.owner : ownerOfNew();
  return {
    ...{ ...facts, iri, revision: newRevision() },
    ...(graph ? { size: graph.size, triples: graph.keys.length } : {}),
    ...(blob ? { blob: blob.blob } : {}),
    ...(copies ? { created: now } : {}),
    ...(copies || old ? dateAfter(old, now) : {}),
    ...(owner === undefined ? {} : { owner }),
    // A copy replaces only the content, as PUT does, so the ACL stays.
    ...(copies && old?.acl ? { acl: old.acl } : {}),
  };
}

/** Stages the ACL of a moved resource. The ACL is always rewritten, because it names its resource. */
function stageMovedAcl(
  { storage, tx }: Staging,
  rewriting: IriRewriting,
  { from, iri }: { readonly from: ResourceRecord; readonly iri: string },
): void {
  const found = aclDocumentOf(tx, from);
  tx.deleteEntry(aclKey(from.iri));
  if (!found) return;
  const { keys, ...document } = found;
  const moved: AclDocument = {
    ...document,
    revision: newRevision(),
    keys: sortKeys(keys.map((key) => rewriting.value(key))),
  };
  storage.acls?.stage(iri);
  tx.putEntry(aclKey(iri), JSON.stringify(moved));
  tx.putRecord({ ...tx.record(iri)!, acl: moved.revision });
}

/** Resources that a transaction moves and replaces. */
interface Affected {
  readonly found: readonly Placed[];
  readonly replaced: ReadonlyMap<string, ResourceRecord>;
  readonly old: ResourceRecord | undefined;
}

/** Requires control if ACLs are moved, or removed at the destination (rule 6.25). @throws LwsError `forbidden` */
export async function assertListsMovable(
  { storage, view }: { readonly storage: Storage; readonly view: View },
  { access, destination }: MoveRequest,
  { found, replaced, old }: Affected,
): Promise<void> {
  if (!storage.acls) return;
  const lists = [...found.map(({ record }) => record), ...replaced.values()].filter((record) => record.acl);
  if (lists.length === 0) return;
  const place = old ?? view.record(parentOf(destination));
  for (const record of [...lists, ...(place ? [place] : [])])
    if (!(await storage.authorizer.allows({ view, access, mode: 'control', iri: record.iri, record })))
      throw new LwsError(
        'forbidden',
        'Access control lists would be moved or replaced, which needs control of their resources and of the Destination. Nothing was moved.',
        { reason: `${record.iri} refuses control` },
      );
}
