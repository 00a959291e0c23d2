/** Which graphs of an index are open, by number, each decided once in a query. */
import type { GraphFilter } from '../access/graph-filter.js';
import type { TermIds } from './term-ids.js';

const [open, closed] = [1, 2];
/** Graphs of a page; pages are made when needed, so that a query over few graphs does not pay for all. */
const pageBits = 12;
const pageLength = 1 << pageBits;

export class GraphVerdicts {
  /** How many graphs the gate had to be asked about. */
  decided = 0;
  /** Verdicts by the number of the graph; 0: not known. */
  private readonly pages: (Uint8Array | undefined)[];
  private readonly undecided = new Set<number>();

  /** @param tell says of some graphs whether they are open, without the cost of asking the gate */
  constructor(
    private readonly gate: GraphFilter,
    private readonly terms: TermIds,
    private readonly tell: (graph: number) => boolean | undefined = () => undefined,
  ) {
    this.pages = new Array<undefined>((terms.size >>> pageBits) + 1).fill(undefined);
  }

  /** `undefined`: the authorizer has to be asked (`note`, `ask`). */
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
      isOpen = this.gate.isOpen(this.terms.termKey(graph));
    }
    if (isOpen !== undefined) page[graph & (pageLength - 1)] = isOpen ? open : closed;
    return isOpen;
  }

  /** Notes a graph for the next `ask`. */
  note(graph: number): void {
    this.undecided.add(graph);
  }

  /** Has the authorizer decide the noted graphs. */
  async ask(): Promise<void> {
    const graphs = [...this.undecided].map((graph) => this.terms.termKey(graph));
    this.undecided.clear();
    await this.gate.ask(graphs);
  }
}
