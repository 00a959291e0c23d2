/**
 * MOVE and COPY: gives a resource, or a container with everything below it, another name, in one transaction (RFC 4918 9.8, 9.9;
 * rules 6.23 to 6.27). Graphs that are too large for it are written before, invisible until it commits (`StagedGraphs`).
 */
import { attribute } from '../authorization/audit.js';
import { inTurn, type Pause } from '../authorization/decision-turns.js';
import { requireAccess } from '../authorization/guard.js';
import type { Access } from '../authorization/principal.js';
import { LwsError, tooBusy } from '../errors.js';
import { isLargeGraph } from '../storage/graphs/graph-lines.js';
import { allOf, type GraphKeys, type PackedKeys } from '../storage/keys/graph-keys.js';
import { isContainerIri, parentOf, type ResourceRecord } from '../storage/keys/records.js';
import { CommitInDoubtError } from '../storage/level/commit-in-doubt.js';
import { quotaExceeded } from '../storage/level/quota.js';
import { yieldToEventLoop } from '../storage/transactions/batch-filling.js';
import { roomFor } from './body.js';
import { stageDeleted } from './delete.js';
import { assertListsMovable, stageArrival, stageLeaving } from './move-staging.js';
import { type MoveRequest, type Moving, type Placed, place, rewritingOf } from './moved-content.js';
import { counterpart, longestPath } from './names.js';
import { RevisionConflict, retryOnConflict } from './optimistic-retry.js';
import { stageParents } from './parents.js';
import { assertPreconditions } from './preconditions.js';
import { requireTarget } from './replace.js';
import { stateOf } from './seen-state.js';
import type { Storage } from './storage.js';
import { type IsPart, mayDelete, subtreeOf, type Tree } from './subtree.js';
import { assertUnreserved, nameTaken, type Staging, stageMembership, type WriteResult } from './write.js';

/** Maximum number of resources. All other transactions wait for this one: for 20 000 resources about three seconds on a slow core. */
const maxResources = 25_000;

/** Maximum number of triples, and of characters of their keys, that the transaction writes. It holds them in memory. */
const [maxTriples, maxCharacters] = [100_000, 64 << 20];

/** Maximum number of triples of one request, and maximum memory in bytes for the keys of all requests in progress. */
const [maxMoved, maxBytes] = [5_000_000, 256 << 20];

/** With more triples or characters of keys, all graphs are written before the transaction, otherwise only large ones. */
const [fewTriples, fewCharacters] = [50_000, 16 << 20];

/** Triples that are written before the transaction in one turn. */
const triplesAtATime = 20_000;

/** Maximum number and size in bytes of resources that are made in the transaction. */
const [maxLate, maxLateBytes] = [100, 64 << 10];

/** Resources between two turns of the event loop, so that reads do not wait. */
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
      return await retryOnConflict(() => attempt(preparation, moving, pause));
    } catch (error) {
      // Blobs of a commit in doubt may be stored.
      const isInDoubt = preparation.isCommitting && error instanceof CommitInDoubtError;
      preparation.staged = isInDoubt ? undefined : new Set();
      throw error;
    } finally {
      await preparation.discard();
    }
  };
  // Decides on every member, or holds a large graph in memory.
  return source.kind === 'container' || isLargeGraph(source.triples ?? 0)
    ? inTurn(storage, request.access, work)
    : work();
}

async function attempt(preparation: Preparation, request: Moving, pause?: Pause): Promise<WriteResult> {
  const { storage } = preparation;
  const { store } = storage;
  preparation.isCommitting = false;
  const { source, old } = await admit(storage, store, request);
  // Checked before anything is written, so that no response depends on resources that the caller cannot see.
  const replaced = old ? await overwritten({ storage, view: store }, request.access, old) : new Map();
  let freed = 0;
  for (const { size } of replaced.values()) freed += size;
  preparation.room = request.copies ? roomFor(storage, freed) : Number.POSITIVE_INFINITY;
  const found: ResourceRecord[] = [];
  for await (const record of sources({ storage, view: store }, request, source)) found.push(record);
  await preparation.forgetOthers(new Set(found.map(({ iri }) => iri)));
  return store.withGraphs([...found, ...replaced.values()], async () => {
    for (const record of found) await preparation.of(record);
    await preparation.writeAhead(pause);
    preparation.isCommitting = true;
    return store.transact((tx) => stage({ storage, tx }, request, preparation));
  });
}

