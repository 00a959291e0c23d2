/**
 * Evaluates an update of one graph or of several named graphs over one state. Each operation reads the effects of earlier
 * operations. Returns the changes without writing them. Must not depend on the caller, or on resources.
 */
import type { Algebra } from '@comunica/utils-algebra';
import { freshLabels } from '../rdf/blank-nodes.js';
import { only, unionOfRanges } from '../storage/keys/iri-ranges.js';
import { keyInGraph } from '../storage/keys/quad-keys.js';
import { getOrMake } from '../tools/collections.js';
import { LwsError, patchConflict } from '../tools/errors.js';
import type { EmptyGraphs } from './access/empty-graphs.js';
import { type DatasetGraphs, graphFilter } from './access/graph-filter.js';
import { wholeKey } from './access/key-reader.js';
import type { ReadableGraphs } from './access/readable-graphs.js';
import { isIri } from './access/terms.js';
import type { TripleKeys } from './access/triple-terms.js';
import { type ChangedGraph, ChangedGraphs, type ChangedGraphsOptions } from './changed-graphs.js';
import { subjectsOf } from './dataset.js';
import { instances, isStorable } from './operators/graph-results.js';
import { startRun } from './operators/run.js';
import type { UpdateStep } from './parse/read-update.js';
import { MalformedTermError, NotCompiledError } from './plan/compile-scope.js';
import { type CompiledUpdate, compileUpdate, type GraphTemplate } from './plan/compile-template.js';
import type { Plan, Row } from './plan/plan.js';
import { runStep } from './query-source.js';

/** Dataset of the caller with the graphs that the update has created, which later operations of the update can read. */
interface ChangedDataset {
  readonly dataset: DatasetGraphs;
  /** Returns the current empty graphs. @param before empty graphs of the initial state */
  changedEmpty(before: EmptyGraphs): EmptyGraphs;
}

function withChanges({ readable, defaultGraphs, namedGraphs }: DatasetGraphs, graphs: ChangedGraphs): ChangedDataset {
  const made = new Set(graphs.all.filter(({ isSeen }) => isSeen).map(({ iri }) => iri));
  const dataset = {
    readable: made.size === 0 ? readable : readableToo(readable, made),
    ...(defaultGraphs ? { defaultGraphs } : {}),
    ...(namedGraphs ? { namedGraphs } : {}),
  };
  const isEmpty = ({ exists, triples }: ChangedGraph): boolean => exists && triples === 0;
  return {
    dataset,
    changedEmpty(before) {
      const gate = graphFilter(dataset, 'named');
      return {
        async all() {
          const own = graphs.all.filter(isEmpty).map(({ iri }) => iri);
          await gate.decide(own);
          const others = (await before.all()).filter((graph) => !graphs.known(graph));
          return [...others, ...own.filter((graph) => gate.isOpen(graph))];
        },
        async has(graph) {
          const known = graphs.known(graph);
          if (!known) return before.has(graph);
          await gate.decide([graph]);
          return gate.isOpen(graph) === true && isEmpty(known);
        },
      };
    },
  };
}

function readableToo(readable: ReadableGraphs, made: ReadonlySet<string>): ReadableGraphs {
  return {
    all: readable.all,
    ...(readable.isExact === undefined ? {} : { isExact: readable.isExact }),
    ranges() {
      const ranges = readable.ranges?.();
      return ranges && unionOfRanges([...ranges, ...[...made].map(only)]);
    },
    known: (graph) => made.has(graph) || readable.known(graph),
    resolve: (graphs) => readable.resolve(graphs.filter((graph) => !made.has(graph))),
  };
}

export interface UpdateOptions extends DatasetGraphs, ChangedGraphsOptions {
  /** Graph of triples outside of GRAPH, for an update of one graph. Absent: every changed triple names its graph. */
  readonly graph?: string;
  /** Maximum count of solutions of all WHERE clauses. */
  readonly maxSolutions: number;
  /** Maximum length of the keys that one operation inserts or deletes, in characters. */
  readonly maxMade: number;
  /** True to fail unless each WHERE has exactly one solution and all removed triples exist (N3 Patch). */
  readonly isStrict?: boolean;
  /** Function that is called for every block. Throws to stop the work. */
  readonly assertTime: () => void;
}

/**
 * Runs operations.
 * @throws LwsError `too-complex` over a limit. For an operation that cannot be compiled: `too-complex`, or for one graph
 * `unsupported-rdf` or `malformed-body`. `not-found` if the source graph of a copy does not exist or is not readable.
 * `already-exists` for a graph that the update itself has created. As `encodeTerm` for a term that cannot be stored.
 * `patch-conflict` for a strict update that does not apply
 */
