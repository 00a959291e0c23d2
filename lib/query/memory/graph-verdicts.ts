/** Which graphs of an index are open, by number, each decided once in a query. */
import type { GraphGate } from '../access/graph-gate.js';
import type { TermIds } from './term-ids.js';

const [open, closed] = [1, 2];
/** Numbers of a page: a query that meets few graphs does not pay for all. */
const pageBits = 12;
const pageLength = 1 << pageBits;

export class GraphVerdicts {
  /** Graphs that the gate had to be asked about. */
  decided = 0;
  /** By the number of the graph; 0: not known. */
  private readonly pages: (Uint8Array | undefined)[];
  private readonly undecided = new Set<number>();

  /** @param tell says of some graphs whether they are open, quicker than the gate */
  constructor(
    private readonly gate: GraphGate,
    private readonly terms: TermIds,
    private readonly tell: (graph: number) => boolean | undefined = () => undefined,
  ) {
    this.pages = new Array<undefined>((terms.size >>> pageBits) + 1).fill(undefined);
  }

  /** `undefined`: it has to be asked for. */
  isOpen(graph: number): boolean | undefined {
    let page = this.pages[graph >>> pageBits];
    if (!page) {
      page = new Uint8Array(pageLength);
      this.pages[graph >>> pageBits] = page;
    }
    const verdict = page[graph & (pageLength - 1)]!;
    if (verdict !== 0) return verdict === open;
    let isOpen = this.tell(graph);
    if (isOpen === undefined) {
      this.decided++;
      isOpen = this.gate.isOpen(this.terms.tokenOf(graph));
    }
    if (isOpen !== undefined) page[graph & (pageLength - 1)] = isOpen ? open : closed;
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
