/** A query run on the caller's dataset, as chunks of the answer. It belongs into a worker: nothing bounds its time. */
import { KeysQueryOperation } from '@comunica/context-entries';
import type { Quad } from '@rdfjs/types';
import { LwsError } from '../../lib/errors.js';
import { boundedPrefixes } from '../../lib/rdf/prefixes.js';
import { serializeRdf } from '../../lib/rdf/serialize.js';
import { UnwritableError } from '../../lib/rdf/unwritable.js';
import type { Level, LevelSnapshot } from '../../lib/storage/durable-level.js';
import { loadEngine } from '../../lib/storage/sparql-update.js';
import { createQuerySource } from './engine/query-source.js';
import type { QueryTask } from './messages.js';
import { type ReadQuery, readQuery } from './read-query.js';
import type { ReadableGraphs } from './readable-graphs.js';
import { type Row, resultWriter } from './result-writers.js';

export interface QueryRun {
  readonly mediaType: string;
  readonly chunks: AsyncIterable<string>;
}

/** Characters of a chunk, about. */
const chunkLength = 32_768;

/**
 * Runs a query.
 * @throws LwsError as `readQuery`; `not-acceptable` when the client takes no format of what the query gives
 */
export async function runQuery(
  task: QueryTask,
  level: Level,
  snapshot: LevelSnapshot,
  readable: ReadableGraphs,
): Promise<QueryRun> {
  const query = await readQuery(task.query, task.base);
  const source = createQuerySource({ level, snapshot, readable, ...graphsOf(task, query) });
  const context = { [KeysQueryOperation.querySources.name]: [{ source }], baseIRI: query.base, readOnly: true };
  try {
    const { mediaType, chunks } = await startQuery(task, query, context as never);
    return { mediaType, chunks: endingWith(chunks, () => source.close()) };
  } catch (error) {
    await source.close();
    throw error;
  }
}

async function* endingWith(chunks: AsyncIterable<string>, end: () => Promise<void>): AsyncGenerator<string> {
  try {
    yield* chunks;
  } finally {
    await end();
  }
}

async function startQuery(task: QueryTask, query: ReadQuery, context: never): Promise<QueryRun> {
  const engine = await loadEngine();
  const { form, algebra } = query;
  if (form === 'construct' || form === 'describe') {
    const { graph } = task.formats;
    if (!graph) throw notAcceptable('graph');
    const quads = await engine.queryQuads(algebra as never, context);
    return { mediaType: graph, chunks: graphChunks(quads as never, graph, task, query) };
  }
  const { results } = task.formats;
  if (!results) throw notAcceptable('table or a truth value');
  if (form === 'ask') {
    const value = await engine.queryBoolean(algebra as never, context);
    return { mediaType: results, chunks: once(resultWriter(results, []).boolean(value)) };
  }
  const bindings = await engine.queryBindings(algebra as never, context);
  const writer = resultWriter(results, query.variables);
  return { mediaType: results, chunks: rowChunks(rowsOf(bindings as never, query.variables), writer, task.maxResults) };
}

/** The dataset of the request wins over that of the query (SPARQL 1.1 Protocol 2.1.4). */
function graphsOf(
  { defaultGraphs, namedGraphs }: QueryTask,
  { from }: ReadQuery,
): { defaultGraphs?: readonly string[]; namedGraphs?: readonly string[] } {
  if (defaultGraphs || namedGraphs) return { defaultGraphs: defaultGraphs ?? [], namedGraphs: namedGraphs ?? [] };
  return from ?? {};
}

const notAcceptable = (what: string): LwsError =>
  new LwsError('not-acceptable', `The answer is a ${what}, and the Accept field takes none of its formats.`);

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}

interface BindingsLike {
  get(name: string): Row[number];
}

async function* rowsOf(bindings: AsyncIterable<BindingsLike>, variables: readonly string[]): AsyncGenerator<Row> {
  for await (const binding of bindings) yield variables.map((name) => binding.get(name));
}

async function* rowChunks(
  rows: AsyncIterable<Row>,
  writer: ReturnType<typeof resultWriter>,
  most: number,
): AsyncGenerator<string> {
  let chunk = writer.head();
  let count = 0;
  for await (const row of rows) {
    if (++count > most) throw tooMany(most);
    chunk += writer.row(row);
    if (chunk.length < chunkLength) continue;
    yield chunk;
    chunk = '';
  }
  yield chunk + writer.end();
}

const tooMany = (most: number): LwsError =>
  new LwsError('too-complex', `The query has more than ${most} results. Ask for less, or with LIMIT and OFFSET.`);

/** A graph is a set: what is constructed twice is there once. */
async function* graphChunks(
  quads: AsyncIterable<Quad>,
  format: NonNullable<QueryTask['formats']['graph']>,
  { maxResults, base }: QueryTask,
  { prefixes }: ReadQuery,
): AsyncGenerator<string> {
  const seen = new Map<string, Quad>();
  for await (const quad of quads) {
    const { subject, predicate, object } = quad;
    const key = [subject, predicate, object].map((term) => JSON.stringify(term)).join();
    if (!seen.has(key)) seen.set(key, quad);
    if (seen.size > maxResults) throw tooMany(maxResults);
  }
  const options = { base, prefixes: boundedPrefixes(prefixes) };
  let text: string;
  try {
    text = serializeRdf([...seen.values()], format, options);
  } catch (error) {
    if (!(error instanceof UnwritableError)) throw error;
    throw new LwsError('not-acceptable', `The graph cannot be written as ${format}. Ask for Turtle.`);
  }
  for (let at = 0; at < text.length; at += chunkLength) yield text.slice(at, at + chunkLength);
}
