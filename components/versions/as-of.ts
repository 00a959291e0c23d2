/** Provides earlier states of graphs for queries (rule 27.8), from the snapshot of a query. Query threads load this module. */
import { trashOf } from '../../lib/authorization/trash.js';
import { recordIn } from '../../lib/query/memory/index-data.js';
import type { PastContent, PastContext, ReadPast } from '../../lib/query/past-graphs.js';
import type { KeyDifference } from '../../lib/storage/keys/graph-changes.js';
import { type IriRange, isInRanges, only, subtree, unionOfRanges } from '../../lib/storage/keys/iri-ranges.js';
import { allQuads, sortGraphs } from '../../lib/storage/keys/quad-keys.js';
import {
  entryRange,
  isContainerIri,
  type KeyRange,
  partsOfEntry,
  type ResourceRecord,
  recordKey,
  removedKey,
} from '../../lib/storage/keys/records.js';
import { block, entryBlocks, givenValue, type PageOptions } from '../../lib/storage/level/durable-level.js';
import {
  allSince,
  changedAfter,
  createdMark,
  type EndedState,
  horizonKey,
  msOfPosition,
  readVersion,
  versionKey,
} from './entries.js';
import { History, type HistoryStore } from './history.js';
import { PastGraph, type PastSource } from './past-graph.js';
import { everything } from './permissions.js';

/** Maximum count of quads in changed graphs that a query reads, and of names of changed graphs. */
const [maxQuads, maxNames] = [1_000_000, 500_000];
/** Count of keys that are read together. */
const keysAtATime = 5_000;
/** Count of states that the HTTP thread authorizes at a time. */
const decidedAtOnce = 100;

export const pastGraphs: ReadPast = async (context) => {
  const { position, names, refusal, storage } = context;
  const store = new Snapshot(context);
  if (position < Number(store.entry(horizonKey) ?? 0))
    throw refusal(
      'not-found',
      `Versions of ${dateOf(position)} are deleted (lws.versions.days). Ask for a later date.`,
    );
  if (await isRemoving(context, store))
    throw refusal('too-busy', 'Deleted resources are still being removed. Retry in a few seconds.');
  const kept = await keptSince(store, position);
  const changed = await (names ? statesOf(context, store, names) : statesSince(context, store));
  // Leave out resources that may have had another name at the position.
  for (const [iri, state] of changed) if (state?.named && state.named > position) changed.set(iri, undefined);
  const states = await readableStates(context, store, changed);
  let quads = 0;
  // A change of links ends a state, but the graph is still the present one.
  const same = new Set<string>();
  for (const { record } of states)
    if (store.record(record.iri)?.revision === record.revision) same.add(record.iri);
    else quads += record.triples ?? 0;
  if (quads > maxQuads)
    throw refusal(
      'too-complex',
      `The graphs that have changed since then had ${quads} triples, more than ${maxQuads}. Name the graphs to read, or ask for a later date.`,
    );
  const trash = trashOf(storage);
  // Returns true for linksets and the trash, which are omitted.
  const isOther = (graph: string): boolean => graph.endsWith('.meta') || graph.startsWith(trash);
  const past = states.filter(({ record }) => !same.has(record.iri));
  return {
    others: kept ? undefined : { names: [...changed.keys()].filter((name) => !same.has(name)), isOther },
    graphs: contentOf(context, store, past),
    close: () => store.end(),
    empty: new Set(past.filter(({ record }) => record.triples === 0).map(({ record: { iri } }) => iri)),
    isUnchanged: (graph) =>
      same.has(graph) || (!changed.has(graph) && !isOther(graph) && (!kept || isInRanges(kept, graph))),
  };
};

const dateOf = (position: number): string => new Date(msOfPosition(position)).toUTCString();

interface KeyIterator {
  seek(key: string): void;
  nextv(count: number): Promise<string[]>;
  close(): Promise<void>;
}

