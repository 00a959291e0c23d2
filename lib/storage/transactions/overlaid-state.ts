/** State that transactions see: the committed state, overlaid by staged transactions, which are not on disk yet. */
import { hiddenRange, stagedKey } from '../graphs/staged-keys.js';
import { type GraphChange, hasAfter, lastWhole, overlay } from '../keys/graph-changes.js';
import { blocksOf } from '../keys/graph-keys.js';
import { graphPrefix } from '../keys/quad-keys.js';
import { type KeyRange, layEntries, parentOf, partsOfEntry, type ResourceRecord } from '../keys/records.js';
import type { Transaction } from './transaction.js';
import type { TransactionBase } from './transaction-base.js';

/** The committed state, without staged transactions. */
export interface CommittedState extends Pick<TransactionBase, 'record' | 'graph' | 'entry' | 'derived' | 'untilFree'> {
  graphBlocks(graph: string, beginning: string): AsyncIterable<readonly string[]>;
  hasKeys(keys: readonly string[]): Promise<readonly boolean[]>;
  members(container: string): AsyncIterable<readonly ResourceRecord[]>;
  entries(range: KeyRange): AsyncIterable<readonly (readonly [string, string])[]>;
}

interface Overlaid<T> {
  readonly value: T;
  readonly sequence: number;
  /** While this promise is pending, only another thread has the value (`BulkWriter`). */
  readonly settled?: Promise<void>;
}

const none: readonly string[] = [];

type Staged = Pick<Transaction, 'records' | 'graphs' | 'entries' | 'bytes'>;

export class OverlaidState implements TransactionBase {
  readonly isTransaction = true;
  private readonly records = new Map<string, Overlaid<ResourceRecord | null>>();
  /** Changes of each graph, in commit order. */
  private readonly graphs = new Map<string, readonly Overlaid<GraphChange>[]>();
  private readonly entries = new Map<string, Overlaid<string | null>>();

  /** Deleted subtrees whose removal may not be complete. */
  private readonly subtrees = new Set<string>();

  constructor(
    private readonly committed: CommittedState,
    public bytes: number,
  ) {}

  /** Deleted subtrees that are being removed, including those of transactions in progress. */
  get removedSubtrees(): readonly string[] {
    if (this.subtrees.size === 0) return none;
    for (const name of this.subtrees) if (this.entry(stagedKey(name)) === undefined) this.subtrees.delete(name);
    return [...this.subtrees];
  }

  readonly reserved = new Set<string>();

  untilFree(name: string): Promise<void> {
    return this.committed.untilFree(name);
  }

  noteSubtree(container: string): void {
    this.subtrees.add(container);
  }

  record(iri: string): ResourceRecord | undefined {
    const overlaid = this.records.get(iri);
    return overlaid ? (overlaid.value ?? undefined) : this.committed.record(iri);
  }

  async graph(record: ResourceRecord): Promise<readonly string[]> {
    if (this.graphs.has(record.iri)) await this.settled(record);
    if (!this.graphs.has(record.iri)) return this.committed.graph(record);
    const found: string[] = [];
    for await (const keys of this.graphBlocks(record, '')) for (const key of keys) found.push(key);
    return found;
  }

  async *graphBlocks(record: ResourceRecord, beginning: string): AsyncGenerator<readonly string[]> {
    await this.settled(record);
    yield* this.overlaidBlocks(record, beginning);
  }

  /** Waits until a graph that another thread writes is on disk, because it cannot be read before. */
  private async settled({ iri }: ResourceRecord): Promise<void> {
    for (const { settled } of this.graphs.get(iri) ?? []) await settled;
  }

