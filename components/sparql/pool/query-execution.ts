/** Runs a query on the caller's dataset and returns chunks of the result. Runs in a worker thread that can be terminated. */
import type { Quad } from '@rdfjs/types';
import { type AskOptions, answersOf, type QueryAnswers } from '../../../lib/query/answers.js';
import { NeedsIndexError, namesIn, quadsWithoutIndex } from '../../../lib/query/dataset.js';
import { Observed } from '../../../lib/query/operators/explain.js';
import { parseQuery, type ReadQuery } from '../../../lib/query/parse/parse-query.js';
import { withConstants } from '../../../lib/query/parse/query-shape.js';
import type { SearchTexts } from '../../../lib/query/parse/text-patterns.js';
import { datasetThen, type PastContext, type PastTask } from '../../../lib/query/past-graphs.js';
import { unknownFunctions } from '../../../lib/query/plan/compile-expression.js';
import { boundedPrefixes } from '../../../lib/rdf/prefixes.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { graphChunks } from '../results/graph-writer.js';
import { type ResultRow, resultWriter } from '../results/result-writers.js';
import type { QueryTask } from './messages.js';

export interface QueryRun {
  readonly mediaType: string;
  /** Possible mistake in the query, sent as LWS-Hint. */
  readonly hint?: string | undefined;
  readonly chunks: AsyncIterable<string>;
}

/** Approximate length of a chunk, in characters. */
const chunkLength = 32_768;

export interface RunTaskOptions extends Omit<AskOptions, 'memory' | 'past'> {
  /** Earlier state to query, and permissions on the states that ended since. */
  readonly past: (PastTask & Pick<PastContext, 'storage' | 'within' | 'permitted' | 'admits'>) | undefined;
  /** Returns the quads of the snapshot in the index, if it can be used. */
  readonly memory: () => Promise<AskOptions['memory'] | undefined>;
  /** True if `memory` must read many changed graphs. */
  readonly isBehind: boolean;
  readonly assertTime: () => void;
  /** Runs a text search. Absent if there is none. */
  readonly searchTexts?: SearchTexts | undefined;
}

/** Runs a query. @throws LwsError as `readQuery`, `not-acceptable` if the client accepts no format of the result, NeedsIndexError */
export async function runQuery(task: QueryTask, run: RunTaskOptions): Promise<QueryRun> {
  const { past } = run;
  const searchTexts = past && run.searchTexts ? notThen : run.searchTexts;
  const query = await parseQuery(task.query, task.base, { searchTexts, ...task });
  const dataset = { ...run, ...graphsOf(task, query), past: undefined };
  // Lazy, because most queries do not need it, and replacing the constants takes 5 % of the time of a lookup.
  const operation = () => withConstants(query.shape, query.constants);
  const memory = await quadsOf(run, () => quadsWithoutIndex(dataset, operation(), run.assertTime));
  const then =
    past && (await datasetThen(memory, past.module, { ...past, ...run, names: namesIn(dataset, operation()) }));
  const observed = task.explain && new Observed(task.explain === 'run');
  const answers = answersOf(query, { observer: observed, ...dataset, memory, ...then });
  const unknown = unknownFunctions(query.shape);
  try {
    const { mediaType, chunks } = observed
      ? {
          mediaType: 'application/json',
          chunks: once(
            JSON.stringify({
              form: query.form,
              ...(unknown.length > 0 && { unknownFunctions: unknown }),
              plan: await answers.explain(observed),
            }),
          ),
        }
      : await startQuery(task, query, answers);
    const ended = bounded(chunks, task.maxBytes, () => answers.close());
    return { mediaType, hint: unknown.length > 0 ? hintOf(unknown) : undefined, chunks: ended };
  } catch (error) {
    await answers.close();
    throw error;
  }
}

const notThen: SearchTexts = async () => {
  throw new LwsError(
    'too-complex',
    'text:query searches the present state only. Send no Accept-Datetime, or use FILTER.',
  );
};

/** Returns the quads to query. @param named reads few graphs without the index, or throws NeedsIndexError */
async function quadsOf(
  { memory, isBehind }: Pick<RunTaskOptions, 'memory' | 'isBehind'>,
  named: () => Promise<AskOptions['memory']>,
): Promise<AskOptions['memory']> {
  if (!isBehind) return (await memory()) ?? named();
  try {
    return await named();
  } catch (error) {
    const view = error instanceof NeedsIndexError ? await memory() : undefined;
    if (!view) throw error;
    return view;
  }
}

/** Lists functions in ASCII, as header fields require. */
const hintOf = (functions: readonly string[]): string =>
  `Unknown function, whose result is an error: ${functions
    .slice(0, 3)
    .map((iri) => `<${encodeURI(Buffer.from(iri.slice(0, 200)).toString())}>`)
    .join(', ')}`;