/** Reads histories from the snapshot of a query. Opens few iterators: each takes as long as reading a small graph. */
class Snapshot implements HistoryStore, PastSource {
  readonly isInThread = true;
  private iterator: KeyIterator | undefined;
  /** Cache of the records of graphs whose earlier states are returned, because these are read several times. */
  private readonly records = new Map<string, ResourceRecord | undefined>();

  constructor(private readonly context: PastContext) {}

  entry(key: string): string | undefined {
    const { level, snapshot } = this.context;
    return givenValue(level.getSync(key, { snapshot }));
  }

  record(iri: string): ResourceRecord | undefined {
    if (!this.records.has(iri)) this.records.set(iri, recordIn(this.context, iri));
    return this.records.get(iri);
  }

  entries(range: KeyRange, options: PageOptions = {}): AsyncGenerator<[key: string, value: string][]> {
    const { level, snapshot } = this.context;
    return entryBlocks(level, range, { ...options, snapshot });
  }

  async values(keys: readonly string[]): Promise<(string | undefined)[]> {
    return keys.map((key) => this.entry(key));
  }

  /** Yields keys through one iterator, because a seek is faster. With `count`, does not read deleted keys after the graph. */
  async *keys({ gte, lt }: KeyRange, count = Number.POSITIVE_INFINITY): AsyncGenerator<readonly string[]> {
    const { level, snapshot } = this.context;
    this.iterator ??= level.keys({ ...allQuads, snapshot, ...block });
    this.iterator.seek(gte);
    for (let left = count; left > 0; ) {
      const keys = await this.iterator.nextv(Math.min(left, keysAtATime));
      const end = keys.length === 0 || keys.at(-1)! >= lt ? keys.findIndex((key) => key >= lt) : keys.length;
      yield end < 0 ? keys : keys.slice(0, end);
      if (keys.length === 0 || end < keys.length) return;
      left -= keys.length;
    }
  }

  /** Does nothing, because graphs share the iterator. */
  async close(): Promise<void> {}

  async end(): Promise<void> {
    await this.iterator?.close();
  }
}

/** Returns the ranges of resources whose versions have been kept since a position; `undefined` for all resources. */
async function keptSince(store: HistoryStore, position: number): Promise<readonly IriRange[] | undefined> {
  const ranges: IriRange[] = [];
  for await (const block of store.entries(allSince))
    for (const [key, since] of block) {
      const iri = partsOfEntry(key)[1]!;
      if (Number(since) > position) continue;
      if (iri === '') return undefined;
      ranges.push(isContainerIri(iri) ? subtree(iri) : only(iri));
    }
  return unionOfRanges(ranges);
}

/**
 * Returns true if the caller may read deleted resources, and a deleted subtree has resources without a version yet. Other
 * callers do not learn of such a subtree.
 */
async function isRemoving({ names, within, admits }: PastContext, store: Snapshot): Promise<boolean> {
  const range = within !== undefined && isContainerIri(within) ? subtree(within) : undefined;
  const removed: KeyRange = range ? { gte: removedKey(range.from), lt: removedKey(range.to) } : entryRange('removed');
  const wanted = names ?? (within !== undefined && !range ? [within] : undefined);
  let found: string | undefined;
  if (wanted) for (const iri of wanted) if (store.entry(removedKey(iri)) !== undefined) found = iri;
  if (!wanted) for await (const block of store.entries(removed, { limit: 1 })) found = partsOfEntry(block[0]![0])[1]!;
  if (found === undefined) return false;
  const [isController] = await admits([{ iri: found, ended: Number.MAX_SAFE_INTEGER, owner: undefined }]);
  return isController === true;
}

/** Graphs changed since a position, with their states at the position. `undefined`: nonexistent then, or erased. */
type Changed = Map<string, EndedState | undefined>;

