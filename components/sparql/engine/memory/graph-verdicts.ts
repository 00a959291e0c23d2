/** Which graphs of an index are open, by number, each decided once in a query. It must not know quads. */
import type { GraphGate } from '../graph-gate.js';
import type { TermIds } from './term-ids.js';

const [open, closed] = [1, 2];

export class GraphVerdicts {
  /** By the number of the graph; 0: not known. */
  private readonly verdicts: Uint8Array;
  private readonly undecided = new Set<number>();

  constructor(
    private readonly gate: GraphGate,
    private readonly terms: TermIds,
  ) {
    this.verdicts = new Uint8Array(terms.size);
  }

  /** `undefined`: it has to be asked for. */
  isOpen(graph: number): boolean | undefined {
    const verdict = this.verdicts[graph]!;
    if (verdict !== 0) return verdict === open;
    const isOpen = this.gate.isOpen(this.terms.tokenOf(graph));
    if (isOpen !== undefined) this.verdicts[graph] = isOpen ? open : closed;
    return isOpen;
  }

  /** Notes a graph to be asked for. */
  note(graph: number): void {
    this.undecided.add(graph);
  }

  /** Asks for those that are noted. */
  async ask(): Promise<void> {
    const graphs = [...this.undecided].map((graph) => this.terms.tokenOf(graph));
    this.undecided.clear();
    await this.gate.ask(graphs);
  }
}
