/** Reads graphs of earlier states in blocks, so that large graphs are not completely in memory. */
import type { Client } from '../../lib/authorization/client.js';
import {
  comparedBlocks,
  DamagedGraphError,
  digestIn,
  type ReturnedKeys,
} from '../../lib/storage/graphs/graph-digests.js';
import { StoreSnapshot } from '../../lib/storage/graphs/snapshot.js';
import { changedBlocks, type KeyDifference } from '../../lib/storage/keys/graph-changes.js';
import { KeyDigest } from '../../lib/storage/keys/key-digest.js';
import { graphRange } from '../../lib/storage/keys/quad-keys.js';
import {
  type KeyRange,
  type ResourceRecord,
  readRecord,
  recordKey,
  removedKey,
} from '../../lib/storage/keys/records.js';
import type { OpenGraph, Store } from '../../lib/storage/transactions/store.js';
import { addCount } from '../../lib/tools/collections.js';
import { tooBusy } from '../../lib/tools/errors.js';
import { yieldInLine } from '../../lib/tools/event-loop.js';
import {
  dataKey,
  dataRange,
  type EndedState,
  type HistoryState,
  readVersion,
  unpacked,
  versionsBetween,
} from './entries.js';

/** Maximum number of changed triples in memory: of all readers of versions, of callers without control, and of one client. */
const [maxInUse, maxOfOthers, maxOfClient] = [1_000_000, 750_000, 250_000];
const inUse = { all: 0, ofOthers: 0, ofClients: new Map<string, number>() };

/** Adds to the counts of triples in memory. @param reader undefined for a query thread, or the server itself */
function use(reader: Client | undefined, count: number): void {
  inUse.all += count;
  if (!reader) return;
  const { client, callerClass } = reader;
  if (callerClass !== 'controller') inUse.ofOthers += count;
  addCount(inUse.ofClients, client, count);
}

function isFull(reader: Client | undefined): boolean {
  if (!reader) return inUse.all > maxInUse;
  const isOfOthers = reader.callerClass !== 'controller' && inUse.ofOthers > maxOfOthers;
  return isOfOthers || inUse.all > maxInUse || (inUse.ofClients.get(reader.client) ?? 0) > maxOfClient;
}

/** One committed state, from which graphs are read. */
export interface PastSource extends Pick<StoreSnapshot, 'entries' | 'values' | 'close'> {
  /** @param count count of keys in the range, if it is known */
  keys(range: KeyRange, count?: number): AsyncIterable<readonly string[]>;
  /** Called with deleted triples that have returned to the present graph. Absent: only the earlier state is verified. */
  onReturned?(found: ReturnedKeys): void;
  /** Returns the record of a resource in this state, if it is cached. */
  record?(iri: string): ResourceRecord | undefined;
  /** True in a query thread, in which no other request waits. The states to open were then read from this source. */
  readonly isInThread?: boolean;
}

/** Returns the chain of versions from a state up to the next version with all triples. */
async function chainOf(source: PastSource, state: HistoryState, present: string | undefined): Promise<EndedState[]> {
  const { ended, record } = state;
  if (ended === undefined) return [];
  const chain = source.isInThread ? [state as EndedState] : [];
  if (chain[0]?.graph !== 'delta' ? chain[0] : chain[0].next === present) return chain;
  for await (const block of source.entries(versionsBetween(record.iri, ended - 1 + chain.length)))
    for (const [key, value] of block) {
      const version = readVersion(key, value);
      const previous = chain.at(-1);
      if (previous ? previous.next !== version.record.revision : version.ended !== ended) return chain;
      chain.push(version);
      if (version.graph !== 'delta') return chain;
    }
  return chain;
}

export class PastGraph implements OpenGraph {
  /** Differences from the base: true for a triple that only the state has, false for one that only the base has. */
  private readonly changed = new Map<string, boolean>();
  /** Digest of all changes in the chain. */
  private readonly digest = new KeyDigest();
  private isClosed = false;

  private constructor(
    private readonly source: PastSource,
    /** `base`: the version with all triples at the end of the chain, or the present record. */
    private readonly of: { readonly record: ResourceRecord; readonly base: EndedState | ResourceRecord },
    private readonly reader: Client | undefined,
  ) {}

  get record(): ResourceRecord {
    return this.of.record;
  }

