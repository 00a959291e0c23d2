/** A dataset in LevelDB, and the same for other engines, to compare results in the specs of the query engine. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Quad, Term } from '@rdfjs/types';
import { Store } from 'n3';
import { DataFactory } from 'rdf-data-factory';
import { graphAt, KeyReader } from '../../../lib/query/access/key-reader.js';
import type { Algebra } from '../../../lib/query/algebra.js';
import { type AskOptions, answersOf } from '../../../lib/query/answers.js';
import type { DatasetOptions } from '../../../lib/query/dataset.js';
import { type MemoryView, onlyGraphs } from '../../../lib/query/memory/memory-layers.js';
import { anyGraph } from '../../../lib/query/parse/graph-names.js';
import { parseQuery, type ReadQuery } from '../../../lib/query/parse/parse-query.js';
import { withConstants } from '../../../lib/query/parse/query-shape.js';
import { only, unionOfRanges } from '../../../lib/storage/keys/iri-ranges.js';
import { allQuads, encodeGraph } from '../../../lib/storage/keys/quad-keys.js';
import { type ResourceRecord, recordKey, writeRecord } from '../../../lib/storage/keys/records.js';
import {
  keyBlocks,
  type Level,
  type LevelSnapshot,
  openLevel,
  writeBatch,
} from '../../../lib/storage/level/durable-level.js';
import { addTo } from '../../../lib/tools/collections.js';
import { loadStockEngine } from '../../support/stock-engine.js';

const factory = new DataFactory<Quad>();
export const base = 'http://example.org/';
export const graphNames = ['a', 'b', 'c', 'd', 'e'].map((name) => `${base}graphs/${name}`);

export interface SpecTriple {
  readonly subject: Term;
  readonly predicate: Term;
  readonly object: Term;
}
export type SpecData = ReadonlyMap<string, readonly SpecTriple[]>;

export interface SpecLevel {
  /** Replaces the content of the store by these graphs. */
  fill(data: SpecData): Promise<void>;
  readonly level: Level;
  close(): Promise<void>;
}

export async function specLevel(): Promise<SpecLevel> {
  const folder = mkdtempSync(join(tmpdir(), 'quadpod-engine-'));
  const level = await openLevel(folder);
  return {
    level,
    async fill(data) {
      await level.clear();
      await writeBatch(
        level,
        (batch) => {
          for (const [graph, triples] of data)
            for (const key of encodeGraph(graph, triples.map(quadOf))) batch.put(key, '');
          // An empty graph only has a record.
          for (const [graph, triples] of data)
            if (triples.length === 0) batch.put(recordKey(graph), writeRecord(emptyRecord(graph)));
        },
        () => ['M\u0000spec', ''],
      );
    },
    async close() {
      await level.close();
      rmSync(folder, { recursive: true });
    },
  };
}

const emptyRecord = (iri: string): ResourceRecord => {
  const facts = { revision: 'spec', mediaType: 'text/turtle', size: 0, created: 0, modified: 0 };
  return { iri, kind: 'rdf', ...facts, triples: 0 };
};

const quadOf = ({ subject, predicate, object }: SpecTriple): Quad =>
  factory.quad(subject as never, predicate as never, object as never);

/** Readable graphs and graphs named by the query, in the engine's format. */
export interface SpecView {
  readonly readable: ReadonlySet<string>;
  readonly defaultGraphs?: readonly string[];
  readonly namedGraphs?: readonly string[];
  /** True if the readable graphs are known as ranges. Absent: the authorizer must be asked for half of them. */
  readonly hasRanges?: boolean;
  /** Throws to stop the query. */
  readonly assertTime?: () => void;
  /** Number of matches from which plans run over numbers of terms. */
  readonly numbersFrom?: number | undefined;
  /** Engine to use; absent: the composition of a few actors. */
  readonly loadEngine?: AskOptions['loadEngine'];
}

export type Answer = { readonly rows: readonly ReadonlyMap<string, Term>[] } | { readonly truth: boolean };

/** Dataset of a view, over a snapshot. */
export function datasetOf(
  level: Level,
  snapshot: LevelSnapshot,
  view: SpecView,
): Omit<DatasetOptions & AskOptions, 'memory'> {
  const isAll = graphNames.every((name) => view.readable.has(name));
  const asked = new Set<string>();
  const ranges = view.hasRanges ? unionOfRanges([...view.readable].map(only)) : undefined;
  const exact = ranges && { all: false, isExact: true, isDecided: true, ranges: () => ranges };
  const readable = {
    all: isAll,
    known: (graph: string) => (asked.has(graph) || graph < graphNames[2]! ? view.readable.has(graph) : undefined),
    async resolve(graphs: readonly string[]) {
      await new Promise(setImmediate);
      for (const graph of graphs) asked.add(graph);
    },
  };
  const { readable: _readable, hasRanges: _hasRanges, ...named } = view;
  const known = (graph: string): boolean => view.readable.has(graph);
  return { level, snapshot, readable: exact ? { ...exact, known, resolve: async () => {} } : readable, ...named };
}

export type ToMemory = (level: Level, snapshot: LevelSnapshot) => Promise<MemoryView>;

