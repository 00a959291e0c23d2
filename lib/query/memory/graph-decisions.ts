/** Readable graphs of an index, by number. Each is decided once in a query. */
import type { GraphFilter } from '../access/graph-filter.js';
import type { TermIds } from './term-ids.js';

const [open, closed] = [1, 2];
/** Graphs per page. Pages are allocated when needed, so that a query over few graphs does not pay for all. */
const pageBits = 12;
const pageLength = 1 << pageBits;

export class GraphDecisions {
  /** Number of graphs for which the filter was asked. */
  decided = 0;
  /** Verdicts by graph number; 0: not known. */
  private readonly pages: (Uint8Array | undefined)[];
  private readonly undecided = new Set<number>();

  /** @param tell returns known verdicts without asking the filter */
  constructor(
    private readonly gate: GraphFilter,
    private readonly terms: TermIds,
    private readonly tell: (graph: number) => boolean | undefined = () => undefined,
  ) {
    this.pages = new Array<undefined>((terms.size >>> pageBits) + 1).fill(undefined);
  }

  /** True if no graph requires the authorizer. */
  get isDecided(): boolean {
    return this.gate.isExact;
  }

  /** Returns `undefined` if the authorizer must be asked first (`note`, `ask`). */
  isOpen(graph: number): boolean | undefined {
    let page = this.pages[graph >>> pageBits];
    if (!page) {
      page = new Uint8Array(Math.min(pageLength, this.terms.size));
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

  /** Adds a graph to the next `ask`. */
  note(graph: number): void {
    this.undecided.add(graph);
  }

  /** Asks the authorizer to decide the noted graphs. */
  async ask(): Promise<void> {
    const graphs = [...this.undecided].map((graph) => this.terms.termKey(graph));
    this.undecided.clear();
    await this.gate.ask(graphs);
  }
}
