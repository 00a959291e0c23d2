/** Graphs of earlier states, read in blocks, so that those of large graphs are not in memory. */
import { comparedBlocks, DamagedGraphError } from '../../lib/storage/graphs/graph-digests.js';
import type { StoreSnapshot } from '../../lib/storage/graphs/snapshot.js';
import { compareKeys } from '../../lib/storage/keys/key-order.js';
import { graphRange } from '../../lib/storage/keys/quad-keys.js';
import { type ResourceRecord, readRecord, removedKey } from '../../lib/storage/keys/records.js';
import type { OpenGraph, Store } from '../../lib/storage/transactions/store.js';
import { tooBusy } from '../../lib/tools/errors.js';
import { yieldInLine } from '../../lib/tools/event-loop.js';
import { dataRange, type EndedState, type HistoryState, readVersion, unpacked, versionsBetween } from './entries.js';

/** Maximum number of changed triples that all readers of versions have in memory. */
const maxInUse = 1_000_000;
let inUse = 0;

/** The versions from a state on, up to one with all triples. */
async function chainOf(snapshot: StoreSnapshot, iri: string, ended: number): Promise<EndedState[]> {
  const chain: EndedState[] = [];
  for await (const block of snapshot.entries(versionsBetween(iri, ended - 1)))
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
  /** Triples that the state has, unlike the last of its chain (true), or the other way around. */
  private readonly changed = new Map<string, boolean>();
  private added: readonly string[] = [];
  private isClosed = false;

  private constructor(
    private readonly store: Store,
    private readonly snapshot: StoreSnapshot,
    /** `base`: the version with all triples at the end of the chain, or the present record. */
    private readonly of: { readonly record: ResourceRecord; readonly base: EndedState | ResourceRecord },
  ) {}

  get record(): ResourceRecord {
    return this.of.record;
  }

  /** @returns `undefined` if the triples are not kept @throws DamagedGraphError, LwsError `too-busy` */
  static async open(
    store: Store,
    snapshot: StoreSnapshot,
    { record, ended }: HistoryState,
  ): Promise<PastGraph | undefined> {
    const { iri } = record;
    const chain = ended === undefined ? [] : await chainOf(snapshot, iri, ended);
    const last = chain.at(-1);
    if (ended !== undefined && !last?.graph) return undefined;
    const isWhole = last?.graph === 'whole';
    const base = isWhole ? last : await presentRecord(snapshot, iri);
    const revision = last ? last.next : record.revision;
    if (!base || (!isWhole && (base as ResourceRecord).revision !== revision)) {
      if (last) throw new DamagedGraphError(iri);
      return undefined;
    }
    const graph = new PastGraph(store, snapshot, { record, base });
    try {
      for (const version of chain.reverse()) if (version.graph === 'delta') await graph.goBack(version);
      await yieldInLine();
      const added: string[] = [];
      for (const [key, isThere] of graph.changed) if (isThere) added.push(key);
      graph.added = added.sort(compareKeys);
    } catch (error) {
      await graph.close();
      throw error;
    }
    return graph;
  }

  private async goBack(version: EndedState): Promise<void> {
    const { changed } = this;
    let isAdded = true;
    for await (const list of unpacked(this.pieces(version))) {
      const { size } = changed;
      for (const key of list) changed.set(key, isAdded);
      inUse += changed.size - size;
      isAdded = !isAdded;
      if (list.length > 0) await yieldInLine();
    }
    if (inUse > maxInUse) throw tooBusy('Other requests read many earlier triples. Retry in a few seconds.', 5);
  }

  private async *pieces({ record: { iri }, ended }: EndedState): AsyncGenerator<string> {
    for await (const block of this.snapshot.entries(dataRange(iri, ended))) for (const [, value] of block) yield value;
  }

  /** Yields the keys of the state, and compares them with its digest. @throws DamagedGraphError, LwsError `too-busy` */
  blocks(): AsyncGenerator<readonly string[]> {
    const { record } = this;
    return comparedBlocks(
      record,
      () => this.overlaid(),
      () => {
        throw new DamagedGraphError(record.iri);
      },
    );
  }

  private async *overlaid(): AsyncGenerator<readonly string[]> {
    const { changed, added } = this;
    let at = 0;
    for await (const block of this.baseBlocks()) {
      if (changed.size === 0) {
        yield block;
        continue;
      }
      const result: string[] = [];
      for (const key of block) {
        while (at < added.length && compareKeys(added[at]!, key) < 0) result.push(added[at++]!);
        if (changed.get(key) === undefined) result.push(key);
      }
      yield result;
    }
    if (at < added.length) yield added.slice(at);
  }

  private async *baseBlocks(): AsyncGenerator<readonly string[]> {
    const { of, store, snapshot } = this;
    const { base, record } = of;
    const read = () => snapshot.keys(graphRange(record.iri));
    if ('ended' in base) {
      yield* unpacked(this.pieces(base));
      // They are removed in their order.
      if (base.isOpen) yield* read();
    } else yield* comparedBlocks(base, read, (found) => store.returned.remove(found));
  }

  async close(): Promise<void> {
    if (!this.isClosed) inUse -= this.changed.size;
    this.isClosed = true;
    await this.snapshot.close();
  }
}

/** Also of a resource in a deleted container whose content is still to be removed. */
async function presentRecord(snapshot: StoreSnapshot, iri: string): Promise<ResourceRecord | undefined> {
  const [record] = await snapshot.records([iri]);
  if (record) return record;
  const [removed] = await snapshot.values([removedKey(iri)]);
  return removed === undefined ? undefined : readRecord(iri, removed);
}
