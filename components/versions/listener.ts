/** Stages the states of resources that a transaction ends. Called when everything else is staged. */
import { aclKey } from '../../lib/authorization/acl.js';
import { ancestorsOf } from '../../lib/authorization/authorizer.js';
import { trashOf } from '../../lib/authorization/trash.js';
import type { Platform } from '../../lib/component/contract.js';
import { changesLinks, linksKey } from '../../lib/resources/metadata.js';
import { DamagedGraphError } from '../../lib/storage/graphs/graph-digests.js';
import { isLargeGraph } from '../../lib/storage/graphs/graph-lines.js';
import {
  actorOfMark,
  hiddenRange,
  isSubtree,
  positionOfMark,
  stagedKey,
  subtreeMark,
} from '../../lib/storage/graphs/staged-keys.js';
import { shortVersions } from '../../lib/storage/keys/features.js';
import type { KeyDifference } from '../../lib/storage/keys/graph-changes.js';
import { type KeptBlob, keptBlobKey, readKeptBlob } from '../../lib/storage/keys/kept-blobs.js';
import { type ResourceRecord, removedKey } from '../../lib/storage/keys/records.js';
import { quotaExceeded } from '../../lib/storage/level/quota.js';
import type { Transaction } from '../../lib/storage/transactions/transaction.js';
import { getOrMake } from '../../lib/tools/collections.js';
import { yieldToEventLoop } from '../../lib/tools/event-loop.js';
import { noteList } from './access-dates.js';
import {
  changedKey,
  createdMark,
  dataKey,
  type EndedState,
  type Head,
  headIn,
  headKey,
  type KeptTriples,
  noLinks,
  openKey,
  packAhead,
  packedPieces,
  positionOf,
  readVersion,
  shortList,
  sinceKey,
  versionKey,
  versionsBetween,
  writeVersion,
} from './entries.js';
import { noteSettings } from './permissions.js';
import { noteLinks, type Switches } from './switches.js';

/** Limits between two versions with all triples: count of differences, and changed triples per triple of the graph. */
const [maxDeltas, maxChanged] = [32, 4];
/** For large graphs, seldom stored completely: count of differences, and of changed triples that readers load. */
const [maxDeltasOfLarge, maxChangedOfLarge] = [1_000, 50_000];

/** Maximum number of heads in memory. */
const maxHeads = 1_000;

/** Maximum number of names in an entry, so that the entry has at most 1 MiB. */
const namesAtATime = 250;

/** Count of resources, triples to pack, and pieces to erase, after which control returns to the event loop. */
const [resourcesAtATime, triplesAtATime, piecesAtATime] = [100, 2_000, 10];

type Listening = Pick<Platform, 'store' | 'rootIri' | 'storage' | 'authorizer'>;

/** Returns the listener. If versions of a resource are off, its next change ends the history, to prevent a gap. */
export function versionListener(platform: Listening, switches: Switches): (tx: Transaction) => Promise<void> {
  const { store, storage, rootIri } = platform;
  const trash = trashOf(rootIri);
  const heads = new Heads(store);
  return async (tx) => {
    if (tx.isEmpty) return;
    const position = (): number => {
      store.changes.number(tx);
      return tx.position || store.changes.mark();
    };
    noteLinks(tx, rootIri, position);
    if (!switches.isUsed(tx)) return;
    await keepRemoved(tx);
    noteAccess(tx, position(), platform);
    const names = new Set(tx.changes.map(({ before, after }) => (after ?? before)!.iri));
    noteSubtrees(tx, position);
    let hasEnded = false;
    const changed = new Map<number, string[]>();
    let count = 0;
    for (const iri of names) {
      if (iri.startsWith(trash)) continue;
      if (++count % resourcesAtATime === 0) await yieldToEventLoop();
      const [isOn, wasOn] = [switches.isOn(iri, tx), switches.isOn(iri, tx.before)];
      const end = endOf(tx, iri);
      const done = await stage({ tx, heads, rootIri, isOn, wasOn, end }, iri);
      hasEnded ||= done === 'ended';
      if (!done) continue;
      if (!changed.has(end)) changed.set(end, []);
      changed.get(end)!.push(done === 'ended' ? iri : createdMark + iri);
    }
    for (const [end, list] of changed) putChanged(tx, end, list);
    const { quotaBytes } = storage.limits;
    const isWrite = tx.changes.some(({ after }) => after);
    if (hasEnded && isWrite && quotaBytes > 0 && tx.bytes > quotaBytes && tx.bytes > tx.before.bytes)
      throw quotaExceeded();
  };
}

