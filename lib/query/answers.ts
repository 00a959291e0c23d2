/** Runs queries and returns their results in blocks. Must not depend on result formats or on the caller. */

import type { IQuerySource } from '@comunica/types';
import type { Algebra } from '@comunica/utils-algebra';
import type { Quad, Term, Variable } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import { LwsError } from '../tools/errors.js';
import { emptyGraphs } from './access/empty-graphs.js';
import type { ViewStatistics } from './access/estimates.js';
import type { QuadMatches } from './access/quad-matches.js';
import { type TermKey, termCache } from './access/terms.js';
import type { TripleKeys } from './access/triple-terms.js';
import { BlockStream } from './block-stream.js';
import { type DatasetOptions, matchesOf } from './dataset.js';
import type { Memory } from './operators/execution.js';
import { type ExplainedPart, explained, type Observed } from './operators/explain.js';
import { graphTriples } from './operators/graph-results.js';
import { type Run, type RunOptions, startRun } from './operators/run.js';
import type { ReadQuery } from './parse/parse-query.js';
import { type Constants, withConstants } from './parse/query-shape.js';
import { bindConstants } from './plan/bind-constants.js';
import { type Compiled, compileQuery } from './plan/compile-query.js';
import { MalformedTermError, NotCompiledError } from './plan/compile-scope.js';
import type { Row } from './plan/plan.js';
import { contextOf, loadQueryEngine, type QueryEngine } from './query-engine.js';
import { makeBindings, querySource } from './query-source.js';

/** Options of `quadSource`. */
export interface QuadSourceOptions extends Omit<RunOptions, 'matches' | 'statistics' | 'counts'> {
  /** Opens the quads for a run. The run closes them. */
  readonly matches: () => QuadMatches;
  /** Base IRI for IRI(). */
  readonly base: string;
  /** Values of the operation's placeholders. */
  readonly constants?: Constants;
  /** The operation, if the engine passes on this object unchanged. The compiled plan is then cached. */
  readonly asked?: Algebra.Operation | undefined;
  /** Statistics of the readable quads, which later runs reuse. Absent: statistics are not kept. */
  readonly known?: ViewStatistics | undefined;
}

/** Blocks of rows of a SELECT, and the columns of the rows. */
export interface RowStream extends BlockStream<Row[], unknown> {
  readonly columns: Compiled['columns'];
}

export interface QuadSource extends IQuerySource {
  /** Runs started by the engine. */
  readonly runs: readonly (Run & { readonly compiled: Compiled })[];
  /** Stops running work. Must be called before the snapshot is closed. */
  close(): Promise<void>;
}

const dataFactory = new DataFactory<Quad>();

interface CachedPlan {
  readonly shape: Compiled;
  readonly constants: Constants;
  readonly bound: Compiled;
  /** Statistics of the bound plan. `id` only identifies the quads, so that outdated indexes can be freed. */
  statistics?: { readonly id: object; readonly memory: Memory };
}

/** Compiled plan of each cached shape (`parseQuery`), with the constants of its last query. */
const plans = new WeakMap<Algebra.Operation, CachedPlan>();

/** Returns the statistics of a cached plan over the same quads, or `undefined`. */
function statisticsOf(cached: CachedPlan | undefined, known: ViewStatistics | undefined): Memory | undefined {
  if (!cached || !known) return undefined;
  if (cached.statistics?.id !== known.id) cached.statistics = { id: known.id, memory: new Map() };
  return cached.statistics.memory;
}

/** Creates a source that compiles and runs operations of Comunica. If one cannot be compiled, methods throw `too-complex`. */
export function quadSource(options: QuadSourceOptions): QuadSource {
  const { base, constants = new Map(), asked, known } = options;
  const isTold = options.observer?.isRun === false;
  const runs: (Run & { readonly compiled: Compiled })[] = [];
  const compiledFor = (operation: Algebra.Operation): Compiled => {
    try {
      const cached = asked && plans.get(asked);
      if (cached?.constants === constants) return cached.bound;
      const shape = cached?.shape ?? compiledOrRefused(operation, base);
      const bound = bindConstants(shape, constants);
      if (asked && !shape.isOfMoment) plans.set(asked, { shape, constants, bound });
      return bound;
    } catch (error) {
      if (constants.size === 0) throw error;
      // The query is compiled with its constants, so that the error message contains the constants instead of placeholders.
      return compiledOrRefused(withConstants(operation, constants), base);
    }
  };
  const begun = (operation: Algebra.Operation): Run & { readonly compiled: Compiled } => {
    const compiled = compiledFor(operation);
    const cached = asked && plans.get(asked);
    const statistics = statisticsOf(cached?.bound === compiled ? cached : undefined, known);
    const begins = Object.assign({}, options, { statistics, counts: known?.counts, matches: options.matches() });
    const run = Object.assign(startRun(begins, compiled), { compiled });
    runs.push(run);
    return run;
  };
  const source = querySource('dataset', {
    queryBindings(operation) {
      const { compiled, rows } = begun(operation);
      return rowStream(compiled, rows) as never;
    },
    queryBoolean: async (operation) => !(await begun(operation).rows.next()).done,
    queryQuads(operation) {
      const { compiled, execution, rows } = begun(operation);
      // For an explanation, the plan returns no rows.
      const triples = isTold ? (rows as AsyncGenerator<never>) : graphTriples(execution, compiled.graph!, rows);
      return quadStream(triples) as never;
    },
  });
  return Object.assign(source, { runs, close: async () => void (await Promise.all(runs.map((run) => run.close()))) });
}

