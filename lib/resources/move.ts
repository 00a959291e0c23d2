/**
 * MOVE and COPY: gives a resource, or a container with all descendants, a new name in one transaction (RFC 4918
 * 9.8, 9.9; rules 6.23 to 6.27). Graphs that are too large for the transaction are written before it, invisible
 * until it commits (`StagedGraphs`).
 */
import { attribute } from '../authorization/audit.js';
import type { View } from '../authorization/authorizer.js';
import { inTurn, type Pause } from '../authorization/decision-turns.js';
import { requireAccess } from '../authorization/guard.js';
import type { Access } from '../authorization/principal.js';
import { isLargeGraph } from '../storage/graphs/graph-lines.js';
import { allOf } from '../storage/keys/graph-keys.js';
import { isContainerIri, parentOf, type ResourceRecord } from '../storage/keys/records.js';
import { CommitInDoubtError } from '../storage/level/commit-in-doubt.js';
import { Again } from '../storage/transactions/again.js';
import type { Prepare } from '../storage/transactions/commit-queue.js';
import type { Ahead } from '../storage/transactions/staging-ahead.js';
import { Transaction } from '../storage/transactions/transaction.js';
import { LwsError } from '../tools/errors.js';
import { yieldToEventLoop } from '../tools/event-loop.js';
import { roomFor } from './body.js';
import { isLongFor, stageDeleted } from './delete.js';
import { maxMoved, maxResources, maxStaged, Preparation, tooManyMoved } from './move-preparation.js';
import { assertListsMovable, stageArrival, stageLeaving } from './move-staging.js';
import { type MoveRequest, type Moving, type Placed, rewritingOf } from './moved-content.js';
import { counterpart } from './names.js';
import { stageParents } from './parents.js';
import { assertPreconditions } from './preconditions.js';
import { requireTarget } from './replace.js';
import { stateOf } from './seen-state.js';
import type { Storage } from './storage.js';
import { type IsPart, mayDelete, subtreeOf, type Tree } from './subtree.js';
import { assertUnreserved, nameTaken, type Staging, stageMembership, type WriteResult } from './write.js';

/** Maximum count of resources that are prepared inside the transaction, and maximum size of each, in bytes. */
const [maxLate, maxLateBytes] = [100, 64 << 10];

/** Count of resources that are processed before yielding to the event loop, so that reads do not wait. */
const resourcesAtATime = 250;