/**
 * Returns a listener that packs the graphs of deleted resources. For a transaction that changes many resources, it runs before
 * the transaction (`TransactOptions.ahead`), because all other transactions wait while a transaction runs.
 */
export function packingListener(switches: Switches): (tx: Transaction) => Promise<void> {
  return async (tx) => {
    if (!switches.isUsed(tx)) return;
    let triples = 0;
    for (const [iri, { before, keys, isPart }] of tx.graphs) {
      if (!before?.length || keys || isPart || !switches.isOn(iri, tx.before)) continue;
      packAhead(before);
      triples += before.length;
      if (triples < triplesAtATime) continue;
      await yieldToEventLoop();
      triples = 0;
    }
  };
}

/** Records the names of resources whose states a transaction ended or began at a position. */
function putChanged(tx: Transaction, end: number, names: readonly string[]): void {
  // Slices of a deleted subtree end states at the same position.
  const first = end === tx.position ? 0 : tx.position;
  for (let at = 0; at < names.length; at += namesAtATime)
    tx.putEntry(changedKey(end, first + at / namesAtATime), JSON.stringify(names.slice(at, at + namesAtATime)));
}

/** Adds the position to the marks of deleted subtrees. States in a subtree end at this position, not when they are removed. */
function noteSubtrees(tx: Transaction, position: () => number): void {
  const marks: (readonly [key: string, mark: string])[] = [];
  for (const [key, mark] of tx.entries)
    if (mark !== null && isSubtree(key) && key.startsWith(hiddenRange.gte)) marks.push([key, mark]);
  for (const [key, mark] of marks) tx.putEntry(key, subtreeMark(actorOfMark(mark), position()));
}

/** Returns the position at which a transaction ends a state. In a deleted subtree, it is the position of the deletion. */
function endOf(tx: Transaction, iri: string): number {
  const { removedSubtrees } = tx.before;
  if (removedSubtrees.length === 0 || tx.entries.get(removedKey(iri)) !== null) return tx.position;
  const marks = removedSubtrees
    .filter((container) => iri.startsWith(container))
    .map((name) => tx.entry(stagedKey(name)));
  return Math.min(tx.position, ...marks.map((mark) => positionOfMark(mark ?? ''))) || tx.position;
}

/** Records the positions since which ACLs and settings apply, because these do not give access to earlier versions. */
function noteAccess(tx: Transaction, position: number, platform: Listening): void {
  const prefix = aclKey('');
  const changed: string[] = [];
  for (const key of tx.entries.keys()) if (key.startsWith(prefix)) changed.push(key);
  for (const key of changed) noteList(platform, tx, key.slice(prefix.length), position);
  noteSettings(tx, position, platform);
}

interface KnownHead {
  readonly head: Head;
  readonly linked: number | undefined;
}

/**
 * Cache of the heads that were written last. An entry is valid for one state of the resource and its links. It is added on
 * commit, because a failed write of links can have the same date as a later one.
 */
class Heads {
  private readonly last = new Map<string, KnownHead>();
  private readonly staged = new WeakMap<Transaction, Map<string, KnownHead>>();

  constructor(store: Listening['store']) {
    store.onCommit((tx) => {
      for (const [iri, known] of this.staged.get(tx) ?? []) {
        if (this.last.size >= maxHeads) this.last.clear();
        this.last.set(iri, known);
      }
    });
  }

  of(tx: Transaction, iri: string, before: ResourceRecord | undefined): Head | undefined {
    const known = this.last.get(iri);
    const isKnown = known !== undefined && known.head.revision === before?.revision && known.linked === before.linked;
    return isKnown ? known.head : headIn(tx.entry(headKey(iri)));
  }

  put(tx: Transaction, { iri, linked }: ResourceRecord, head: Head): void {
    tx.putEntry(headKey(iri), JSON.stringify(head));
    getOrMake(this.staged, tx, () => new Map<string, KnownHead>()).set(iri, { head, linked });
  }
}

interface Staging {
  readonly tx: Transaction;
  readonly heads: Heads;
  readonly rootIri: string;
  /** True if states of the resource are kept: after the transaction (`isOn`), and before it (`wasOn`). */
  readonly isOn: boolean;
  readonly wasOn?: boolean;
  /** Position of the end of the state. */
  readonly end: number;
}