async function startQuery(task: QueryTask, query: ReadQuery, answers: QueryAnswers): Promise<QueryRun> {
  const { form, prefixes, variables } = query;
  const { graph, results } = task.formats;
  if (form === 'construct' || form === 'describe') {
    if (!graph) throw notAcceptable('graph');
    const quads = counted(answers.quads(), task);
    const options = { base: task.base, prefixes: boundedPrefixes(prefixes) };
    return { mediaType: graph, chunks: graphChunks(quads, graph, options) };
  }
  if (!results) throw notAcceptable('table or a truth value');
  if (form === 'ask')
    return { mediaType: results, chunks: once(resultWriter(results, []).boolean(await answers.truth())) };
  const rows = counted(answers.rows(), task);
  return { mediaType: results, chunks: rowChunks(rows, resultWriter(results, variables)) };
}

/**
 * Returns the dataset. A dataset in the request overrides the dataset in the query (SPARQL 1.1 Protocol 2.1.4). A query on one
 * resource reads only this resource, unless the dataset names other graphs. Unreadable graphs stay unreadable in any case.
 */
function graphsOf(
  { defaultGraphs, namedGraphs, within }: QueryTask,
  { from }: ReadQuery,
): { defaultGraphs?: readonly string[]; namedGraphs?: readonly string[] } {
  if (defaultGraphs || namedGraphs) return { defaultGraphs: defaultGraphs ?? [], namedGraphs: namedGraphs ?? [] };
  if (from || within === undefined || within.endsWith('/')) return from ?? {};
  const graphs = [within, `${within}.meta`];
  return { defaultGraphs: graphs, namedGraphs: graphs };
}

const notAcceptable = (what: string): LwsError =>
  new LwsError('not-acceptable', `The result is a ${what}, and the Accept field contains none of its formats.`);

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}

/** Limits rows or triples before they are serialized: all of them may contain one long text. @throws LwsError `too-complex` */
async function* counted<T extends ResultRow | Quad>(
  blocks: AsyncIterable<T[]>,
  { maxResults, maxBytes, cutAt }: QueryTask,
): AsyncGenerator<T[]> {
  let count = 0;
  let characters = 0;
  for await (const block of blocks) {
    const room = maxResults - count;
    count += block.length;
    if (count > maxResults && cutAt === undefined)
      throw new LwsError(
        'too-complex',
        `The query has more than ${maxResults} results (lws.sparql.endpoint.max-results). Make it more selective, or use LIMIT and OFFSET.`,
      );
    let part = block.length > room ? block.slice(0, room) : block;
    for (const [index, item] of part.entries()) {
      const length = lengthOf(item);
      characters += length;
      if (length > maxOfOne || characters > maxBytes) throw tooLong(maxBytes);
      if (characters <= (cutAt ?? maxBytes)) continue;
      part = block.slice(0, index + 1);
      break;
    }
    yield part;
    if (part.length < block.length) return;
  }
}

/** Maximum characters of one row, because it is serialized at once, with up to six bytes per character. */
const maxOfOne = 8 << 20;

function lengthOf(item: ResultRow | Quad): number {
  const terms = 'subject' in item ? [item.subject, item.predicate, item.object] : item;
  let length = 0;
  for (const term of terms) length += term?.value.length ?? 0;
  return length;
}

/** Limits the size of the result. @param end called at the end in any case @throws LwsError `too-complex` over the limit */
async function* bounded(
  chunks: AsyncIterable<string>,
  maxBytes: number,
  end: () => Promise<void>,
): AsyncGenerator<string> {
  let bytes = 0;
  try {
    for await (const chunk of chunks) {
      bytes += Buffer.byteLength(chunk);
      if (bytes > maxBytes) throw tooLong(maxBytes);
      yield chunk;
    }
  } finally {
    await end();
  }
}

const tooLong = (maxBytes: number): LwsError =>
  new LwsError(
    'too-complex',
    `The result is larger than ${maxBytes >> 20} MiB (lws.sparql.endpoint.max-answer-mb). Make the query more selective, or use LIMIT and OFFSET.`,
  );

async function* rowChunks(
  blocks: AsyncIterable<readonly ResultRow[]>,
  writer: ReturnType<typeof resultWriter>,
): AsyncGenerator<string> {
  let chunk = writer.head();
  for await (const rows of blocks)
    for (const row of rows) {
      chunk += writer.row(row);
      if (chunk.length < chunkLength) continue;
      yield chunk;
      chunk = '';
    }
  yield chunk + writer.end();
}