function compiledOrRefused(query: Algebra.Operation, base: string): Compiled {
  try {
    return compileQuery(query, base);
  } catch (error) {
    if (error instanceof MalformedTermError)
      throw new LwsError('malformed-query', `The query is not valid: ${error.message}.`, { cause: error });
    if (error instanceof NotCompiledError)
      throw new LwsError('too-complex', `The query is not supported. ${error.message}.`, { cause: error });
    throw error;
  }
}

function rowStream({ columns }: Compiled, rows: AsyncGenerator<Row[]>): RowStream {
  const variables = columns.map(([name, slot]) => [dataFactory.variable(name), slot] as const);
  const termAt = termCache();
  const bindingsOf = (row: Row): unknown => {
    const entries = variables.flatMap(([variable, slot]): [Variable, Term][] =>
      row[slot] === undefined ? [] : [[variable, termAt(row[slot])]],
    );
    return makeBindings(entries);
  };
  const stream = new BlockStream(rows, (block) => block.map(bindingsOf));
  return Object.assign(stream.announce(variables.map(([variable]) => variable)), { columns });
}

function quadStream(triples: AsyncGenerator<TripleKeys[]>): BlockStream<TripleKeys[], Quad> {
  const quadOf = tripleReader();
  return new BlockStream(triples, (block) => block.map(quadOf)).announce([]);
}

/** Returns a function that converts term keys to triples, with a cache for repeated IRIs. */
function tripleReader(): (triple: TripleKeys) => Quad {
  const termAt = termCache() as (token: TermKey) => never;
  return ([subject, predicate, object]) => dataFactory.quad(termAt(subject), termAt(predicate), termAt(object));
}

/** Dataset and limits of a query. */
export interface AskOptions
  extends DatasetOptions,
    Omit<RunOptions, 'matches' | 'emptyGraphs' | 'statistics' | 'counts'> {
  /** Loads the engine. Default: the engine composed in `query-actors`. */
  readonly loadEngine?: (() => Promise<QueryEngine>) | undefined;
}

/** Solution of a query: terms in the order of the query's variables. */
export type Solution = readonly (Term | undefined)[];

export interface QueryAnswers {
  /** Yields solutions of SELECT, in blocks. */
  rows(): AsyncIterable<Solution[]>;
  /** Returns the result of ASK. */
  truth(): Promise<boolean>;
  /** Yields distinct triples of CONSTRUCT and DESCRIBE, in blocks. */
  quads(): AsyncIterable<Quad[]>;
  /** Explains the compiled plan, with statistics if the plan has run. @param observed the `observer` of the options */
  explain(observed: Observed): Promise<ExplainedPart>;
  /** Stops running work. Must be called before the snapshot is closed. */
  close(): Promise<void>;
}

/**
 * Runs a query in Comunica's engine over one snapshot. The results throw LwsError `too-complex` for an operation that cannot be
 * compiled, and for too deep nesting.
 */
export function answersOf({ form, shape, constants, base }: ReadQuery, options: AskOptions): QueryAnswers {
  const assertTime = options.assertTime ?? (() => {});
  const { memory, readable, defaultGraphs, namedGraphs, loadEngine = loadQueryEngine } = options;
  // Both engines pass on operations unchanged, except DESCRIBE, which only the composed engine does.
  const asked = loadEngine === loadQueryEngine || form !== 'describe' ? shape : undefined;
  // The statistics depend on the graphs that the caller may read.
  const ranges = readable.isExact ? readable.ranges?.() : undefined;
  const ofCaller = readable.all ? memory.known : ranges && memory.scopes?.of(ranges);
  const { observer, callService, numbersFrom } = options;
  const source = quadSource({
    base,
    constants,
    asked,
    known: defaultGraphs || namedGraphs ? undefined : ofCaller,
    matches: () => matchesOf(options, assertTime),
    emptyGraphs: emptyGraphs(options, assertTime),
    assertTime,
    observer,
    callService,
    numbersFrom,
  });
  const context = contextOf(source, base);
  const answers: QueryAnswers = {
    rows: () => solutionsOf(async () => (await loadEngine()).queryBindings(shape, context)),
    truth: async () => (await loadEngine()).queryBoolean(shape, context).catch(tooDeep),
    quads: () => quadsOf(async () => (await loadEngine()).queryQuads(shape, context)),
    async explain(observed) {
      if (form === 'ask') await answers.truth();
      else for await (const _ of form === 'select' ? answers.rows() : answers.quads());
      const [run] = source.runs;
      return explained({ ...run!.compiled, execution: run!.execution }, observed);
    },
    close: () => source.close(),
  };
  return answers;
}

// A generator function inside of a function gets a hidden class, which only a full collection frees, with all that it refers
// to.

async function* solutionsOf(begin: () => Promise<unknown>): AsyncGenerator<Solution[]> {
  const stream = (await begin().catch(tooDeep)) as RowStream;
  const slots = stream.columns.map(([, slot]) => slot);
  const termAt = termCache();
  for await (const block of stream.blocks())
    yield block.map((row) => slots.map((slot) => (row[slot] === undefined ? undefined : termAt(row[slot]))));
}

async function* quadsOf(begin: () => Promise<unknown>): AsyncGenerator<Quad[]> {
  const stream = (await begin().catch(tooDeep)) as BlockStream<TripleKeys[], Quad>;
  const quadOf = tripleReader();
  for await (const block of stream.blocks()) yield block.map(quadOf);
}

/** Converts a stack overflow to `too-complex`. Compilers are recursive, and only the length of a query limits its depth. */
function tooDeep(error: unknown): never {
  if (error instanceof RangeError)
    throw new LwsError('too-complex', 'The query is nested too deeply.', { cause: error });
  throw error;
}