  /**
   * Opens the graph of a state. The caller must close the graph, and thereby closes the source. @returns `undefined` if its
   * triples are not kept, or the state was erased @throws DamagedGraphError, LwsError `too-busy`
   */
  static async open(source: PastSource, state: HistoryState, reader?: Client): Promise<PastGraph | undefined> {
    const { record } = state;
    const { iri } = record;
    const present = await presentRecord(source, iri);
    const chain = await chainOf(source, state, present?.revision);
    const last = chain.at(-1);
    if (state.ended !== undefined && !last?.graph) return undefined;
    const isWhole = last?.graph === 'whole';
    const base = isWhole ? last : present;
    const revision = last ? last.next : record.revision;
    if (!base || (!isWhole && (base as ResourceRecord).revision !== revision)) {
      if (last) throw new DamagedGraphError(iri);
      return undefined;
    }
    const graph = new PastGraph(source, { record, base }, reader);
    try {
      for (const version of chain.reverse()) if (version.graph === 'delta') await graph.goBack(version);
      if (!source.isInThread) await yieldInLine();
    } catch (error) {
      await graph.close();
      throw error;
    }
    return graph;
  }

  private async goBack(version: EndedState): Promise<void> {
    const { changed, source } = this;
    let isAdded = true;
    for await (const list of unpacked(this.pieces(version))) {
      const { size } = changed;
      for (const key of list) changed.set(key, isAdded);
      use(this.reader, changed.size - size);
      isAdded = !isAdded;
      if (source.isInThread) this.digest.toggle(list);
      else if (list.length > 0) await yieldInLine();
    }
    if (isFull(this.reader)) throw tooBusy('Other requests read many earlier triples. Retry in a few seconds.', 5);
  }

  private async *pieces({ record: { iri }, ended, short, pieces = 0 }: EndedState): AsyncGenerator<string> {
    if (short !== undefined) yield short;
    else if (this.source.isInThread)
      for (let piece = 0; piece < pieces; piece++)
        yield (await this.source.values([dataKey(iri, ended, piece)]))[0] ?? '';
    else
      for await (const block of this.source.entries(dataRange(iri, ended))) for (const [, value] of block) yield value;
  }

  /** Returns the difference from the present graph, or `undefined` if the chain does not end there, or the digests differ. */
  difference(): KeyDifference | undefined {
    const { of, changed, digest } = this;
    const [now, then] = ['ended' in of.base ? undefined : digestIn(of.base), digestIn(of.record)];
    if (!now || !then?.combine(now).combine(digest).isZero) return undefined;
    const [added, removed]: [string[], string[]] = [[], []];
    for (const [key, isThere] of changed) (isThere ? added : removed).push(key);
    return { added, removed };
  }

  /** Yields the keys of the state, and compares them with its digest. @throws DamagedGraphError, LwsError `too-busy` */
  blocks(): AsyncGenerator<readonly string[]> {
    const { record } = this;
    return comparedBlocks(
      record,
      () => changedBlocks(this.baseBlocks(), this.changed),
      () => {
        throw new DamagedGraphError(record.iri);
      },
    );
  }

  private async *baseBlocks(): AsyncGenerator<readonly string[]> {
    const { of, source } = this;
    const { base, record } = of;
    const read = (count?: number) => source.keys(graphRange(record.iri), count);
    if ('ended' in base) {
      yield* unpacked(this.pieces(base));
      // The keys of a dropped graph are removed in order, so the remaining keys follow the keys in the pieces.
      if (base.isOpen) yield* read();
    } else if (!source.onReturned) yield* read(base.triples);
    else
      yield* comparedBlocks(
        base,
        () => read(base.triples),
        (found) => source.onReturned!(found),
      );
  }

  async close(): Promise<void> {
    if (!this.isClosed) use(this.reader, -this.changed.size);
    this.isClosed = true;
    await this.source.close();
  }
}

/** Returns the present record, also of a resource in a deleted container whose content is still to be removed. */
async function presentRecord(source: PastSource, iri: string): Promise<ResourceRecord | undefined> {
  const known = source.record?.(iri);
  if (known) return known;
  const [present, removed] = await source.values([recordKey(iri), removedKey(iri)]);
  const value = present ?? removed;
  return value === undefined ? undefined : readRecord(iri, value);
}

/** Opens the graph of a state of a store: see `PastGraph.open`. */
export async function openPast(store: Store, state: HistoryState, reader?: Client): Promise<OpenGraph | undefined> {
  const source = Object.assign(new StoreSnapshot(store.level), {
    onReturned: (found: ReturnedKeys) => store.returned.remove(found),
  });
  try {
    const past = await PastGraph.open(source, state, reader);
    if (past) return past;
  } catch (error) {
    await source.close();
    throw error;
  }
  await source.close();
  return undefined;
}

/** Returns the keys of the graph of a state, also of a large graph: see `PastGraph.open`. */
export async function pastKeys(
  store: Store,
  state: HistoryState,
  reader?: Client,
): Promise<readonly string[] | undefined> {
  const graph = await openPast(store, state, reader);
  if (!graph) return undefined;
  try {
    const keys: string[] = [];
    for await (const block of graph.blocks()) for (const key of block) keys.push(key);
    return keys;
  } finally {
    await graph.close();
  }
}