export async function computeUpdate(steps: readonly UpdateStep[], options: UpdateOptions): Promise<ChangedGraphs> {
  const graphs = new ChangedGraphs(options);
  const run = new GraphsUpdate(graphs, options);
  try {
    for (const step of steps) {
      options.assertTime();
      await run.step(step);
    }
  } catch (error) {
    const isOne = options.graph !== undefined;
    if (error instanceof MalformedTermError)
      throw new LwsError(isOne ? 'malformed-body' : 'malformed-query', `The update is not valid: ${error.message}.`, {
        cause: error,
      });
    if (error instanceof NotCompiledError)
      throw new LwsError(isOne ? 'unsupported-rdf' : 'too-complex', `The update is not supported. ${error.message}.`, {
        cause: error,
      });
    // Compilers are recursive, and the depth of a sequence of operations equals its length.
    if (error instanceof RangeError)
      throw new LwsError(
        isOne ? 'malformed-body' : 'too-complex',
        'The update is nested too deeply, or has too many operations.',
        { cause: error },
      );
    throw error;
  }
  return graphs;
}

interface Transfer extends Algebra.Operation {
  readonly source: { readonly value: string };
  readonly destination: { readonly value: string };
  readonly silent?: boolean;
}

class GraphsUpdate {
  private readonly freshLabel = freshLabels();
  private solutions = 0;

  constructor(
    private readonly graphs: ChangedGraphs,
    private readonly options: UpdateOptions,
  ) {}

  step(step: UpdateStep): Promise<void> {
    return runStep(step, (operation) => this.run(operation, step.base));
  }

  private async run(operation: Algebra.Operation, base: string): Promise<void> {
    const { type } = operation;
    if (type === 'compositeupdate') {
      for (const each of (operation as Algebra.CompositeUpdate).updates) await this.run(each, base);
      return;
    }
    if (type === 'nop') return;
    if (type === 'deleteinsert') return this.change(operation as Algebra.DeleteInsert, base);
    const { source, silent = false } = operation as Transfer;
    if (type === 'create') await this.create(source.value, silent);
    else if (type === 'clear' || type === 'drop') await this.empty(source.value, type === 'drop', silent);
    else await this.transfer(operation as Transfer);
  }

  private async change(operation: Algebra.DeleteInsert, base: string): Promise<void> {
    const { where } = operation;
    const from = where?.type === 'from' ? (where as Algebra.From) : undefined;
    const own = from ? { ...operation, where: from.input } : operation;
    const { graph, maxMade, isStrict } = this.options;
    const compiled = compileUpdate(own as Algebra.DeleteInsert, { base, graph });
    const dataset = from && { defaultGraphs: namesOf(from.default), namedGraphs: namesOf(from.named) };
    // All solutions are collected before any change. Then triples are removed, and afterwards inserted.
    const change = new QuadChange(compiled, this.graphs, { graph, maxMade, isStrict, freshLabel: this.freshLabel });
    if (compiled.plan)
      await this.eachSolution({ ...compiled, plan: compiled.plan, where: own.where! }, dataset, (row) =>
        change.take(row),
      );
    else change.take([]);
    if (isStrict && compiled.plan && this.solutions !== 1) throw patchConflict('its conditions have no solution');
    await change.apply();
  }

  private async eachSolution(
    { where, ...update }: CompiledUpdate & { readonly plan: Plan; readonly where: Algebra.Operation },
    clauses: Omit<DatasetGraphs, 'readable'> | undefined,
    take: (row: Row) => void,
  ): Promise<void> {
    const { graphs, options } = this;
    const { state, assertTime } = options;
    const given = options.defaultGraphs || options.namedGraphs ? options : { ...options, ...clauses };
    const { dataset, changedEmpty } = withChanges(given, graphs);
    const matches = await state.matches(dataset, where, graphs.changed(subjectsOf(where)));
    const emptyBefore = state.emptyGraphs?.(dataset);
    const empty = emptyBefore && changedEmpty(emptyBefore);
    const run = startRun({ matches, emptyGraphs: empty, assertTime }, update);
    try {
      for await (const rows of run.rows) {
        assertTime();
        this.solutions += rows.length;
        if (options.isStrict && this.solutions > 1) throw patchConflict('its conditions have more than one solution');
        if (this.solutions > options.maxSolutions)
          throw new LwsError(
            'too-complex',
            `The WHERE of the update has more than ${options.maxSolutions} solutions (lws.sparql.endpoint.max-results). Make it more selective.`,
          );
        for (const row of rows) take(row);
      }
    } finally {
      await run.close();
    }
  }

