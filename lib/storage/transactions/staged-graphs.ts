/**
 * Writes and removes staged graphs. The store has their quads, but these graphs are not part of the state: they have no record
 * yet, or their record was deleted. An entry marks each staged graph, and readers skip graphs that are marked in their
 * snapshot. So a large PUT, MOVE or DELETE is atomic without one huge batch.
 */
import { EventEmitter, once } from 'node:events';
import { slices } from '../../tools/collections.js';
import { tooBusy } from '../../tools/errors.js';
import { digestedBlocks } from '../graphs/graph-digests.js';
import {
  dropped,
  hiddenRange,
  isDropped,
  isSubtree,
  loadingName,
  mayBeLoading,
  newRemoval,
  stagedKey,
} from '../graphs/staged-keys.js';
import { allOf, charactersOf, type GraphKeys } from '../keys/graph-keys.js';
import { graphPrefix, graphRange, sortGraphs } from '../keys/quad-keys.js';
import { partsOfEntry, rangeOf } from '../keys/records.js';
import { CommitInDoubtError } from '../level/commit-in-doubt.js';
import { entryBlocks, keyBlocks, type Level } from '../level/durable-level.js';
import { OrderedRanges } from '../level/ordered-ranges.js';
import type { Transaction } from './transaction.js';

/** Quads per transaction: few enough that other transactions hardly wait, and the batch fits into the reserved disk space. */
const quadsAtATime = 2_000;
const pauseMs = 1_000;
const waitMs = 100;
const maxWaits = 300;
/** Count of waits without progress after which the server that removes a graph is considered failed. */
const othersWaits = 100;

/** Maximum number of graphs that one transaction reserves, and of graphs that are removed at the same time. */
const [graphsAtATime, removalsAtATime] = [250, 8];

/** Maximum characters of the keys in a group of small graphs: a text index may have an entry for every second character. */
const charactersAtATime = 1 << 20;

/** Returns true for a graph that is written in one transaction. */
const isSmall = (keys: GraphKeys): boolean => keys.length <= quadsAtATime;

type Group = readonly (readonly [graph: string, keys: GraphKeys])[];

/** Splits graphs into groups that one transaction reserves. */
function* groupsOf(graphs: ReadonlyMap<string, GraphKeys>): Generator<Group> {
  let group: (readonly [string, GraphKeys])[] = [];
  let [quads, characters] = [0, 0];
  for (const each of graphs) {
    const [{ length }, own] = [each[1], charactersOf(each[1])];
    const isFull = quads + length > quadsAtATime || characters + own > charactersAtATime;
    if (group.length > 0 && (isFull || group.length === graphsAtATime)) {
      yield group;
      [group, quads, characters] = [[], 0, 0];
    }
    group.push(each);
    [quads, characters] = [quads + length, characters + own];
  }
  if (group.length > 0) yield group;
}

export interface StagedGraphsOptions {
  readonly level: Level;
  /** True if other servers write staged graphs too. */
  readonly isShared: boolean;
  /** Checks that the disk has enough space for this count of bytes. */
  readonly assertSpace: (bytes: number) => Promise<void>;
  readonly transact: <T>(work: (tx: Transaction) => T, options: { readonly frees: boolean }) => Promise<T>;
}

/** Removal of graphs in the background. */
interface Removal {
  readonly graphs: readonly string[];
  /** Value of the entry that marks each of the graphs. */
  readonly value: string;
  run(): Promise<void>;
}

/** Writes staged graphs, and removes dropped graphs in the background. */
export class StagedGraphs {
  /** Removals that have started, by graph. */
  private readonly sweeping = new Map<string, Promise<void>>();
  /** Removals that have not started yet, by graph. */
  private readonly pending = new Map<string, Removal>();
  /** Emits the name of a graph that is no longer staged. */
  private readonly released = new EventEmitter().setMaxListeners(0);
  private removals = 0;
  private isClosed = false;

  constructor(private readonly options: StagedGraphsOptions) {}

  /** Removes staged graphs of a process that ended before it published or removed them. */
  async open(): Promise<void> {
    const { level } = this.options;
    for await (const entries of entryBlocks(level, hiddenRange))
      for (const [key, value] of entries)
        if (!isSubtree(partsOfEntry(key)[1]!) && !(this.options.isShared && mayBeLoading(value)))
          this.sweep(partsOfEntry(key)[1]!, value);
  }

