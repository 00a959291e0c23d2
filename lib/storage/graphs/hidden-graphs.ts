/**
 * Graphs that are no part of the state although quads of them lie in the store: large ones that are being written, before their record is,
 * and large ones whose record is deleted. An entry says which; readers of quads leave them out, as of the snapshot that they read. So
 * neither a large PUT nor a large DELETE is one huge batch, and both are all or nothing.
 */
import { LwsError } from '../../errors.js';
import { entryBlocks, keyBlocks, type Level } from '../engine/durable-level.js';
import type { Transaction } from '../engine/transaction.js';
import { partsOfEntry, rangeOf } from '../state/records.js';
import { blocksOf, charactersOf, type GraphKeys } from './graph-keys.js';
import { dropped, hiddenKey, hiddenRange, loadingName, mayBeLoading } from './hidden-keys.js';
import { graphPrefix, indexNames } from './quad-keys.js';

/** Quads of one transaction: less than others notice, and a batch that the disk takes in any case. */
const quadsAtATime = 2_000;
const pauseMs = 1_000;
const waitMs = 100;
const maxWaits = 300;

export interface HiddenGraphsOptions {
  readonly level: Level;
  /** Other servers write hidden graphs as well. */
  readonly isShared: boolean;
  /** Refuses what the disk might not take. */
  readonly assertSpace: (bytes: number) => Promise<void>;
  readonly transact: <T>(work: (tx: Transaction) => T, options: { readonly frees: boolean }) => Promise<T>;
}

/** Writes hidden graphs, and removes those that are dropped in the background. */
export class HiddenGraphs {
  private readonly sweeping = new Map<string, Promise<void>>();
  private readonly waiting = new Map<string, (() => void)[]>();
  private isClosed = false;

  constructor(private readonly options: HiddenGraphsOptions) {}

  /** Removes what a process left that was ended in between. */
  async open(): Promise<void> {
    const { level } = this.options;
    for await (const entries of entryBlocks(level, hiddenRange))
      for (const [key, value] of entries)
        if (!(this.options.isShared && mayBeLoading(value))) this.sweep(partsOfEntry(key)[1]!, value);
  }

  /**
   * Writes a graph in slices, hidden until a transaction raises it (`Transaction.raiseGraph`).
   * @returns whether it was: not where the resource has a graph that is seen
   * @throws LwsError `storage-full`; then nothing is left of it
   */
  async load(graph: string, keys: GraphKeys): Promise<boolean> {
    const { transact, assertSpace } = this.options;
    await assertSpace(charactersOf(keys) * indexNames.length);
    if (!(await transact((tx) => tx.hideGraph(graph, keys), { frees: false }))) return false;
    try {
      for (const block of blocksOf(keys))
        await transact((tx) => this.writeBlock(tx, graph, { keys, block }), { frees: false });
    } catch (error) {
      this.drop(graph, keys);
      throw error;
    }
    return true;
  }

  /** @throws LwsError `too-busy` when another server took it for one that was abandoned, and removes it */
  private writeBlock(
    tx: Transaction,
    graph: string,
    { keys, block }: { readonly keys: GraphKeys; readonly block: readonly string[] },
  ): void {
    if (!tx.isLoaded(graph, keys))
      throw new LwsError('too-busy', 'The content took too long to be written. Try again in a moment.', {
        reason:
          'another server removes it, for which it had been abandoned: clocks that differ, or a server that was held up',
        fields: { 'Retry-After': '5' },
      });
    tx.writeHidden(graph, { added: block, removed: [] });
  }

  /** Lets go of a graph that was written and is not wanted any more. */
  drop(graph: string, keys: GraphKeys): void {
    this.sweep(graph, loadingName(keys));
  }

  /** A transaction is on the disk. */
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
   * @param hiddenBy looks at the committed state
   * @throws LwsError `too-busy` after half a minute
   */
  async gone(graph: string, hiddenBy: () => string | undefined): Promise<void> {
    // What hides it may be on its way to the disk, and so may be what ends that.
    for (let waits = 0; waits === 0 || (hiddenBy() !== undefined && !this.isClosed); waits++) {
      const value = hiddenBy();
      if (this.options.isShared && value !== undefined && !mayBeLoading(value)) this.sweep(graph, value);
      if (waits > maxWaits)
        throw new LwsError('too-busy', 'What had this name before is still being removed. Try again in a moment.', {
          fields: { 'Retry-After': '5' },
        });
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
    const run = this.removeQuads(graph, value).then(
      () => {
        this.sweeping.delete(graph);
      },
      () => {
        this.sweeping.delete(graph);
        // The disk is full, or LevelDB is opened again: later.
        if (!this.isClosed) setTimeout(() => this.sweep(graph, value), pauseMs).unref();
      },
    );
    this.sweeping.set(graph, run);
  }

  private async removeQuads(graph: string, value: string): Promise<void> {
    const { level } = this.options;
    // A batch of which nobody knew whether it was stored may have raised it.
    let isHidden = true;
    const transact = (work: (tx: Transaction) => void): Promise<unknown> =>
      this.options.transact(
        (tx) => {
          isHidden = [value, dropped].includes(tx.entry(hiddenKey(graph)) ?? '');
          if (isHidden) work(tx);
        },
        { frees: true },
      );
    // Whoever still writes it finds out, and adds nothing to what is read now.
    if (value !== dropped) await transact((tx) => tx.putEntry(hiddenKey(graph), dropped));
    for await (const block of keyBlocks(level, rangeOf(graphPrefix(graph))))
      for (let at = 0; at < block.length; at += quadsAtATime) {
        if (this.isClosed || !isHidden) return;
        const removed = block.slice(at, at + quadsAtATime);
        await transact((tx) => tx.writeHidden(graph, { added: [], removed }));
      }
    if (!this.isClosed) await transact((tx) => tx.forgetHidden(graph));
  }
}
