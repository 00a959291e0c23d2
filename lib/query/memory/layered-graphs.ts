/**
 * Which graphs changed since some moment: each change has a sequence number. A graph is noted before a snapshot can have its change, and
 * again when the change is on the disk. It must not know who asks for what, or what is in the graphs.
 */
import type { Transaction } from '../../storage/transactions/transaction.js';
import type { GraphChanges } from './memory-layers.js';

interface Noted {
  readonly graph: string;
  readonly sequence: number;
  readonly quads: number;
}

type Changes = Pick<Transaction, 'graphs'>;

export class LayeredGraphs {
  /** The number of the last change. */
  sequence = 0;
  /** Quads of the noted graphs, before or after their change, whichever are more. */
  quads = 0;
  private readonly noted = new Map<string, Noted>();
  /** The same in the order of the numbers, with outdated entries of graphs that changed again. */
  private log: Noted[] = [];
  /** Graphs with changes on their way to the disk, and how many of these each has. */
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
      this.note(graph, quads);
    }
  }

  /** The changes are on the disk, or were dropped. */
  settle({ graphs }: Changes): void {
    for (const graph of graphs.keys()) {
      const { count, quads } = this.unsettled.get(graph) ?? { count: 1, quads: 0 };
      if (count === 1) this.unsettled.delete(graph);
      else this.unsettled.set(graph, { count: count - 1, quads });
      this.note(graph, quads);
    }
  }

  /**
   * Begins to keep which graphs change. Returns a number: each snapshot that is taken from here on has all changes, except those of graphs
   * that are noted with a greater number.
   */
  begin(): number {
    this.isKept = true;
    const { sequence } = this;
    for (const [graph, { quads }] of this.unsettled) this.note(graph, quads);
    return sequence;
  }

  /** Notes graphs that changed before it was kept which do. @param quads of each, about */
  add(graphs: readonly string[], quads: number): void {
    for (const graph of graphs) this.note(graph, quads);
  }

  /** Forgets the graphs whose last number is `upTo` or less. */
  forget(upTo: number): void {
    this.log = this.log.filter((noted) => noted.sequence > upTo && this.noted.get(noted.graph) === noted);
    for (const [graph, { sequence, quads }] of this.noted) {
      if (sequence > upTo) continue;
      this.noted.delete(graph);
      this.quads -= quads;
    }
  }

  /** Forgets everything, and keeps nothing until `begin`. */
  end(): void {
    this.forget(this.sequence);
    this.isKept = false;
  }

  /** The graphs that changed after the change of this number. */
  since(sequence: number): GraphChanges {
    let at = this.log.length;
    const graphs: (readonly [string, number])[] = [];
    while (at > 0 && this.log[at - 1]!.sequence > sequence) {
      const noted = this.log[--at]!;
      if (this.noted.get(noted.graph) === noted) graphs.push([noted.graph, noted.sequence]);
    }
    return { graphs, unsettled: [...this.unsettled.keys()] };
  }

  private note(graph: string, quads: number): void {
    const sequence = ++this.sequence;
    if (!this.isKept) return;
    const noted = { graph, sequence, quads };
    this.quads += quads - (this.noted.get(graph)?.quads ?? 0);
    this.noted.set(graph, noted);
    this.log.push(noted);
    if (this.log.length > 2 * this.noted.size + 1000)
      this.log = this.log.filter((each) => this.noted.get(each.graph) === each);
  }
}
