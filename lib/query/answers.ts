/** What a query answers, in blocks. It must not know formats or who asks. */

import type { IQuerySource } from '@comunica/types';
import type { Algebra } from '@comunica/utils-algebra';
import type { Quad, Term, Variable } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import { LwsError } from '../errors.js';
import { emptyGraphs } from './access/empty-graphs.js';
import type { QuadMatches } from './access/quad-matches.js';
import { type TermKey, termCache } from './access/terms.js';
import { BlockStream } from './block-stream.js';
import { type DatasetOptions, matchesOf } from './dataset.js';
import { type ExplainedPart, explained, type Observed } from './operators/explain.js';
import { graphTriples, type TripleKeys } from './operators/graph-results.js';
import { type Run, type RunOptions, startRun } from './operators/run.js';
import type { ReadQuery } from './parse/parse-query.js';
import { type Compiled, compileQuery } from './plan/compile-query.js';
import { NotCompiledError } from './plan/compile-scope.js';
import type { Row } from './plan/plan.js';
import { contextOf, loadQueryEngine, type QueryEngine } from './query-engine.js';
import { makeBindings, querySource } from './query-source.js';

/**
 * The quads that a caller may read as a query source of Comunica's that answers whole operations: compiled to a plan, run over
 * ordered keys. It must not know HTTP or who asks.
 */
export interface QuadSourceOptions extends Omit<RunOptions, 'matches'> {
  /** The quads that an operation asks; closed with it. */
  readonly matches: () => QuadMatches;
  /** What IRI() resolves against. */
  readonly base: string;
  /** The query that is asked, where the engine hands it over as it is: its plan is kept with it. */
  readonly asked?: Algebra.Operation | undefined;
}

/** Bindings of a SELECT in blocks of rows, and its columns. */
export interface RowStream extends BlockStream<Row[], unknown> {
  readonly columns: Compiled['columns'];
}

export interface QuadSource extends IQuerySource {
  /** What was handed over, as it is run. */
  readonly runs: readonly (Run & { readonly compiled: Compiled })[];
  /** Ends what still runs. To be called before the snapshot is closed. */
  close(): Promise<void>;
}

const dataFactory = new DataFactory<Quad>();

/** What queries that are kept (`parseQuery`) were compiled to. */
const plans = new WeakMap<Algebra.Operation, Compiled>();

/** A source that compiles each operation that Comunica hands it. Its methods throw `too-complex` for what cannot be compiled. */
export function quadSource({ base, asked, ...options }: QuadSourceOptions): QuadSource {
  const isTold = options.observer?.isRun === false;
  const runs: (Run & { readonly compiled: Compiled })[] = [];
  const begun = (operation: Algebra.Operation): Run & { readonly compiled: Compiled } => {
    const compiled = (asked && plans.get(asked)) ?? compiledOrRefused(operation, base);
    if (asked && !compiled.isOfMoment) plans.set(asked, compiled);
    const run = { ...startRun({ ...options, matches: options.matches() }, compiled), compiled };
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
      // Of a plan that is only told there are no rows.
      const triples = isTold ? (rows as AsyncGenerator<never>) : graphTriples(execution, compiled.graph!, rows);
      return quadStream(triples) as never;
    },
  });
  return { ...source, runs, close: async () => void (await Promise.all(runs.map((run) => run.close()))) };
}

export function compiledOrRefused(query: Algebra.Operation, base: string): Compiled {
  try {
    return compileQuery(query, base);
  } catch (error) {
    if (error instanceof NotCompiledError)
      throw new LwsError('too-complex', `The query is not possible here. ${error.message}.`, { cause: error });
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

/** Makes triples of tokens, of which IRIs come again. */
export function tripleReader(): (triple: TripleKeys) => Quad {
  const termAt = termCache() as (token: TermKey) => never;
  return ([subject, predicate, object]) => dataFactory.quad(termAt(subject), termAt(predicate), termAt(object));
}

/** The dataset and the limits of one query. */
export interface AskOptions extends DatasetOptions, Omit<RunOptions, 'matches' | 'emptyGraphs'> {
  /** Absent: the composition of a few actors. */
  readonly loadEngine?: (() => Promise<QueryEngine>) | undefined;
}

/** A solution: terms in the order of the query's variables. */
export type Solution = readonly (Term | undefined)[];

export interface QueryAnswers {
  /** Of SELECT, in blocks. */
  rows(): AsyncIterable<Solution[]>;
  /** Of ASK. */
  truth(): Promise<boolean>;
  /** Of CONSTRUCT and DESCRIBE, in blocks, each triple once. */
  quads(): AsyncIterable<Quad[]>;
  /** What the query was compiled to; of one that ran (`observer`), also what its parts did. @param observed the `observer` of the options */
  explain(observed: Observed): Promise<ExplainedPart>;
  /** Ends what still runs. To be called before the snapshot is closed. */
  close(): Promise<void>;
}

/**
 * Asks Comunica's engine over one snapshot.
 * What it gives throws LwsError `too-complex` for what cannot be compiled, and for what is nested too deeply.
 */
export function answersOf(
  { form, algebra, base }: ReadQuery,
  { loadEngine = loadQueryEngine, ...options }: AskOptions,
): QueryAnswers {
  const asked = loadEngine === loadQueryEngine ? algebra : undefined;
  const assertTime = options.assertTime ?? (() => {});
  const source = quadSource({
    ...options,
    ...{ base, asked, matches: () => matchesOf(options, assertTime), emptyGraphs: emptyGraphs(options, assertTime) },
  });
  const context = contextOf(source, base);
  const answers: QueryAnswers = {
    async *rows() {
      const engine = await loadEngine();
      const stream = (await engine.queryBindings(algebra, context).catch(tooDeep)) as RowStream;
      const slots = stream.columns.map(([, slot]) => slot);
      const termAt = termCache();
      for await (const block of stream.blocks())
        yield block.map((row) => slots.map((slot) => (row[slot] === undefined ? undefined : termAt(row[slot]))));
    },
    truth: async () => (await loadEngine()).queryBoolean(algebra, context).catch(tooDeep),
    async *quads() {
      const engine = await loadEngine();
      const stream = await engine.queryQuads(algebra, context).catch(tooDeep);
      const quadOf = tripleReader();
      for await (const block of (stream as BlockStream<TripleKeys[], Quad>).blocks()) yield block.map(quadOf);
    },
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

/** Compilers and Comunica's visitors go down with the query, which is as deep as its text is long. */
function tooDeep(error: unknown): never {
  if (error instanceof RangeError)
    throw new LwsError('too-complex', 'The query is nested too deeply.', { cause: error });
  throw error;
}