  /**
   * Writes graphs in slices. They are invisible until a transaction publishes them (`Transaction.publishGraph`).
   * @returns the written graphs, whose resources have no visible graph
   * @throws LwsError `storage-full`, after removing the written quads
   */
  async load(graphs: ReadonlyMap<string, GraphKeys>): Promise<ReadonlySet<string>> {
    const { transact, assertSpace } = this.options;
    const loaded = new Set<string>();
    let reserving: Group = [];
    let bytes = 0;
    for (const keys of graphs.values()) bytes += charactersOf(keys);
    await assertSpace(bytes);
    try {
      for (const group of groupsOf(graphs)) {
        reserving = group;
        const fresh = await transact((tx) => this.reserve(tx, group), { frees: false });
        for (const [graph] of fresh) loaded.add(graph);
        for (const [graph, keys] of fresh)
          if (!isSmall(keys))
            for (const block of digestedBlocks(keys))
              await transact((tx) => this.writeBlock(tx, graph, { keys, block }), { frees: false });
      }
    } catch (error) {
      for (const graph of loaded) this.drop(graph, graphs.get(graph)!);
      if (error instanceof CommitInDoubtError) for (const [graph, keys] of reserving) this.drop(graph, keys);
      throw error;
    }
    return loaded;
  }

  /** Reserves the names of graphs, and writes the small graphs. @returns the graphs whose resource has no visible graph */
  private reserve(tx: Transaction, group: Group): Group {
    const fresh = group.filter(([graph, keys]) => tx.stageGraph(graph, keys));
    for (const [graph, keys] of fresh) if (isSmall(keys)) tx.writeHidden(graph, { added: allOf(keys), removed: [] });
    return fresh;
  }

  /** Writes a block. @throws LwsError `too-busy` if another server considered the upload abandoned and removes its graph */
  private writeBlock(
    tx: Transaction,
    graph: string,
    { keys, block }: { readonly keys: GraphKeys; readonly block: readonly string[] },
  ): void {
    if (!tx.isLoaded(graph, keys))
      throw tooBusy('Writing the content took too long. Retry in a few seconds.', 5, {
        reason: 'another server considered it abandoned and removes it: the clocks differ, or this server was blocked',
      });
    tx.writeHidden(graph, { added: block, removed: [] });
  }

  /** Removes a staged graph that will not be published. */
  drop(graph: string, keys: GraphKeys): void {
    this.sweep(graph, loadingName(keys));
  }

  /** Starts the removal of graphs dropped by a committed transaction, and wakes callers that wait for a removal. */
  committed({ entries, graphs, isForeign }: Transaction): void {
    const small: string[] = [];
    for (const [key, value] of entries) {
      if (!key.startsWith(hiddenRange.gte)) continue;
      const graph = key.slice(hiddenRange.gte.length);
      // The server that has dropped the graph removes it.
      if (value === dropped && !isForeign) {
        const quads = graphs.get(graph)?.triples.before ?? Number.POSITIVE_INFINITY;
        if (quads <= quadsAtATime && !this.options.isShared) small.push(graph);
        else this.sweep(graph, dropped, false);
      }
      if (value !== null) continue;
      this.released.emit(graph);
    }
    for (const some of slices(small, graphsAtATime)) this.sweepSmall(some);
  }

  /**
   * Waits until a graph is no longer staged.
   * @param hiddenBy reads the committed entry that marks the graph
   * @throws LwsError `too-busy` after half a minute
   */
  async gone(graph: string, hiddenBy: () => string | undefined): Promise<void> {
    let [seen, unchanged] = [hiddenBy(), 0];
    // Wait at least once, because the entry and its removal may both be staged and not committed yet.
    for (let waits = 0; waits === 0 || (hiddenBy() !== undefined && !this.isClosed); waits++) {
      const value = hiddenBy();
      [seen, unchanged] = [value, value === seen ? unchanged + 1 : 0];
      this.begin(graph);
      if (this.options.isShared && unchanged > othersWaits && value !== undefined && !mayBeLoading(value))
        this.sweep(graph, value);
      if (waits > maxWaits)
        throw tooBusy('Another request is writing or removing a resource of this name. Retry in a few seconds.', 5);
      // At the end of the time, the entry is read again.
      await once(this.released, graph, { signal: AbortSignal.timeout(waitMs) }).catch(() => {});
    }
  }

  /** Ends the sweep. The next start continues it. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (const graph of this.released.eventNames()) this.released.emit(graph);
    await Promise.all(this.sweeping.values());
  }

  private sweep(graph: string, value: string, takesOver = this.options.isShared || value !== dropped): void {
    if (this.sweeping.has(graph) || this.pending.has(graph)) return;
    this.add({ graphs: [graph], value, run: () => this.removeQuads(graph, value, takesOver) });
  }

  /** Removes small graphs that one transaction dropped, several in each transaction. */
  private sweepSmall(graphs: readonly string[]): void {
    this.add({ graphs, value: dropped, run: () => this.removeSmall(graphs) });
  }