/** Stages the ended state of a resource and its new head. Returns `undefined` if no state that is kept has ended or begun. */
async function stage(staging: Staging, iri: string): Promise<'ended' | 'created' | undefined> {
  const { tx, isOn, wasOn, end } = staging;
  const [before, after] = [tx.before.record(iri), tx.record(iri)];
  const isSame = before?.revision === after?.revision;
  if ((before ?? after)?.kind === 'container' || (isSame && !changesLinks(tx, iri))) return undefined;
  const found = staging.heads.of(tx, iri, before);
  const head = found?.revision === before?.revision ? found : undefined;
  // The link that switches versions on belongs to the first state that is kept.
  const isEnding = before !== undefined && ((isOn && !isSame) || wasOn || head !== undefined);
  if (isSame && !isEnding) return undefined;
  const state = isEnding ? (head ?? (await unknownHead(staging, before))) : undefined;
  const graph = isEnding && before.kind === 'rdf' ? await graphOf(staging, [before, after], state!) : undefined;
  if (isEnding) await stageVersion(tx, before, { after, state: state!, graph, end });
  if (after && isOn) {
    const delta = graph && graph !== 'removed' && 'added' in graph ? graph : undefined;
    staging.heads.put(tx, after, {
      revision: after.revision,
      began: tx.position,
      first: state?.first ?? tx.position,
      deltas: delta ? state!.deltas + 1 : 0,
      changed: delta ? changedBy(delta, state!) : 0,
      actor: tx.actor,
    });
  } else if (found) tx.deleteEntry(headKey(iri));
  return isEnding ? 'ended' : after && isOn ? 'created' : undefined;
}

type BeganState = Head & Pick<EndedState, 'named'>;

/** Returns the head of a state that began before versions were kept. It does not continue older versions. */
async function unknownHead({ tx, rootIri }: Staging, { iri, revision, modified }: ResourceRecord): Promise<BeganState> {
  let last = 0;
  for (const key of (await tx.entriesIn(versionsBetween(iri, 0))).keys()) last = Math.max(last, Number(key.slice(-16)));
  const began = Math.max(positionOf(modified), last + 1);
  // While versions are kept, a MOVE to the name is recorded. So the resource has had its name since then.
  const since = [iri, ...ancestorsOf(iri, rootIri), ''].map((at) =>
    Number(tx.before.entry(sinceKey(at)) ?? tx.position),
  );
  return { revision, began, named: Math.min(...since), first: last > 0 ? tx.position : began, deltas: 0 };
}

const changedBy = ({ added, removed }: KeyDifference, { changed = 0 }: Head): number =>
  changed + added.length + removed.length;

/** Returns the triples to store, none for a damaged graph. `removed`: later transactions store those of a dropped graph. */
async function graphOf(
  { tx, isOn }: Staging,
  [before, after]: readonly [ResourceRecord, ResourceRecord | undefined],
  head: Head,
): Promise<KeptTriples | 'removed' | undefined> {
  const { iri, triples = 0 } = before;
  const change = tx.graphs.get(iri);
  const isLarge = isLargeGraph(triples) || isLargeGraph(after?.triples ?? 0);
  const [most, mostChanged] = isLarge ? [maxDeltasOfLarge, maxChangedOfLarge] : [maxDeltas, maxChanged * triples];
  const isNear = isOn && after?.kind === 'rdf' && head.deltas < most;
  const back = { added: change?.removed ?? [], removed: change?.added ?? [] };
  const size = back.added.length + back.removed.length;
  if (isNear && (size === 0 || (size < triples && changedBy(back, head) < mostChanged))) return back;
  if (change?.before) return change.before;
  if (change && !change.keys && !change.isPart) return 'removed';
  if (isLargeGraph(triples)) return tx.before.graphBlocks(before, '');
  try {
    return await tx.before.graph(before);
  } catch (error) {
    if (!(error instanceof DamagedGraphError)) throw error;
    return undefined;
  }
}

const delta = { graph: 'delta' } as const;

