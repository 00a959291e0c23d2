/**
 * Hidden graphs are no part of the state although the store has quads of them: large ones that are being written and have no record yet,
 * and large ones whose record is deleted. An entry marks each; readers of quads leave out those that their snapshot marks. So neither a
 * large PUT nor a large DELETE is one huge batch, and both are still atomic.
 */
import { tooBusy } from '../../errors.js';
import { dropped, hiddenRange, loadingName, mayBeLoading, stagedKey } from '../graphs/staged-keys.js';
import { blocksOf, charactersOf, type GraphKeys } from '../keys/graph-keys.js';
import { graphPrefix } from '../keys/quad-keys.js';
import { partsOfEntry, rangeOf } from '../keys/records.js';
import { entryBlocks, keyBlocks, type Level } from '../level/durable-level.js';
import type { Transaction } from './transaction.js';

/** Quads of one transaction: few enough that others hardly wait for it, and that its batch fits into the disk space that is kept free. */
const quadsAtATime = 2_000;
const pauseMs = 1_000;
const waitMs = 100;
const maxWaits = 300;

export interface HiddenGraphsOptions {
  readonly level: Level;
  /** Other servers write hidden graphs as well. */
  readonly isShared: boolean;
  /** Keys of a quad, at most. */
  readonly width: () => number;
  /** Refuses so many bytes when the disk might not take them. */
  readonly assertSpace: (bytes: number) => Promise<void>;
  readonly transact: <T>(work: (tx: Transaction) => T, options: { readonly frees: boolean }) => Promise<T>;
}

/** Writes hidden graphs, and removes dropped ones in the background. */
export class StagedGraphs {
  private readonly sweeping = new Map<string, Promise<void>>();
  private readonly waiting = new Map<string, (() => void)[]>();
  private isClosed = false;

  constructor(private readonly options: HiddenGraphsOptions) {}

  /** Removes the hidden graphs of a process that ended before it had raised or removed them. */
  async open(): Promise<void> {
    const { level } = this.options;
    for await (const entries of entryBlocks(level, hiddenRange))
      for (const [key, value] of entries)
        if (!(this.options.isShared && mayBeLoading(value))) this.sweep(partsOfEntry(key)[1]!, value);
  }

  /**
   * Writes a graph in slices, hidden until a transaction raises it (`Transaction.raiseGraph`).
   * @returns false, and nothing is written, where the resource has a visible graph
   * @throws LwsError `storage-full`; then nothing is left of it
   */
  async load(graph: string, keys: GraphKeys): Promise<boolean> {
    const { transact, assertSpace } = this.options;
    await assertSpace(charactersOf(keys) * this.options.width());
    if (!(await transact((tx) => tx.stageGraph(graph, keys), { frees: false }))) return false;
    try {
      for (const block of blocksOf(keys))
        await transact((tx) => this.writeBlock(tx, graph, { keys, block }), { frees: false });
    } catch (error) {
      this.drop(graph, keys);
      throw error;
    }
    return true;
  }

  /** @throws LwsError `too-busy` when another server took the upload for an abandoned one, and removes its graph */
  private writeBlock(
    tx: Transaction,
    graph: string,
    { keys, block }: { readonly keys: GraphKeys; readonly block: readonly string[] },
  ): void {
    if (!tx.isLoaded(graph, keys))
      throw tooBusy('The content took too long to be written. Try again in a moment.', 5, {
        reason:
          'another server removes it, for which it had been abandoned: clocks that differ, or a server that was held up',
      });
    tx.writeHidden(graph, { added: block, removed: [] });
  }

  /** Removes a graph that was written hidden and will not be raised. */
  drop(graph: string, keys: GraphKeys): void {
    this.sweep(graph, loadingName(keys));
  }

  /** Starts the removal of graphs that a stored transaction dropped, and wakes those that wait for a hidden graph to be gone. */
  committed({ entries, isForeign }: Transaction): void {
    for (const [key, value] of entries) {
      if (!key.startsWith(hiddenRange.gte)) continue;
      const graph = partsOfEntry(key)[1]!;
      // The server that dropped it removes it.
      if (value === dropped && !isForeign) this.sweep(graph, dropped);
      if (value !== null) continue;
      for (const resolve of this.waiting.get(graph) ?? []) resolve();
      this.waiting.delete(graph);
    }
  }

  /**
   * Waits until a graph is not hidden any more.
   * @param hiddenBy reads the committed entry that hides the graph
   * @throws LwsError `too-busy` after half a minute
   */
  async gone(graph: string, hiddenBy: () => string | undefined): Promise<void> {
    // Waits at least once: both the entry that hides the graph and its removal may be staged, and not committed yet.
    for (let waits = 0; waits === 0 || (hiddenBy() !== undefined && !this.isClosed); waits++) {
      const value = hiddenBy();
      if (this.options.isShared && value !== undefined && !mayBeLoading(value)) this.sweep(graph, value);
      if (waits > maxWaits)
        throw tooBusy('What had this name before is still being removed. Try again in a moment.', 5);
      const waiting = this.waiting.get(graph) ?? [];
      this.waiting.set(graph, waiting);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, waitMs);
        waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  /** Ends the sweeping; the next start continues with it. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (const resolve of [...this.waiting.values()].flat()) resolve();
    await Promise.all(this.sweeping.values());
  }

  private sweep(graph: string, value: string): void {
    if (this.sweeping.has(graph) || this.isClosed) return;
    const run = this.removeQuads(graph, value)
      .finally(() => this.sweeping.delete(graph))
      .catch(() => {
        // The disk is full, or LevelDB is opened again: tries later.
        if (!this.isClosed) setTimeout(() => this.sweep(graph, value), pauseMs).unref();
      });
    this.sweeping.set(graph, run);
  }

  private async removeQuads(graph: string, value: string): Promise<void> {
    const { level } = this.options;
    // A batch in doubt may have raised the graph: then it is not hidden any more.
    let isHidden = true;
    const transact = (work: (tx: Transaction) => void): Promise<unknown> => {
      const whileHidden = (tx: Transaction): void => {
        isHidden = [value, dropped].includes(tx.entry(stagedKey(graph)) ?? '');
        if (isHidden) work(tx);
      };
      return this.options.transact(whileHidden, { frees: true });
    };
    // A server that still writes the graph sees this value in its next transaction and stops, so no keys are added behind the scan.
    if (value !== dropped) await transact((tx) => tx.putEntry(stagedKey(graph), dropped));
    for await (const block of keyBlocks(level, rangeOf(graphPrefix(graph))))
      for (let at = 0; at < block.length; at += quadsAtATime) {
        if (this.isClosed || !isHidden) return;
        const removed = block.slice(at, at + quadsAtATime);
        await transact((tx) => tx.writeHidden(graph, { added: [], removed }));
      }
    if (!this.isClosed) await transact((tx) => tx.forgetHidden(graph));
  }
}