async function* paced<T>(items: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T> {
  let count = 0;
  for await (const item of items) {
    if (++count % resourcesAtATime === 0) await yieldToEventLoop();
    yield item;
  }
}

/**
 * Moves or copies a resource.
 * @throws LwsError as DELETE and GET for the source, as PUT for the destination; `conflict` if one contains the other,
 * `precondition-failed` if the destination exists and must not be overwritten, `forbidden` if a member may not be moved,
 * `too-complex` for too many resources or triples
 */
export async function move(storage: Storage, request: MoveRequest): Promise<WriteResult> {
  assertNames(storage, request);
  const { source } = await admit(storage, storage.store, request);
  const moving = { ...request, rewriting: rewritingOf(request) };
  const preparation = new Preparation(storage, moving);
  const work = async (pause?: Pause): Promise<WriteResult> => {
    try {
      return await transactMove(preparation, moving, pause);
    } catch (error) {
      // If the commit is in doubt, the copied blobs may be referenced. Keep them.
      const isInDoubt = preparation.isCommitting && error instanceof CommitInDoubtError;
      preparation.staged = isInDoubt ? undefined : new Set();
      throw error;
    } finally {
      await preparation.discard();
    }
  };
  // A container needs a decision for each member, and a large graph needs much memory: such requests are queued.
  return source.kind === 'container' || isLargeGraph(source.triples ?? 0)
    ? inTurn(storage, request.access, work)
    : work();
}

async function transactMove(preparation: Preparation, request: Moving, pause?: Pause): Promise<WriteResult> {
  const { storage } = preparation;
  const { store } = storage;
  let staged: Staged | undefined;
  const stageAhead = async (tx: Transaction): Promise<void> => {
    staged = await stageTree({ storage, tx }, request, preparation);
  };
  const options: { ahead?: Ahead | undefined; readonly prepare: Prepare<void> } = {
    prepare: async (after) => {
      preparation.isCommitting = false;
      const { source, old } = await admit(storage, store, request);
      // Check this first, so that the later responses do not depend on resources that the caller cannot see.
      const replaced = old ? await overwritten({ storage, view: store }, request.access, old) : new Map();
      let freed = 0;
      for (const { size } of replaced.values()) freed += size;
      preparation.room = request.copies ? roomFor(storage, freed) : Number.POSITIVE_INFINITY;
      const found: ResourceRecord[] = [];
      for await (const record of sources({ storage, view: store }, request, source)) found.push(record);
      await preparation.forgetOthers(new Set(found.map(({ iri }) => iri)));
      await store.readAhead([...found, ...replaced.values()])(after);
      for await (const record of paced(found)) await preparation.of(record);
      await preparation.writeAhead(pause);
      preparation.isCommitting = true;
      // If parents are missing, nothing is staged in advance: the transaction creates the parents and stages everything.
      const isAhead = !old && store.record(parentOf(request.destination)) && isLongFor(storage, source, found);
      options.ahead = isAhead ? { containers: [request.iri, request.destination], stage: stageAhead } : undefined;
    },
  };
  const work = (tx: Transaction): Promise<WriteResult> =>
    options.ahead ? completeAhead({ storage, tx }, request, staged!) : stage({ storage, tx }, request, preparation);
  return store.transact(work, options);
}

/** Checks the two names. @throws LwsError `interaction-model-conflict`, `conflict`, `reserved-name`, `root-not-deletable` */
function assertNames(storage: Storage, { iri, destination, copies, replacesOtherKind }: MoveRequest): void {
  if (isContainerIri(iri) !== isContainerIri(destination))
    throw new LwsError(
      'interaction-model-conflict',
      'The Destination of a container must end in a slash, and that of another resource must not.',
    );
  if (iri === storage.rootIri && !copies)
    throw new LwsError('root-not-deletable', 'The root container cannot be moved.');
  const contains = (outer: string, inner: string): boolean =>
    outer === inner || (isContainerIri(outer) && inner.startsWith(outer));
  const isReplaced = (name: string): boolean =>
    contains(name, iri) && (name === destination || replacesOtherKind === true);
  if (contains(iri, destination) || [destination, counterpart(destination)].some(isReplaced))
    throw new LwsError('conflict', 'The source and the Destination must not be the same, or contain each other.');
  assertUnreserved(storage, destination);
}

/** Checks permissions at both names (rule 6.24), and preconditions. @returns the source, and the resource to overwrite */
async function admit(
  storage: Storage,
  view: Tree,
  request: MoveRequest,
): Promise<{ readonly source: ResourceRecord; readonly old: ResourceRecord | undefined }> {
  const { iri, destination, access, copies, preconditions, overwrites = !storage.requireConditionalWrites } = request;
  const source = await requireAccess(storage, view, access, 'read', iri);
  if (!copies) {
    await requireAccess(storage, view, access, 'delete', iri);
    if (storage.profile?.deletesFromContainers) await requireAccess(storage, view, access, 'write', parentOf(iri));
  }
  const same = await requireTarget(storage, view, { iri: destination, access });
  const other = same ? undefined : view.record(counterpart(destination));
  if (other && !request.replacesOtherKind) throw nameTaken();
  if (other) await requireAccess(storage, view, access, 'write', other.iri);
  const old = same ?? other;
  if (old) await requireAccess(storage, view, access, 'delete', old.iri);
  if (old && storage.profile?.deletesFromContainers)
    await requireAccess(storage, view, access, 'write', parentOf(destination));
  if (old && !overwrites)
    throw new LwsError('precondition-failed', 'The Destination exists. Send "Overwrite: T" to replace it.');
  const seen = await stateOf(storage, view, access, source);
  assertPreconditions(preconditions, seen, seen.state);
  return { source, old };
}

/** Yields the records up to the limits of a request. @throws LwsError `too-complex` */
async function* bounded(records: AsyncIterable<ResourceRecord>, most: number): AsyncGenerator<ResourceRecord> {
  let [resources, triples] = [0, 0];
  for await (const record of paced(records)) {
    resources++;
    triples += record.triples ?? 0;
    if (resources > maxResources || triples > most) throw tooManyMoved();
    yield record;
  }
}

/** Yields the resources to move, or throws. A copy includes only the resources that the caller can read (rule 6.24). */
function sources(
  { storage, view }: { readonly storage: Storage; readonly view: Tree },
  request: MoveRequest,
  source: ResourceRecord,
): AsyncGenerator<ResourceRecord> {
  const root = request.isDeep ? source : { ...source, members: 0 };
  return bounded(subtreeOf(view, root, mayTake(storage, view, request)), maxMoved);
}

/** Returns a function that decides if a member is moved or copied. The function throws for a member that must not be moved. */
function mayTake(storage: Storage, view: View, { access, copies }: MoveRequest): IsPart {
  const canDelete = mayDelete(storage, view, access);
  return async (member, container) => {
    const canRead = await storage.authorizer.allows({ view, access, mode: 'read', iri: member.iri, record: member });
    if (copies || (canRead && (await canDelete(member, container)))) return canRead;
    // The message names no resource, because the caller may not be allowed to know of the member.
    throw new LwsError('forbidden', 'You are not allowed to move everything in this container. Nothing was moved.', {
      reason: `${member.iri} refuses read or delete`,
    });
  };
}

/** Resources that a transaction has staged at the new names. */
interface Staged {
  readonly source: ResourceRecord;
  readonly old: ResourceRecord | undefined;
  readonly found: readonly Placed[];
  /** Owner of the container at the destination, which copies may inherit. */
  readonly owner: string | undefined;
}

/** Stages the complete request. @throws Again if the source differs from the prepared one */
async function stage(staging: Staging, request: Moving, preparation: Preparation): Promise<WriteResult> {
  return complete(staging, request, await stageTree(staging, request, preparation));
}

/**
 * Completes a transaction whose subtree was staged before it. Repeats the checks, because other transactions may have
 * changed permissions meanwhile.
 * @throws Again, LwsError as `admit` and `sources`
 */
async function completeAhead(staging: Staging, request: Moving, staged: Staged): Promise<WriteResult> {
  const { storage, tx } = staging;
  // A view of the state before the transaction, without the staged subtree.
  const view = new Transaction(tx.before);
  const { source, old } = await admit(storage, view, request);
  const isPart = mayTake(storage, view, request);
  const { found } = staged;
  const containers = new Map(found.map(({ record }) => [record.iri, record]));
  for await (const { record } of paced(found.slice(1)))
    if (!(await isPart(record, containers.get(parentOf(record.iri))!))) throw new Again(record.iri);
  const parent = view.record(parentOf(request.destination));
  if (old || !parent || parent.owner !== staged.owner) throw new Again(request.destination);
  if (!request.copies) await assertListsMovable({ storage, view }, request, { found, replaced: new Map(), old });
  return complete(staging, request, { ...staged, source });
}

/** Stages a subtree at its new names, not its parents. @throws Again if the source differs from the prepared one */
async function stageTree(staging: Staging, request: Moving, preparation: Preparation): Promise<Staged> {
  const { storage, tx } = staging;
  const { iri, destination, access, copies } = request;
  attribute(tx, access);
  const { source, old } = await admit(storage, tx, request);
  const found: Placed[] = [];
  let late = 0;
  for await (const record of sources({ storage, view: tx }, request, source)) {
    // Another client wrote the resource since it was prepared. Prepare a few such resources here: with many resources, every
    // attempt would find some.
    const isLate = !preparation.has(record);
    if (isLate && (preparation.isAhead(record.iri) || record.size > maxLateBytes || ++late > maxLate))
      throw new Again(iri);
    found.push(await preparation.of(record));
  }
  preparation.staged = new Set(found.map(({ record }) => record.iri));
  const replaced = old ? await overwritten({ storage, view: tx }, access, old) : new Map<string, ResourceRecord>();
  if (!copies) await assertListsMovable({ storage, view: tx }, request, { found, replaced, old });
  stageParents(storage, tx, { iri: destination, access });
  const { owner } = tx.record(parentOf(destination))!;
  if (!copies)
    for await (const { record } of paced(found)) await stageLeaving(tx, record, preparation.isAhead(record.iri));
  const members = new Map<string, number>();
  for (const { record } of found.slice(1))
    members.set(parentOf(record.iri), (members.get(parentOf(record.iri)) ?? 0) + 1);
  const kept = new Set(found.map((each) => each.iri));
  for await (const record of paced(replaced.values())) if (!kept.has(record.iri)) await stageDeleted(tx, record);
  for await (const each of paced(found)) {
    const record =
      each.record.kind === 'container' ? { ...each.record, members: members.get(each.record.iri) ?? 0 } : each.record;
    const keys = each.graph && (preparation.isAhead(record.iri) ? each.graph.keys : allOf(each.graph.keys));
    const graph = keys && { keys, size: each.graph!.size };
    await stageArrival(staging, request, { ...each, record, graph, old: replaced.get(each.iri) });
  }
  return { source, old, found, owner };
}

/** Stages the changes of the containers, and of other documents that name the moved resources. */
function complete(staging: Staging, request: Moving, { source, old }: Staged): WriteResult {
  const { tx } = staging;
  const { destination } = request;
  if (!request.copies) {
    // For a move to the trash, grants keep the old names, as after a deletion: assignees must not learn of the trash.
    if (!request.ownerAfter) tx.moves.push(request.rewriting);
    stageMembership(staging, source, -1);
  }
  stageMembership(staging, { ...source, iri: destination }, old ? 0 : 1);
  return { record: tx.record(destination)!, created: old === undefined };
}

/** Returns the resources that are overwritten, by name. @throws LwsError `forbidden` if one of them may not be deleted */
async function overwritten(
  { storage, view }: { readonly storage: Storage; readonly view: Tree },
  access: Access,
  old: ResourceRecord,
): Promise<Map<string, ResourceRecord>> {
  const found = new Map<string, ResourceRecord>();
  const may = mayDelete(storage, view, access);
  const isPart: IsPart = async (member, container) => {
    if (await may(member, container)) return true;
    throw new LwsError('forbidden', 'You are not allowed to replace everything in the Destination.', {
      reason: `${member.iri} refuses delete`,
    });
  };
  for await (const record of bounded(subtreeOf(view, old, isPart), maxStaged)) found.set(record.iri, record);
  return found;
}