async function stageVersion(
  tx: Transaction,
  record: ResourceRecord,
  {
    after,
    state: { began, actor, named },
    graph,
    end: ended,
  }: {
    readonly end: number;
    readonly after: ResourceRecord | undefined;
    readonly state: BeganState;
    readonly graph: KeptTriples | 'removed' | undefined;
  },
): Promise<void> {
  const { iri, blob, size, sha256, linked } = record;
  const next = after?.revision;
  const isDelta = graph !== undefined && graph !== 'removed' && 'added' in graph;
  const hasLinks = linked !== undefined && (!isDelta || changesLinks(tx, iri));
  const links = hasLinks ? (tx.before.entry(linksKey(iri)) ?? noLinks) : undefined;
  const short = isDelta ? shortList(graph) : undefined;
  const version = { began, ended, named, actor, next, links, record, short } as const;
  let data: Pick<EndedState, 'graph' | 'pieces' | 'isOpen'> | undefined = short === undefined ? undefined : delta;
  if (short !== undefined) tx.addFeature(shortVersions);
  else if (graph === 'removed') {
    data = { graph: 'whole', pieces: 0, isOpen: true };
    tx.putEntry(openKey(iri), `${ended} 0`);
  } else if (graph) data = { graph: isDelta ? 'delta' : 'whole', pieces: await stageData(tx, version, graph) };
  tx.putEntry(versionKey(iri, ended), writeVersion(Object.assign(version, data)), true);
  if (!blob) return;
  const kept = tx.entry(keptBlobKey(blob));
  const count = (kept === undefined ? 0 : readKeptBlob(kept).count) + 1;
  const isFree = kept !== undefined && readKeptBlob(kept).isFree;
  const flags = isFree ? { isFree } : tx.removedBlobs.has(blob) ? {} : { isShared: true as const };
  // Earlier versions of Quadpod would count the size of a shared blob twice.
  if (flags.isShared) tx.addFeature(shortVersions);
  const value: KeptBlob = { count, size, sha256: sha256!, ...flags };
  tx.putEntry(keptBlobKey(blob), JSON.stringify(value));
}

/** Stages triples of a version, after its existing pieces. @returns the count of all pieces */
export async function stageData(
  tx: Transaction,
  { record: { iri }, ended }: EndedState,
  graph: KeptTriples,
  pieces = 0,
): Promise<number> {
  let count = pieces;
  for await (const piece of packedPieces(graph)) tx.putEntry(dataKey(iri, ended, count++), piece, true);
  return count;
}

/** Stages the triples that a transaction removes from dropped graphs, as triples of their versions. */
async function keepRemoved(tx: Transaction): Promise<void> {
  const ended: string[] = [];
  for (const iri of tx.graphs.keys()) if (tx.entries.get(stagedKey(iri)) === null) ended.push(iri);
  if (ended.length === 0 && tx.hidden.size === 0) return;
  for (const iri of new Set([...tx.hidden.keys(), ...ended])) {
    const open = tx.entry(openKey(iri));
    const key = open && versionKey(iri, Number.parseInt(open, 10));
    const value = key && tx.entry(key);
    if (!value) continue;
    const { isOpen: _, pieces: first = 0, ...version } = readVersion(key, value);
    const removed = tx.hidden.get(iri)?.removed ?? [];
    const pieces = removed.length > 0 ? await stageData(tx, version, removed, first) : first;
    const isEnd = ended.includes(iri);
    tx.putEntry(key, writeVersion({ ...version, ...{ pieces }, ...(isEnd ? {} : { isOpen: true }) }));
    if (isEnd) tx.deleteEntry(openKey(iri));
    else tx.putEntry(openKey(iri), `${version.ended} ${pieces}`);
  }
}

/** Stages the removal of a version, of its triples, and of its blob if nothing else refers to it. */
export async function stageErasure(tx: Transaction, iri: string, ended: number): Promise<void> {
  const value = tx.entry(versionKey(iri, ended));
  if (value === undefined) return;
  const version = readVersion(versionKey(iri, ended), value);
  tx.deleteEntry(versionKey(iri, ended));
  await stageDataErasure(tx, version);
  const { blob } = version.record;
  const kept = blob && tx.entry(keptBlobKey(blob));
  if (!kept) return;
  const { count, ...rest } = readKeptBlob(kept);
  if (count > 1) tx.putEntry(keptBlobKey(blob), JSON.stringify({ count: count - 1, ...rest }));
  else tx.deleteEntry(keptBlobKey(blob));
}

/** Stages the removal of the triples of a version. */
export async function stageDataErasure(
  tx: Transaction,
  { record: { iri }, ended, pieces = 0, isOpen }: EndedState,
): Promise<void> {
  for (let piece = 0; piece < pieces; piece++) {
    // Yield, because each deletion reads the piece to subtract its size from the quota.
    if (piece % piecesAtATime === piecesAtATime - 1) await yieldToEventLoop();
    tx.deleteEntry(dataKey(iri, ended, piece));
  }
  if (isOpen) tx.deleteEntry(openKey(iri));
}