  /** Adds a removal. Some run at a time. A writer that waits for a graph starts its removal earlier (`begin`). */
  private add(removal: Removal): void {
    for (const graph of removal.graphs) this.pending.set(graph, removal);
    if (this.removals < removalsAtATime) this.begin(removal.graphs[0]!);
  }

  /** Starts the pending removal of a graph, if there is one. */
  private begin(graph: string): void {
    const removal = this.pending.get(graph);
    if (!removal || this.isClosed) return;
    const { graphs, value, run } = removal;
    for (const each of graphs) if (this.pending.get(each) === removal) this.pending.delete(each);
    this.removals++;
    const running = run()
      // The disk may be full, or LevelDB may be being reopened. For graphs that are already removed, a retry ends quickly.
      .catch(() => {
        for (const each of graphs) this.retry(each, value);
      })
      .finally(() => {
        for (const each of graphs) this.sweeping.delete(each);
        this.removals--;
        const [next] = this.pending.keys();
        if (next !== undefined && this.removals < removalsAtATime) this.begin(next);
      });
    for (const each of graphs) this.sweeping.set(each, running);
  }

  private retry(graph: string, value: string): void {
    if (!this.isClosed) setTimeout(() => this.sweep(graph, value), pauseMs).unref();
  }

  private async removeSmall(graphs: readonly string[]): Promise<void> {
    const { level, transact } = this.options;
    const sorted = sortGraphs(graphs);
    const snapshot = level.snapshot();
    const ranges = new OrderedRanges(level, snapshot, graphRange(sorted.at(-1)!).lt);
    let [slice, quads]: [(readonly [string, readonly string[]])[], number] = [[], 0];
    const write = async (): Promise<void> => {
      const group = slice;
      [slice, quads] = [[], 0];
      await transact(
        (tx) => {
          for (const [graph, removed] of group) {
            if (tx.entry(stagedKey(graph)) !== dropped) continue;
            if (removed.length > 0) tx.writeHidden(graph, { added: [], removed });
            tx.forgetHidden(graph);
          }
        },
        { frees: true },
      );
    };
    try {
      for (const graph of sorted) {
        const removed: string[] = [];
        for await (const keys of ranges.blocksOf(graphRange(graph))) removed.push(...keys);
        if (this.isClosed) return;
        if (quads + removed.length > quadsAtATime && slice.length > 0) await write();
        slice.push([graph, removed]);
        quads += removed.length;
      }
      if (slice.length > 0) await write();
    } finally {
      await ranges.close();
      await snapshot.close();
    }
  }

  /** @param takesOver true if another server may write or remove the graph. It sees the new value in its next transaction and stops */
  private async removeQuads(graph: string, value: string, takesOver: boolean): Promise<void> {
    const { level, isShared } = this.options;
    let [expected, isFirst, isOurs] = [value, takesOver, true];
    const transact = async (work: (tx: Transaction) => void): Promise<void> => {
      // With several servers, write a new value with each slice, so that waiting servers see progress.
      const next = isShared || isFirst ? newRemoval() : expected;
      const whileOurs = (tx: Transaction): void => {
        const now = tx.entry(stagedKey(graph));
        // A batch in doubt may have published the graph.
        isOurs = now === expected || (isFirst && isDropped(now));
        if (isOurs && next !== now) tx.putEntry(stagedKey(graph), next);
        if (isOurs) work(tx);
      };
      await this.options.transact(whileOurs, { frees: true });
      [expected, isFirst] = [next, false];
    };
    // Write the new value before the scan, so that no other server adds keys after it, or removes and counts the same keys.
    if (takesOver) await transact(() => {});
    let removed: readonly string[] = [];
    for await (const block of keyBlocks(level, rangeOf(graphPrefix(graph))))
      for (let at = 0; at < block.length; at += quadsAtATime) {
        const slice = removed;
        if (slice.length > 0) await transact((tx) => tx.writeHidden(graph, { added: [], removed: slice }));
        if (this.isClosed || !isOurs) return;
        removed = block.slice(at, at + quadsAtATime);
      }
    await transact((tx) => {
      if (removed.length > 0) tx.writeHidden(graph, { added: [], removed });
      tx.forgetHidden(graph);
    });
  }
}
