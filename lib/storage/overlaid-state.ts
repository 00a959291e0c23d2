/**
 * The state that the transactions under way leave: the committed one, and over it what is staged and not yet on the disk. It must not
 * know when that is written.
 */
import { parentOf, type ResourceRecord } from './records.js';
import type { Transaction, TransactionBase } from './transaction.js';

/** The committed state below the transactions under way. */
export interface CommittedState {
  record(iri: string): ResourceRecord | undefined;
  graph(record: ResourceRecord): Promise<readonly string[]>;
  entry(key: string): string | undefined;
  derived<T extends object>(key: string, parse: (value: string) => T): T | undefined;
  members(container: string): AsyncIterable<readonly ResourceRecord[]>;
}

interface Overlaid<T> {
  readonly value: T;
  readonly sequence: number;
  /** Another thread has the value until then. */
  readonly settled?: Promise<void>;
}

type Staged = Pick<Transaction, 'records' | 'graphs' | 'entries' | 'bytes'>;

export class OverlaidState implements TransactionBase {
  readonly isTransaction = true;
  private readonly records = new Map<string, Overlaid<ResourceRecord | null>>();
  private readonly graphs = new Map<string, Overlaid<readonly string[] | undefined>>();
  private readonly entries = new Map<string, Overlaid<string | null>>();

  constructor(
    private readonly committed: CommittedState,
    public bytes: number,
  ) {}

  record(iri: string): ResourceRecord | undefined {
    const overlaid = this.records.get(iri);
    return overlaid ? (overlaid.value ?? undefined) : this.committed.record(iri);
  }

  async graph(record: ResourceRecord): Promise<readonly string[]> {
    const overlaid = this.graphs.get(record.iri);
    if (overlaid?.settled) {
      await overlaid.settled;
      return this.committed.graph(record);
    }
    return overlaid ? (overlaid.value ?? []) : this.committed.graph(record);
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

  async members(container: string): Promise<ResourceRecord[]> {
    // Taken before the scan: a commit that ends during it takes its changes out of the overlay.
    const overlaid = [...this.records].filter(([iri]) => parentOf(iri) === container && iri !== container);
    const members = new Map<string, ResourceRecord>();
    for await (const records of this.committed.members(container))
      for (const record of records) members.set(record.iri, record);
    for (const [iri, { value }] of overlaid)
      if (value) members.set(iri, value);
      else members.delete(iri);
    return [...members.values()];
  }

  /** A transaction is going to be written. @param settled when it is on the disk */
  lay({ records, graphs, entries, bytes }: Staged, sequence: number, settled: Promise<void>): void {
    for (const [iri, value] of records) this.records.set(iri, { value, sequence });
    for (const [iri, { keys, isPartners }] of graphs)
      this.graphs.set(iri, { value: keys, sequence, ...(isPartners ? { settled } : {}) });
    for (const [key, value] of entries) this.entries.set(key, { value, sequence });
    this.bytes = bytes;
  }

  /** It is on the disk; what later ones have laid over it stays. */
  lift(staged: Staged, sequence: number): void {
    for (const part of ['records', 'graphs', 'entries'] as const)
      for (const key of staged[part].keys()) if (this[part].get(key)?.sequence === sequence) this[part].delete(key);
  }

  clear(): void {
    for (const part of [this.records, this.graphs, this.entries]) part.clear();
  }
}