/** @throws LwsError `interaction-model-conflict`, `conflict`, `reserved-name`, `root-not-deletable` */
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

/**
 * Checks the rights at both names (rule 6.24), and the conditions.
 * @returns the source, and the resource that would be overwritten
 */
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

/** Limits a walk. @throws LwsError `too-complex` */
async function* bounded(records: AsyncIterable<ResourceRecord>, most: number): AsyncGenerator<ResourceRecord> {
  let [resources, triples] = [0, 0];
  for await (const record of paced(records)) {
    resources++;
    triples += record.triples ?? 0;
    if (resources > maxResources || triples > most) throw tooMany();
    yield record;
  }
}

const tooMany = (): LwsError =>
  new LwsError(
    'too-complex',
    `One request moves or copies at most ${maxResources} resources with ${maxMoved} triples, and replaces at most ${maxTriples} triples. The limits are fixed. Delete what is replaced, or create the Destination and move the members one by one.`,
  );

/** Yields what is moved: all of the source, of which nothing may be protected. A copy contains what the caller may read (rule 6.24). */
function sources(
  { storage, view }: { readonly storage: Storage; readonly view: Tree },
  { access, copies, isDeep }: MoveRequest,
  source: ResourceRecord,
): AsyncGenerator<ResourceRecord> {
  const canDelete = mayDelete(storage, view, access);
  const isPart: IsPart = async (member, container) => {
    const canRead = await storage.authorizer.allows({ view, access, mode: 'read', iri: member.iri, record: member });
    if (copies || (canRead && (await canDelete(member, container)))) return canRead;
    // Names no resource: the caller may not be allowed to know of it.
    throw new LwsError('forbidden', 'You are not allowed to move everything in this container. Nothing was moved.', {
      reason: `${member.iri} refuses read or delete`,
    });
  };
  return bounded(subtreeOf(view, isDeep ? source : { ...source, members: 0 }, isPart), maxMoved);
}

/** True if graphs have at most some triples and characters of keys. */
function fits(
  graphs: readonly { readonly keys: PackedKeys }[],
  most: readonly [triples: number, characters: number],
): boolean {
  let [triples, characters] = [0, 0];
  for (const { keys } of graphs) [triples, characters] = [triples + keys.length, characters + keys.characters];
  return triples <= most[0] && characters <= most[1];
}

/** Bytes of the keys of all requests in progress. */
let bytesInUse = 0;

/** Content for the new names. Made outside of transactions, and kept when an attempt is repeated. */
class Preparation {
  /** Bytes left in the quota. */
  room = 0;
  /** Sources of what the last transaction staged. Absent: it may be any of them. */
  staged: ReadonlySet<string> | undefined;
  /** True from the beginning of the transaction. Before it, only graphs that are written ahead can be in doubt. */
  isCommitting = false;
  private readonly made = new Map<string, Placed>();
  /** Graphs that are written at their new names, by the IRI of the source. */
  private readonly ahead = new Map<string, { readonly iri: string; readonly keys: GraphKeys }>();
  private bytes = 0;
  private bytesOfKeys = 0;

  constructor(
    readonly storage: Storage,
    private readonly request: Moving,
  ) {}

  has({ iri, kind, revision }: ResourceRecord): boolean {
    const known = this.made.get(iri);
    return known !== undefined && (kind === 'container' || known.record.revision === revision);
  }

  /** @throws LwsError `quota-exceeded`, `iri-too-long`, `too-complex`, RevisionConflict */
  async of(record: ResourceRecord): Promise<Placed> {
    const { storage, request, made } = this;
    const known = made.get(record.iri);
    if (known && this.has(record)) return { ...known, record };
    const iri = request.destination + record.iri.slice(request.iri.length);
    if (iri.length - storage.rootIri.length >= longestPath)
      throw new LwsError('iri-too-long', `A new path exceeds the limit of ${longestPath} characters.`);
    await this.forget(record.iri);
    if (this.bytes + record.size > this.room) throw quotaExceeded();
    const placed = await place(storage, request, { record, iri });
    this.bytes += record.size;
    made.set(record.iri, placed);
    this.use(placed.graph?.keys.bytes ?? 0);
    return placed;
  }

  /** True if the graph of a source is written at its new name. */
  isAhead(iri: string): boolean {
    return this.ahead.has(iri);
  }

