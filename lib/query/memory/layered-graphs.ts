/**
 * Records which graphs have changed, with a sequence number for each record. A graph is recorded before a snapshot can include
 * its change, and again when the change is on disk. Must not depend on queries or on the content of graphs.
 */
import type { Transaction } from '../../storage/transactions/transaction.js';
import type { GraphChanges } from './memory-layers.js';

interface Noted {
  readonly graph: string;
  readonly sequence: number;
  readonly quads: number;
  /** True if the change is on disk and the graph has no quads. */
  readonly isEmpty: boolean;
}

type Changes = Pick<Transaction, 'graphs'>;

export class LayeredGraphs {
  /** Sequence number of the last record. */
  sequence = 0;
  /** Count of quads in the recorded graphs. While a change is pending, the larger count of before and after. */
  quads = 0;
  private readonly noted = new Map<string, Noted>();
  /** All records in the order of sequence numbers, including outdated records of graphs that were recorded again. */
  private log: Noted[] = [];
  /** Graphs with pending changes, with the count of pending changes. */
  private readonly unsettled = new Map<string, { count: number; quads: number }>();
  private isKept = false;

  get size(): number {
    return this.noted.size;
  }

  /** Records changes that are about to be written. */
  stage({ graphs }: Changes): void {
    for (const [graph, { triples }] of graphs) {
      const quads = Math.max(triples.before, triples.after);
      const count = (this.unsettled.get(graph)?.count ?? 0) + 1;
      this.unsettled.set(graph, { count, quads });
      this.note({ graph, quads });
    }
  }

  /** Records that the changes are on disk. */
  settle({ graphs }: Changes): void {
    for (const [graph, { triples }] of graphs) this.end(graph, triples.after);
  }

  /** Records that the changes were not written, or may not have been written. */
  drop({ graphs }: Changes): void {
    for (const graph of graphs.keys()) this.end(graph, undefined);
  }

  /** Ends one pending change of a graph. @param after count of quads after it, or `undefined` if it may not be on disk */
  private end(graph: string, after: number | undefined): void {
    const { count, quads } = this.unsettled.get(graph) ?? { count: 1, quads: 0 };
    if (count > 1) this.unsettled.set(graph, { count: count - 1, quads });
    else this.unsettled.delete(graph);
    this.note({
      graph,
      quads: count === 1 && after !== undefined ? after : quads,
      isEmpty: count === 1 && after === 0,
    });
  }

  /** Starts recording. Returns the current sequence number: snapshots taken later lack only changes recorded after it. */
  begin(): number {
    this.isKept = true;
    const { sequence } = this;
    for (const [graph, { quads }] of this.unsettled) this.note({ graph, quads });
    return sequence;
  }

  /** Records graphs that changed before the recording started. @param quads approximate count for each graph */
  add(graphs: readonly string[], quads: number): void {
    for (const graph of graphs) this.note({ graph, quads });
  }

  /** Removes the graphs whose last sequence number is at most `upTo`. */
  forget(upTo: number): void {
    this.log = this.log.filter((noted) => noted.sequence > upTo && this.noted.get(noted.graph) === noted);
    for (const [graph, { sequence, quads }] of this.noted) {
      if (sequence > upTo) continue;
      this.noted.delete(graph);
      this.quads -= quads;
    }
  }

  /** Removes all records and stops recording until `begin`. */
  stop(): void {
    this.forget(this.sequence);
    this.isKept = false;
  }

  /** Returns the graphs that were recorded after a sequence number. */
  since(sequence: number): GraphChanges {
    let at = this.log.length;
    const graphs: (readonly [string, number, boolean])[] = [];
    while (at > 0 && this.log[at - 1]!.sequence > sequence) {
      const noted = this.log[--at]!;
      if (this.noted.get(noted.graph) === noted) graphs.push([noted.graph, noted.sequence, noted.isEmpty]);
    }
    return { graphs, unsettled: [...this.unsettled.keys()] };
  }

  private note({ graph, quads, isEmpty = false }: Pick<Noted, 'graph' | 'quads'> & Partial<Noted>): void {
    const sequence = ++this.sequence;
    if (!this.isKept) return;
    const noted = { graph, sequence, quads, isEmpty };
    this.quads += quads - (this.noted.get(graph)?.quads ?? 0);
    this.noted.set(graph, noted);
    this.log.push(noted);
    if (this.log.length > 2 * this.noted.size + 1000)
      this.log = this.log.filter((each) => this.noted.get(each.graph) === each);
  }
}