  /** Returns a graph with its staged changes. If the changes are committed meanwhile, applying them twice has no effect. */
  private overlaidBlocks({ iri }: ResourceRecord, beginning: string): AsyncIterable<readonly string[]> {
    const changes = this.changesOf(iri);
    const from = lastWhole(changes);
    if (changes.length === 0) return this.committed.graphBlocks(iri, beginning);
    const whole = from < 0 ? this.committed.graphBlocks(iri, beginning) : blocksOf(changes[from]!.keys ?? []);
    const prefix = graphPrefix(iri) + beginning;
    const wanted = (keys: readonly string[]): readonly string[] => keys.filter((key) => key.startsWith(prefix));
    const parts = changes
      .slice(from + 1)
      .map((change) => ({ ...change, added: wanted(change.added), removed: wanted(change.removed) }));
    return filtered(overlay(whole, parts), wanted);
  }

  async hasKeys(record: ResourceRecord, keys: readonly string[]): Promise<readonly boolean[]> {
    await this.settled(record);
    const changes = this.changesOf(record.iri);
    const known = keys.map((key) => hasAfter(changes, key));
    if (!known.includes(undefined)) return known as boolean[];
    const stored = await this.committed.hasKeys(keys);
    return known.map((has, index) => has ?? stored[index]!);
  }

  private changesOf(iri: string): readonly GraphChange[] {
    return (this.graphs.get(iri) ?? []).map(({ value }) => value);
  }

  entry(key: string): string | undefined {
    const overlaid = this.entries.get(key);
    return overlaid ? (overlaid.value ?? undefined) : this.committed.entry(key);
  }

  derived<T extends object>(key: string, parse: (value: string) => T): T | undefined {
    const overlaid = this.entries.get(key);
    if (!overlaid) return this.committed.derived(key, parse);
    return overlaid.value === null ? undefined : parse(overlaid.value);
  }

  async entriesIn(range: KeyRange): Promise<Map<string, string>> {
    // Copy the overlay before the scan, as in `members`.
    const overlaid = [...this.entries].map(([key, { value }]) => [key, value] as const);
    const found = new Map<string, string>();
    for await (const entries of this.committed.entries(range))
      for (const [key, value] of entries) found.set(key, value);
    return layEntries(found, range, overlaid);
  }

  async members(container: string): Promise<ResourceRecord[]> {
    // Copy the overlay before the scan, because a commit during the scan removes its changes from the overlay.
    const overlaid = [...this.records].filter(([iri]) => parentOf(iri) === container && iri !== container);
    const members = new Map<string, ResourceRecord>();
    for await (const records of this.committed.members(container))
      for (const record of records) members.set(record.iri, record);
    for (const [iri, { value }] of overlaid)
      if (value) members.set(iri, value);
      else members.delete(iri);
    return [...members.values()];
  }

  /** Adds a staged transaction to the overlay. @param settled resolves when it is on disk */
  lay({ records, graphs, entries, bytes }: Staged, sequence: number, settled: Promise<void>): void {
    for (const [iri, value] of records) this.records.set(iri, { value, sequence });
    for (const [iri, value] of graphs) {
      const change = value.isPartners ? { value, sequence, settled } : { value, sequence };
      this.graphs.set(iri, [...(this.graphs.get(iri) ?? []), change]);
    }
    for (const [key, value] of entries) {
      this.entries.set(key, { value, sequence });
      if (value !== null && key.endsWith('/') && key.startsWith(hiddenRange.gte))
        this.noteSubtree(partsOfEntry(key)[1]!);
    }
    this.bytes = bytes;
  }

  /** Removes a committed transaction from the overlay, except keys that later transactions changed. */
  lift(staged: Staged, sequence: number): void {
    for (const iri of staged.graphs.keys()) {
      const left = (this.graphs.get(iri) ?? []).filter((change) => change.sequence !== sequence);
      if (left.length > 0) this.graphs.set(iri, left);
      else this.graphs.delete(iri);
    }
    for (const part of ['records', 'entries'] as const)
      for (const key of staged[part].keys()) if (this[part].get(key)?.sequence === sequence) this[part].delete(key);
  }

  clear(): void {
    for (const part of [this.records, this.graphs, this.entries]) part.clear();
  }
}

async function* filtered(
  blocks: AsyncIterable<readonly string[]>,
  wanted: (keys: readonly string[]) => readonly string[],
): AsyncGenerator<readonly string[]> {
  for await (const keys of blocks) yield wanted(keys);
}
