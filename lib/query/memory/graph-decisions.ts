/** Caches whether the caller can read the graphs of an index, by graph ID: for one query, or for all queries with equal ranges. */
import type { IriRange } from '../../storage/keys/iri-ranges.js';
import { getOrMake } from '../../tools/collections.js';
import type { GraphFilter } from '../access/graph-filter.js';
import type { TermIds } from './term-ids.js';

const [open, closed] = [1, 2];
/** Bits of a page's size in graphs. Pages are allocated at the first use, so that a query of few graphs needs few. */
const pageBits = 12;
const pageLength = 1 << pageBits;
type Pages = (Uint8Array | undefined)[];

/** Pages of the last callers whose ranges decide every graph, latest first. The ranges of a caller are the same array. */
const remembered = new WeakMap<TermIds, (readonly [ranges: readonly IriRange[], pages: Pages])[]>();
const maxRemembered = 8;

function pagesOf(filter: GraphFilter, terms: TermIds): Pages {
  const ranges = filter.isExact ? filter.ranges() : undefined;
  if (!ranges) return [];
  const all = getOrMake(remembered, terms, () => []);
  const at = all.findIndex(([each]) => each === ranges);
  const found = at < 0 ? ([ranges, [] as Pages] as const) : all.splice(at, 1)[0]!;
  all.unshift(found);
  all.length = Math.min(all.length, maxRemembered);
  return found[1];
}

export class GraphDecisions {
  /** Count of graphs for which the filter was called. */
  decided = 0;
  /** Decisions by graph ID: `open`, `closed`, or 0 if not decided yet. */
  private readonly pages: Pages;
  private readonly undecided = new Set<number>();

  /** @param tell returns the decision for a graph if it is known without the filter, otherwise `undefined` */
  constructor(
    private readonly gate: GraphFilter,
    private readonly terms: TermIds,
    private readonly tell: (graph: number) => boolean | undefined = () => undefined,
  ) {
    this.pages = pagesOf(gate, terms);
  }

  /** True if the filter decides every graph without the authorizer. */
  get isDecided(): boolean {
    return this.gate.isExact;
  }

  /** Returns whether the graph is readable, or `undefined` if the authorizer must be asked first (`note`, `ask`). */
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

  /** Adds a graph to the graphs that the next `ask` decides. */
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
