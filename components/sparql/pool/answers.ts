/** What a query answers, from the compiled plan or, for what is not compiled, from Comunica. It must not know formats. */
import type { Quad } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import { termCache } from '../../../lib/query/access/terms.js';
import { type DatasetOptions, matchesOf } from '../../../lib/query/dataset.js';
import { graphTriples } from '../../../lib/query/operators/graph-results.js';
import { type RunOptions, startRun } from '../../../lib/query/operators/run.js';
import type { ReadQuery } from '../../../lib/query/parse/read-query.js';
import { refused } from '../../../lib/query/parse/service-policy.js';
import { type Compiled, compileQuery } from '../../../lib/query/plan/compile-query.js';
import { NotCompiledError } from '../../../lib/query/plan/compile-scope.js';
import type { Row } from '../results/result-writers.js';

/** The dataset and the limits of one query. */
export interface AskOptions extends DatasetOptions, Omit<RunOptions, 'matches'> {}

export interface QueryAnswers {
  /** Of SELECT, in blocks; terms in the order of the query's variables. */
  rows(): AsyncIterable<Row[]>;
  /** Of ASK. */
  truth(): Promise<boolean>;
  /** Of CONSTRUCT and DESCRIBE, in blocks, each triple once. */
  quads(): AsyncIterable<Quad[]>;
  /** Ends what still runs. To be called before the snapshot is closed. */
  close(): Promise<void>;
}

/**
 * Answers a query over one snapshot.
 * @throws LwsError `too-complex` for SERVICE in what is not compiled: Comunica would ask endpoints itself, past the guard
 */
export function answersOf(query: ReadQuery, options: AskOptions): QueryAnswers {
  const compiled = attempt(query);
  if (compiled) return fromPlan(compiled, options);
  if (query.isFederated)
    throw refused('SERVICE is not possible here together with something else in this query. Make it simpler.');
  return fromComunica(query, options);
}

function attempt({ algebra, base }: ReadQuery): Compiled | undefined {
  try {
    return compileQuery(algebra as never, base);
  } catch (error) {
    if (error instanceof NotCompiledError) return undefined;
    throw error;
  }
}

function fromPlan(compiled: Compiled, options: AskOptions): QueryAnswers {
  const run = startRun({ ...options, matches: matchesOf(options, options.assertTime ?? (() => {})) }, compiled);
  const slots = compiled.columns.map(([, slot]) => slot);
  const termAt = termCache();
  return {
    async *rows() {
      for await (const block of run.rows)
        yield block.map((row) => slots.map((slot) => (row[slot] === undefined ? undefined : termAt(row[slot]))));
    },
    truth: async () => !(await run.rows.next()).done,
    async *quads() {
      for await (const block of graphTriples(run.execution, compiled.graph!, run.rows))
        yield block.map(([subject, predicate, object]) =>
          factory.quad(termAt(subject) as never, termAt(predicate) as never, termAt(object) as never),
        );
    },
    close: () => run.close(),
  };
}

const factory = new DataFactory<Quad>();

/** Comunica is loaded by the first query that needs it. */
function fromComunica(query: ReadQuery, options: AskOptions): QueryAnswers {
  const loading = import('./comunica-answers.js').then(({ comunicaAnswers }) => comunicaAnswers(query, options));
  return {
    async *rows() {
      yield* (await loading).rows();
    },
    truth: async () => (await loading).truth(),
    async *quads() {
      yield* (await loading).quads();
    },
    close: async () => (await loading).close(),
  };
}
