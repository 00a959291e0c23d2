/**
 * Which graphs changed since some moment: each with a number that grows. A graph is noted before its change can be seen, and again
 * when it is on the disk. It must not know who asks for what, or what is in the graphs.
 */
import type { Transaction } from '../../storage/engine/transaction.js';
import type { GraphChanges } from './memory-layers.js';

interface Noted {
  readonly graph: string;
  readonly sequence: number;
  readonly quads: number;
}

type Changes = Pick<Transaction, 'graphs'>;

export class LayeredGraphs {
  /** The last number. */
  sequence = 0;
  /** Quads of the graphs, as they are now or were before. */
  quads = 0;
  private readonly noted = new Map<string, Noted>();
  /** The same in the order of the numbers, with some that are out of date. */
  private log: Noted[] = [];
  /** Graphs whose change is on its way to the disk, by how many changes there are. */
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

  /** The changes are on the disk, or never come there. */
  settle({ graphs }: Changes): void {
    for (const graph of graphs.keys()) {
      const { count, quads } = this.unsettled.get(graph) ?? { count: 1, quads: 0 };
      if (count === 1) this.unsettled.delete(graph);
      else this.unsettled.set(graph, { count: count - 1, quads });
      this.note(graph, quads);
    }
  }

  /**
   * Begins to keep what changes. Everything that is not noted with a greater number than the one that is returned is in each
   * snapshot that is taken from here on.
   */
  begin(): number {
    this.isKept = true;
    const { sequence } = this;
    for (const [graph, { quads }] of this.unsettled) this.note(graph, quads);
    return sequence;
  }

  /** Forgets what is not noted with a greater number. */
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

  /** What changed since. */
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