/** Reads all graphs as an operation that names them. */
export async function withoutIndex(level: Level, snapshot: LevelSnapshot): Promise<MemoryView> {
  const reader = new KeyReader();
  const graphs = new Map<string, string[]>();
  for await (const keys of keyBlocks(level, allQuads, { snapshot }))
    for (const key of keys) {
      reader.read(key);
      addTo(graphs, reader.token(graphAt), key);
    }
  async function* block(keys: readonly string[]): AsyncGenerator<readonly string[]> {
    yield keys;
  }
  return onlyGraphs(new Map([...graphs].map(([graph, keys]) => [graph, block(keys)])));
}

/** Result of the tested engine for a query, as text or parsed. */
export async function engineAnswer(
  level: Level,
  view: SpecView,
  query: string | ReadQuery,
  toMemory: ToMemory = withoutIndex,
): Promise<Answer> {
  const snapshot = level.snapshot();
  const memory = await toMemory(level, snapshot);
  const read = typeof query === 'string' ? await parseQuery(query, base) : query;
  const answers = answersOf(read, { ...datasetOf(level, snapshot, view), memory });
  try {
    if (read.form === 'ask') return { truth: await answers.truth() };
    const rows: ReadonlyMap<string, Term>[] = [];
    if (read.form === 'select')
      for await (const block of answers.rows())
        for (const row of block)
          rows.push(new Map(read.variables.flatMap((name, at) => (row[at] ? [[name, row[at]] as const] : []))));
    else for await (const block of answers.quads()) for (const quad of block) rows.push(rowOf(quad));
    return { rows };
  } finally {
    await answers.close();
    await snapshot.close();
  }
}

/** Result of Comunica over the readable graphs in memory: a store for GRAPH, and one for the union of the graphs. */
export async function plainAnswer(data: SpecData, view: SpecView, query: string): Promise<Answer> {
  const [named, union, anyGraphs] = [new Store(), new Store(), new Store()];
  const [any, hasName] = [factory.namedNode(anyGraph), (graph: string) => view.namedGraphs?.includes(graph) ?? true];
  for (const [graph, triples] of data) {
    if (!view.readable.has(graph)) continue;
    if (hasName(graph)) anyGraphs.addQuad(factory.quad(any, any, any, factory.namedNode(graph)) as never);
    for (const { subject, predicate, object } of triples) {
      if (!view.defaultGraphs || view.defaultGraphs.includes(graph))
        union.addQuad(factory.quad(subject as never, predicate as never, object as never) as never);
      if (hasName(graph))
        named.addQuad(
          factory.quad(subject as never, predicate as never, object as never, factory.namedNode(graph)) as never,
        );
    }
  }
  const bound = (term: Term | null | undefined): never => (term && term.termType !== 'Variable' ? term : null) as never;
  const source = {
    match: (subject: Term, predicate: Term, object: Term, graph: Term) =>
      (predicate?.value === anyGraph ? anyGraphs : graph?.termType === 'DefaultGraph' ? union : named).match(
        bound(subject),
        bound(predicate),
        bound(object),
        bound(graph),
      ),
  };
  return ask(query, { sources: [source] });
}

/** Parses a query, with its algebra as if it had no shape. */
export async function queryWithAlgebra(text: string): Promise<ReadQuery & { readonly algebra: Algebra.Operation }> {
  const query = await parseQuery(text, base);
  return { ...query, algebra: withConstants(query.shape, query.constants) };
}

async function ask(query: string, context: object): Promise<Answer> {
  const [engine, { algebra, form, base: own }] = await Promise.all([loadStockEngine(), queryWithAlgebra(query)]);
  const full = { ...context, baseIRI: own, readOnly: true } as never;
  if (form === 'ask') return { truth: await engine.queryBoolean(algebra as never, full) };
  if (form === 'construct' || form === 'describe')
    return { rows: await quadRows(await engine.queryQuads(algebra as never, full)) };
  const bindings = await engine.queryBindings(algebra as never, full);
  const rows: ReadonlyMap<string, Term>[] = [];
  for await (const binding of bindings)
    rows.push(new Map([...(binding as never as Iterable<[Term, Term]>)].map(([name, term]) => [name.value, term])));
  return { rows };
}

async function quadRows(quads: unknown): Promise<ReadonlyMap<string, Term>[]> {
  const rows: ReadonlyMap<string, Term>[] = [];
  for await (const quad of quads as AsyncIterable<Quad>) rows.push(rowOf(quad));
  return rows;
}

export const rowOf = ({ subject, predicate, object }: Quad): ReadonlyMap<string, Term> =>
  new Map<string, Term>(Object.entries({ subject, predicate, object }));

/** Serializes all parts of a term. */
export function writeTerm(term: Term): string {
  if (term.termType === 'NamedNode') return `<${term.value}>`;
  // Removes the source number that Comunica adds.
  if (term.termType === 'BlankNode') return `_:${term.value.replace(/^bc_\d+_/, '')}`;
  if (term.termType === 'Quad')
    return `<<( ${[term.subject, term.predicate, term.object].map(writeTerm).join(' ')} )>>`;
  if (term.termType !== 'Literal') return term.value;
  const tag = `${term.language}${term.direction ? `--${term.direction}` : ''}`;
  return `${JSON.stringify(term.value)}${term.language ? `@${tag}` : `^^<${term.datatype.value}>`}`;
}

/** Rows as strings, sorted unless the order matters. */
export function writeAnswer(answer: Answer, inOrder = false): readonly string[] {
  if ('truth' in answer) return [String(answer.truth)];
  const rows = answer.rows.map((row) =>
    [...row]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, term]) => `${name}=${writeTerm(term)}`)
      .join(' '),
  );
  return inOrder ? rows : rows.sort();
}