  /**
   * Writes large graphs at their new names, and all others if they are many. Nobody sees them before the transaction commits.
   * Those that replace graphs are written by the transaction.
   * @throws LwsError `too-complex` if that would write too much
   */
  async writeAhead(pause: Pause = async () => {}): Promise<void> {
    const { store } = this.storage;
    const rest = [...this.made].flatMap(([from, { iri, graph }]) =>
      graph && graph.keys.length > 0 && !this.ahead.has(from) ? [{ from, iri, keys: graph.keys }] : [],
    );
    const areMany = !fits(rest, [fewTriples, fewCharacters]);
    const chosen = rest.filter(({ keys }) => areMany || isLargeGraph(keys.length));
    // In one order, so that two requests with the same Destination do not wait for each other.
    chosen.sort((a, b) => (a.iri < b.iri ? -1 : 1));
    for (let at = 0; at < chosen.length; ) {
      const turn: typeof chosen = [];
      for (let triples = 0; at < chosen.length && triples < triplesAtATime; at++) {
        turn.push(chosen[at]!);
        triples += chosen[at]!.keys.length;
      }
      const written = await store.loadGraphs(new Map(turn.map(({ iri, keys }) => [iri, keys])));
      for (const { from, iri, keys } of turn) if (written.has(iri)) this.ahead.set(from, { iri, keys });
      await pause();
    }
    const left = rest.filter(({ from }) => !this.ahead.has(from));
    if (!fits(left, [maxTriples, maxCharacters])) throw tooMany();
    // If thousands of graphs with these names are being removed, the transaction would run again for each.
    for (const { iri } of left) {
      await store.nameFree(iri);
      await pause();
    }
  }

  /** Discards the content of sources that no longer exist. */
  async forgetOthers(existing: ReadonlySet<string>): Promise<void> {
    for (const iri of [...this.made.keys()]) if (!existing.has(iri)) await this.forget(iri);
  }

  private async forget(iri: string): Promise<void> {
    const known = this.made.get(iri);
    if (!known) return;
    this.bytes -= known.record.size;
    this.use(-(known.graph?.keys.bytes ?? 0));
    this.made.delete(iri);
    this.dropAhead(iri);
    await known.blob?.abort();
  }

  /** @throws LwsError `too-complex`, `too-busy` */
  private use(bytes: number): void {
    this.bytesOfKeys += bytes;
    bytesInUse += bytes;
    if (this.bytesOfKeys > maxBytes) throw tooMany();
    if (bytes > 0 && bytesInUse > maxBytes)
      throw tooBusy('Other requests move or copy many triples. Retry in a few seconds.', 5);
  }

  private dropAhead(from: string): void {
    const written = this.ahead.get(from);
    if (written) this.storage.store.dropLoaded(written.iri, written.keys);
    this.ahead.delete(from);
  }

  /** Removes copies of blobs that are not stored, and graphs that are not published: of those in doubt, only if they are not. */
  async discard(): Promise<void> {
    for (const [iri, { blob }] of this.made) if (this.staged?.has(iri) === false) await blob?.abort();
    for (const from of [...this.ahead.keys()]) if (!this.staged?.has(from)) this.dropAhead(from);
    this.use(-this.bytesOfKeys);
  }
}

/** Stages everything. @throws RevisionConflict if the source is not as prepared */
async function stage(staging: Staging, request: Moving, preparation: Preparation): Promise<WriteResult> {
  const { storage, tx } = staging;
  const { iri, destination, access, copies } = request;
  attribute(tx, access);
  const { source, old } = await admit(storage, tx, request);
  const found: Placed[] = [];
  let late = 0;
  for await (const record of sources({ storage, view: tx }, request, source)) {
    // Another client wrote it since. A few are prepared here, because with many resources every attempt meets such writes.
    const isLate = !preparation.has(record);
    if (isLate && (preparation.isAhead(record.iri) || record.size > maxLateBytes || ++late > maxLate))
      throw new RevisionConflict(iri);
    found.push(await preparation.of(record));
  }
  preparation.staged = new Set(found.map(({ record }) => record.iri));
  const replaced = old ? await overwritten({ storage, view: tx }, access, old) : new Map<string, ResourceRecord>();
  if (!copies) await assertListsMovable(staging, request, { found, replaced, old });
  stageParents(storage, tx, { iri: destination, access });
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
  if (!copies) {
    // Grants keep the former names of resources in the trash, as after a deletion: their assignees must not learn of the trash.
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
  for await (const record of bounded(subtreeOf(view, old, isPart), maxTriples)) found.set(record.iri, record);
  return found;
}