  private async create(iri: string, silent: boolean): Promise<void> {
    const known = this.graphs.known(iri);
    await this.graphs.meet([iri]);
    const graph = this.graphs.graph(iri);
    graph.needs.puts = true;
    if (!silent && known?.exists)
      throw new LwsError('already-exists', `The update has already created the graph ${iri}.`);
    if (!silent && !known) graph.needs.makes = true;
    graph.exists = true;
  }

  private async empty(iri: string, drops: boolean, silent: boolean): Promise<void> {
    const known = this.graphs.known(iri);
    await this.graphs.meet([iri]);
    const graph = this.graphs.graph(iri);
    if (drops) graph.needs.drops = true;
    if (!silent && known && !known.exists) throw absent(iri);
    if (!silent && !known) graph.needs.finds = true;
    if (!graph.exists) return;
    graph.clear();
    if (drops) graph.exists = false;
  }

  /** Executes ADD, COPY, MOVE or LOAD. */
  private async transfer({ type, source, destination, silent = false }: Transfer): Promise<void> {
    const [from, to] = [source.value, destination.value];
    if (!(await this.canRead(from))) {
      if (silent) return;
      throw absent(from);
    }
    if (from === to) return;
    await this.graphs.meet([to]);
    const target = this.graphs.graph(to);
    target.needs.puts = true;
    if (type === 'copy' || type === 'move') target.clear();
    target.exists = true;
    for await (const keys of this.graphs.keysOf(from)) for (const key of keys) target.insert(keyInGraph(key, to));
    if (type === 'move') await this.empty(from, true, false);
  }

  private async canRead(iri: string): Promise<boolean> {
    const known = this.graphs.known(iri);
    if (!(known ? known.exists : this.graphs.record(iri)?.kind === 'rdf')) return false;
    const { readable } = withChanges(this.options, this.graphs).dataset;
    if (readable.known(iri) === undefined) await readable.resolve([iri]);
    return readable.known(iri) === true;
  }
}

const absent = (iri: string): LwsError =>
  new LwsError('not-found', `Graph ${iri.slice(0, 200)} does not exist, or you are not allowed to see it.`);

const namesOf = (terms: readonly { readonly value: string }[]): readonly string[] => terms.map(({ value }) => value);

interface QuadChangeOptions {
  /** IRI of the graph if the update applies to one graph. `undefined` if templates name their graphs. */
  readonly graph: string | undefined;
  /** Remaining length of the keys that the operation may insert or delete, in characters. */
  readonly maxMade: number;
  /** True to fail if a removed triple does not exist, or an inserted triple is not valid RDF. */
  readonly isStrict?: boolean | undefined;
  readonly freshLabel: () => string;
}

interface Taking {
  readonly row: Row;
  readonly labelOf: (label: string) => string;
  readonly isWanted: (triple: TripleKeys) => boolean;
  /** True if the keys of the row are charged to `maxMade`. */
  readonly counts: boolean;
}

/** Collects the removals and insertions of one operation, then applies all of them. */
class QuadChange {
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
    // In an update of one graph, only insertions with a WHERE are charged. Removals with a WHERE name existing triples, and the
    // length of the update limits triples without variables.
    const isOne = this.options.graph !== undefined;
    this.takeInto(removed, update.removed, { row, labelOf: noLabels, isWanted: () => true, counts: !isOne });
    // SPARQL 1.1 Update 3.1.3: invalid triples are not inserted, and each solution has new blank nodes.
    const own = new Map<string, string>();
    const labelOf = (label: string): string => getOrMake(own, label, this.options.freshLabel);
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
        if (!this.graphs.had(this.graphs.graph(iri), key)) throw patchConflict('it removes triples that do not exist');
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
          if (this.options.isStrict) throw patchConflict('it inserts a triple that is not valid RDF');
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

const tooMuch = ({ maxMade }: QuadChangeOptions): LwsError =>
  new LwsError(
    'too-complex',
    `The operation exceeds the limit of ${maxMade} characters of triples. The limit is fixed. Make its WHERE more selective, or split it.`,
  );

const noLabels = (): never => {
  throw new Error('DELETE has no blank nodes.');
};
