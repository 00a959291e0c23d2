/** What one operation of an update removes and inserts: the instances of its templates. It must not know plans or who asks. */
import { LwsError } from '../errors.js';
import { wholeKey } from './access/key-reader.js';
import { isIri } from './access/terms.js';
import type { ChangedGraphs } from './changed-graphs.js';
import { instances, isStorable, type TripleTokens } from './operators/graph-results.js';
import type { CompiledGraphsUpdate, GraphTemplate } from './plan/compile-template.js';
import type { Row } from './plan/plan.js';

/** What one operation removes and inserts. */
export class QuadChange {
  private readonly removed = new Map<string, string>();
  private readonly added = new Map<string, string>();
  private made = 0;

  constructor(
    private readonly update: CompiledGraphsUpdate,
    private readonly graphs: ChangedGraphs,
    private readonly freshLabel: () => string,
  ) {}

  take(row: Row): void {
    const { update, removed, added } = this;
    this.takeInto(removed, update.removed, { row, labelOf: noLabels, isWanted: () => true });
    // SPARQL 1.1 Update 3.1.3: illegal constructs are not inserted, and a solution has blank nodes of its own.
    const own = new Map<string, string>();
    const labelOf = (label: string): string => {
      const known = own.get(label) ?? this.freshLabel();
      own.set(label, known);
      return known;
    };
    this.takeInto(added, update.added, { row, labelOf, isWanted: isStorable });
  }

  async apply(): Promise<void> {
    await this.graphs.meet(new Set([...this.removed.values(), ...this.added.values()]));
    for (const [key, iri] of this.removed) this.graphs.graph(iri).remove(key);
    for (const [key, iri] of this.added) {
      const graph = this.graphs.graph(iri);
      graph.needs.puts = true;
      graph.insert(key);
    }
  }

  private takeInto(
    keys: Map<string, string>,
    templates: readonly GraphTemplate[],
    {
      row,
      labelOf,
      isWanted,
    }: { row: Row; labelOf: (label: string) => string; isWanted: (triple: TripleTokens) => boolean },
  ): void {
    for (const { graph: place, template } of templates) {
      const graph = 'slot' in place ? row[place.slot] : 'token' in place ? place.token : undefined;
      if (graph === undefined || !isIri(graph)) continue;
      for (const triple of instances(template, row, labelOf)) {
        if (!isWanted(triple)) continue;
        const key = wholeKey([...triple, graph]);
        if (keys.has(key)) continue;
        keys.set(key, graph);
        this.made += key.length;
        if (this.made > maxMade) throw tooMuch();
      }
    }
  }
}

/** Characters of keys that one operation may name. */
const maxMade = 32 << 20;
const tooMuch = (): LwsError =>
  new LwsError(
    'too-complex',
    `One operation may name ${maxMade} characters of triples. Make its WHERE narrower, or CLEAR a graph as a whole.`,
  );

const noLabels = (): never => {
  throw new Error('DELETE has no blank nodes.');
};
