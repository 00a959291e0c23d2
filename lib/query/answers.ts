/** What a query answers, in blocks. It must not know formats or who asks. */
import type { Quad, Term } from '@rdfjs/types';
import { LwsError } from '../errors.js';
import { emptyGraphs } from './access/empty-graphs.js';
import { termCache } from './access/terms.js';
import type { BlockStream } from './block-stream.js';
import { type DatasetOptions, matchesOf } from './dataset.js';
import type { TripleTokens } from './operators/graph-results.js';
import type { RunOptions } from './operators/run.js';
import type { ReadQuery } from './parse/parse-query.js';
import { quadSource, type RowStream, tripleReader } from './quad-source.js';
import { contextOf, loadQueryEngine } from './query-engine.js';

/** The dataset and the limits of one query. */
export interface AskOptions extends DatasetOptions, Omit<RunOptions, 'matches' | 'emptyGraphs'> {}

/** A solution: terms in the order of the query's variables. */
export type Solution = readonly (Term | undefined)[];

export interface QueryAnswers {
  /** Of SELECT, in blocks. */
  rows(): AsyncIterable<Solution[]>;
  /** Of ASK. */
  truth(): Promise<boolean>;
  /** Of CONSTRUCT and DESCRIBE, in blocks, each triple once. */
  quads(): AsyncIterable<Quad[]>;
  /** Ends what still runs. To be called before the snapshot is closed. */
  close(): Promise<void>;
}

/**
 * Asks Comunica's engine over one snapshot.
 * @throws LwsError `too-complex` for what cannot be compiled, and for what is nested too deeply
 */
export function answersOf({ algebra, base }: ReadQuery, options: AskOptions): QueryAnswers {
  const assertTime = options.assertTime ?? (() => {});
  const run = { ...options, matches: matchesOf(options, assertTime), emptyGraphs: emptyGraphs(options, assertTime) };
  const source = shallow(() => quadSource(algebra, { ...run, base }));
  const context = contextOf(source, base);
  return {
    async *rows() {
      const engine = await loadQueryEngine();
      const stream = (await engine.queryBindings(algebra, context).catch(tooDeep)) as RowStream;
      const slots = stream.columns.map(([, slot]) => slot);
      const termAt = termCache();
      for await (const block of stream.blocks())
        yield block.map((row) => slots.map((slot) => (row[slot] === undefined ? undefined : termAt(row[slot]))));
    },
    truth: async () => (await loadQueryEngine()).queryBoolean(algebra, context).catch(tooDeep),
    async *quads() {
      const engine = await loadQueryEngine();
      const stream = await engine.queryQuads(algebra, context).catch(tooDeep);
      const quadOf = tripleReader();
      for await (const block of (stream as BlockStream<TripleTokens[], Quad>).blocks()) yield block.map(quadOf);
    },
    close: () => source.close(),
  };
}

/** Compilers and Comunica's visitors go down with the query, which is as deep as its text is long. */
function shallow<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    return tooDeep(error);
  }
}

function tooDeep(error: unknown): never {
  if (error instanceof RangeError)
    throw new LwsError('too-complex', 'The query is nested too deeply.', { cause: error });
  throw error;
}
