/** What one operation of an update removes and inserts: the instances of its templates. It must not know plans or who asks. */
import { LwsError } from '../errors.js';
import { wholeKey } from './access/key-reader.js';
import { isIri } from './access/terms.js';
import type { ChangedGraphs } from './changed-graphs.js';
import { instances, isStorable, type TripleTokens } from './operators/graph-results.js';
import type { CompiledUpdate, GraphTemplate } from './plan/compile-template.js';
import type { Row } from './plan/plan.js';

export interface QuadChangeOptions {
  /** The one graph that the update is of. */
  readonly graph: string | undefined;
  /** Characters of keys that the operation may name. */
  readonly maxMade: number;
  /** What is removed is there, and what is inserted can be stored. */
  readonly isStrict?: boolean | undefined;
  readonly freshLabel: () => string;
}

interface Taking {
  readonly row: Row;
  readonly labelOf: (label: string) => string;
  readonly isWanted: (triple: TripleTokens) => boolean;
  /** They count as made. */
  readonly counts: boolean;
}

/** What one operation removes and inserts. */
export class QuadChange {
  private readonly removed = new Map<string, string>();
  private readonly added = new Map<string, string>();
  private made = 0;

  constructor(
    private readonly update: CompiledUpdate,
    private readonly graphs: ChangedGraphs,
    private readonly options: QuadChangeOptions,
  ) {}

  take(row: Row): void {
    const { update, removed, added } = this;
    // Of one graph, what is removed was there, and data are as long as their text; solutions multiply what is inserted.
    const isOne = this.options.graph !== undefined;
    this.takeInto(removed, update.removed, { row, labelOf: noLabels, isWanted: () => true, counts: !isOne });
    // SPARQL 1.1 Update 3.1.3: illegal constructs are not inserted, and a solution has blank nodes of its own.
    const own = new Map<string, string>();
    const labelOf = (label: string): string => {
      const known = own.get(label) ?? this.options.freshLabel();
      own.set(label, known);
      return known;
    };
    this.takeInto(added, update.added, {
      row,
      labelOf,
      isWanted: isStorable,
      counts: !isOne || update.plan !== undefined,
    });
  }

  async apply(): Promise<void> {
    await this.graphs.meet(new Set([...this.removed.values(), ...this.added.values()]));
    if (this.options.isStrict)
      for (const [key, iri] of this.removed)
        if (this.graphs.had(this.graphs.graph(iri), key) === false) throw conflict('it removes what is not there');
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
    { row, labelOf, isWanted, counts }: Taking,
  ): void {
    for (const { graph: place, template } of templates) {
      const graph = 'slot' in place ? row[place.slot] : 'token' in place ? place.token : undefined;
      if (graph === undefined || !isIri(graph)) continue;
      for (const triple of instances(template, row, labelOf)) {
        if (!isWanted(triple)) {
          if (this.options.isStrict) throw conflict('it inserts what is no triple of RDF');
          continue;
        }
        const key = wholeKey([...triple, graph]);
        if (keys.has(key)) continue;
        keys.set(key, graph);
        if (counts) this.made += key.length;
        if (this.made > this.options.maxMade) throw tooMuch(this.options);
      }
    }
  }
}

/** A strict update does not apply (N3 Patch). */
export const conflict = (why: string): LwsError =>
  new LwsError('patch-conflict', `The patch does not apply: ${why}. Nothing was changed.`);

const tooMuch = ({ maxMade }: QuadChangeOptions): LwsError =>
  new LwsError(
    'too-complex',
    `One operation may name ${maxMade} characters of triples. Make its WHERE narrower, or split it.`,
  );

const noLabels = (): never => {
  throw new Error('DELETE has no blank nodes.');
};
