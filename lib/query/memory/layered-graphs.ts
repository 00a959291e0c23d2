/**
 * Tracks changed graphs: each change has a sequence number. A graph is recorded before a snapshot can include its change, and
 * again when the change is on disk. Must not depend on queries or on the content of graphs.
 */
import type { Transaction } from '../../storage/transactions/transaction.js';
import type { GraphChanges } from './memory-layers.js';

interface Noted {
  readonly graph: string;
  readonly sequence: number;
  readonly quads: number;
  /** The change is on disk and left no quads. */
  readonly isEmpty: boolean;
}

type Changes = Pick<Transaction, 'graphs'>;

export class LayeredGraphs {
  /** Number of the last change. */
  sequence = 0;
  /** Number of quads of the recorded graphs. During a change, of the state before or after it, whichever has more. */
  quads = 0;
  private readonly noted = new Map<string, Noted>();
  /** The same in the order of the numbers, with outdated entries of graphs that changed again. */
  private log: Noted[] = [];
  /** Graphs with pending changes, with the number of changes. */
  private readonly unsettled = new Map<string, { count: number; quads: number }>();
  private isKept = false;

  get size(): number {
    return this.noted.size;
  }

  /** The changes are about to be written. */
  stage({ graphs }: Changes): void {
    for (const [graph, { triples }] of graphs) {
      const quads = Math.max(triples.before, triples.after);
      const count = (this.unsettled.get(graph)?.count ?? 0) + 1;
      this.unsettled.set(graph, { count, quads });
      this.note({ graph, quads });
    }
  }

  /** The changes are on disk. */
  settle({ graphs }: Changes): void {
    for (const [graph, { triples }] of graphs) this.end(graph, triples.after);
  }

  /** The changes were not written, or it is not known if they were. */
  drop({ graphs }: Changes): void {
    for (const graph of graphs.keys()) this.end(graph, undefined);
  }

  /** Ends one change of a graph. @param after number of quads, if the change is on disk */
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

  /** Starts recording. Returns a number: each later snapshot includes all changes, except those of graphs recorded with a greater number. */
  begin(): number {
    this.isKept = true;
    const { sequence } = this;
    for (const [graph, { quads }] of this.unsettled) this.note({ graph, quads });
    return sequence;
  }

  /** Records graphs that changed before the recording started. @param quads approximate number for each graph */
  add(graphs: readonly string[], quads: number): void {
    for (const graph of graphs) this.note({ graph, quads });
  }

  /** Removes the graphs with a last number of at most `upTo`. */
  forget(upTo: number): void {
    this.log = this.log.filter((noted) => noted.sequence > upTo && this.noted.get(noted.graph) === noted);
    for (const [graph, { sequence, quads }] of this.noted) {
      if (sequence > upTo) continue;
      this.noted.delete(graph);
      this.quads -= quads;
    }
  }

  /** Removes everything and stops recording until `begin`. */
  stop(): void {
    this.forget(this.sequence);
    this.isKept = false;
  }

  /** Returns the graphs that changed after the change with this number. */
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
