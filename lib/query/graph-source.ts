/**
 * One graph as a query source of Comunica's that updates change: its keys in memory, WHERE by the plan over them, two templates, and the
 * difference taken in.
 */
import { KeysInitQuery } from '@comunica/context-entries';
import type { IQuerySource } from '@comunica/types';
import type { Algebra } from '@comunica/utils-algebra';
import { LwsError } from '../errors.js';
import { freshLabels } from '../rdf/blank-nodes.js';
import { sortKeys } from '../storage/graphs/key-order.js';
import { keyLists } from './access/key-lists.js';
import { wholeKey } from './access/key-reader.js';
import { quadMatches } from './access/quad-matches.js';
import { instances, isStorable, type TripleTokens } from './operators/graph-results.js';
import { startRun } from './operators/run.js';
import { NotCompiledError } from './plan/compile-scope.js';
import { type CompiledUpdate, compileUpdate } from './plan/compile-template.js';
import type { Plan, Row } from './plan/plan.js';
import { wholeOperations } from './whole-operations.js';

export interface GraphSourceOptions {
  /** The name of the graph. */
  readonly graph: string;
  /** Its GSPO keys. */
  readonly keys: readonly string[];
  /** Called in every block; throws when the work has to end. */
  readonly assertTime?: () => void;
}

export interface GraphSource extends IQuerySource {
  /** The GSPO keys of the graph as it is now, in order. */
  result(): string[];
}

/** A source for the updates of one request, each of which sees what those before it did. */
export function graphSource({ graph, keys, assertTime = () => {} }: GraphSourceOptions): GraphSource {
  const state = new Set(keys);
  const keyOf = ([subject, predicate, object]: TripleTokens): string => wholeKey([subject, predicate, object, graph]);
  const freshLabel = freshLabels();
  /** A solution has blank nodes of its own (SPARQL 1.1 Update 3.1.3). */
  const labels = (): ((label: string) => string) => {
    const known = new Map<string, string>();
    return (label) => {
      const own = known.get(label) ?? freshLabel();
      known.set(label, own);
      return own;
    };
  };
  async function change(update: CompiledUpdate): Promise<void> {
    // Every solution is of the state before; what is removed is removed first.
    const [removed, added] = [new Set<string>(), new Set<string>()];
    let made = 0;
    const take = (row: Row): void => {
      for (const triple of instances(update.removed, row, noLabels)) removed.add(keyOf(triple));
      // SPARQL 1.1 Update 3.1.3: illegal constructs are not inserted. Those that are there already may be removed.
      for (const triple of instances(update.added, row, labels())) {
        if (!isStorable(triple)) continue;
        const key = keyOf(triple);
        made += key.length;
        added.add(key);
      }
      // Data are as long as their text; solutions can multiply what is written.
      if (update.plan && made > maxMade) throw tooMuch();
    };
    if (update.plan) await eachSolution({ ...update, plan: update.plan }, take);
    else take([]);
    for (const key of removed) state.delete(key);
    for (const key of added) state.add(key);
  }
  async function eachSolution(update: Solutions, take: (row: Row) => void): Promise<void> {
    const run = startRun({ matches: quadMatches(wholeGraph(graph), keyLists(state, assertTime)), assertTime }, update);
    try {
      for await (const rows of run.rows) {
        assertTime();
        for (const row of rows) take(row);
      }
    } finally {
      await run.close();
    }
  }
  return {
    referenceValue: 'urn:quadpod:graph',
    getFilterFactor: async () => 1,
    getSelectorShape: async () => wholeOperations,
    queryBindings: updatesAlone,
    queryQuads: updatesAlone,
    queryBoolean: updatesAlone,
    async queryVoid(operation, context) {
      const base = context.getSafe(KeysInitQuery.baseIRI);
      for (const part of partsOf(operation)) await change(compiledOrRefused(part, base));
    },
    toString: () => 'graph',
    result: () => sortKeys([...state]),
  };
}

/** Characters of keys that solutions may make: the storage holds them several times while it writes them. */
const maxMade = 16 << 20;
const tooMuch = (): LwsError =>
  new LwsError(
    'too-complex',
    `The update makes more than ${maxMade} characters of triples. Make its WHERE narrower, or split it.`,
  );

/** What gives the solutions of a WHERE. */
type Solutions = CompiledUpdate & { readonly plan: Plan };

const wholeGraph = (graph: string) => ({
  readable: { all: true, known: () => true, resolve: async () => {} },
  defaultGraphs: [graph],
  namedGraphs: [],
});

const noLabels = (): never => {
  throw new Error('DELETE has no blank nodes.');
};
const updatesAlone = (): never => {
  throw new Error('The graph is updated here, not asked.');
};

function partsOf(operation: Algebra.Operation): readonly Algebra.Operation[] {
  if (operation.type === 'compositeupdate') return (operation as Algebra.CompositeUpdate).updates;
  // An update of no operation at all.
  return operation.type === 'nop' ? [] : [operation];
}

function compiledOrRefused(operation: Algebra.Operation, base: string): CompiledUpdate {
  try {
    if (operation.type !== 'deleteinsert') throw new NotCompiledError(operation.type);
    return compileUpdate(operation as Algebra.DeleteInsert, base);
  } catch (error) {
    if (error instanceof NotCompiledError)
      throw new LwsError('unsupported-rdf', `The update is not possible here. ${error.message}`, { cause: error });
    throw error;
  }
}