async function statesOf({ position }: PastContext, store: HistoryStore, names: Iterable<string>): Promise<Changed> {
  const found = new Map<string, EndedState | undefined>();
  for (const iri of names) {
    const state = await new History(store, iri).at(position, everything, store.record(iri));
    const wasThere = state !== undefined && state.began <= position;
    if (!wasThere) found.set(iri, undefined);
    else if (state.ended !== undefined) found.set(iri, state as EndedState);
  }
  return found;
}

/** Returns the states of all changed graphs: the first change since the position ended the state or created the resource. */
async function statesSince(
  { position, permitted, assertTime, refusal }: PastContext,
  store: HistoryStore,
): Promise<Changed> {
  const found = new Map<string, EndedState | undefined>();
  for await (const block of store.entries(changedAfter(position))) {
    assertTime();
    for (const [key, value] of block) {
      const ended = Number(partsOfEntry(key)[1]);
      for (const name of JSON.parse(value) as string[]) {
        const isNew = name.startsWith(createdMark);
        const iri = isNew ? name.slice(createdMark.length) : name;
        // Skip unreadable resources that still exist: they are excluded by present permissions.
        if (found.has(iri) || (permitted.known(iri) === false && store.entry(recordKey(iri)) !== undefined)) continue;
        const version = isNew ? undefined : store.entry(versionKey(iri, ended));
        const state = version === undefined ? undefined : readVersion(versionKey(iri, ended), version);
        found.set(iri, state && state.began <= position ? state : undefined);
        if (found.size > maxNames)
          throw refusal(
            'too-complex',
            `More than ${maxNames} graphs have changed since then. Name the graphs to read.`,
          );
      }
    }
  }
  return found;
}

async function readableStates(
  { permitted, within, admits, assertTime }: PastContext,
  store: HistoryStore,
  changed: Changed,
): Promise<EndedState[]> {
  const isWithin = (iri: string): boolean =>
    within === undefined || iri === within || (isContainerIri(within) && iri.startsWith(within));
  const asked: EndedState[] = [];
  for (const [iri, state] of changed) if (state?.record.kind === 'rdf' && isWithin(iri)) asked.push(state);
  const found: EndedState[] = [];
  for (let at = 0; at < asked.length; at += decidedAtOnce) {
    assertTime();
    const some = asked.slice(at, at + decidedAtOnce);
    const present = new Set(some.map(({ record: { iri } }) => iri).filter((iri) => store.record(iri)));
    await permitted.resolve([...present]);
    const open = some.filter(({ record: { iri } }) => !present.has(iri) || permitted.known(iri) === true);
    const facts = open.map(({ ended, record: { iri, owner } }) => ({ iri, ended, owner }));
    const answers = facts.length > 0 ? await admits(facts) : [];
    for (const [index, state] of open.entries()) if (answers[index] === true) found.push(state);
  }
  return found;
}

function contentOf({ assertTime }: PastContext, store: Snapshot, states: readonly EndedState[]) {
  const byName = new Map(states.map((state) => [state.record.iri, state]));
  const names = sortGraphs([...byName.keys()]);
  return new Map(names.map((iri) => [iri, new ContentThen(store, byName.get(iri)!, assertTime)]));
}

class ContentThen implements PastContent {
  private graph: PastGraph | undefined;

  constructor(
    private readonly store: Snapshot,
    private readonly state: EndedState,
    private readonly assertTime: () => void,
  ) {}

  private async open(): Promise<PastGraph | undefined> {
    if (this.graph) return this.graph;
    this.assertTime();
    this.graph = await PastGraph.open(this.store, this.state);
    return this.graph;
  }

  async difference(): Promise<KeyDifference | undefined> {
    const found = this.state.graph === 'delta' ? (await this.open())?.difference() : undefined;
    if (found) await this.graph!.close();
    // Otherwise the caller iterates over the graph, and thereby closes it.
    return found;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly string[]> {
    const graph = await this.open();
    if (!graph) return;
    try {
      for await (const keys of graph.blocks()) {
        this.assertTime();
        yield keys;
      }
    } finally {
      await graph.close();
    }
  }
}
