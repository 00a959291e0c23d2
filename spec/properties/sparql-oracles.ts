/**
 * Results of the engine under test and of other engines, as comparable strings. Numbers are compared by value, because engines
 * serialize them differently, and blank nodes of the data by label. Independent of the generation of queries.
 */
import type { Quad, Term } from '@rdfjs/types';
import { DataFactory } from 'n3';
import { blankNode, defaultGraph, literal, namedNode, quad, Store } from 'oxigraph';
import { parseQuery, type ReadQuery } from '../../lib/query/parse/parse-query.js';
import { loadStockEngine } from '../../lib/query/query-engine.js';
import {
  type Answer,
  base,
  engineAnswer,
  plainAnswer,
  rowOf,
  type SpecData,
  type SpecLevel,
  type SpecView,
  type ToMemory,
  writeTerm,
} from '../lib/query/engine-dataset.js';
import { isomorphic } from '../lib/rdf/isomorphism.js';
import { type GraphStore, naiveResult, TooLarge, Undefined, unionOf } from '../support/naive-sparql/index.js';

export type Solution = ReadonlyMap<string, Term>;

/** Result of a query, or its error. */
export type Outcome =
  | {
      /** Rows as text, sorted. */
      readonly rows: readonly string[];
      readonly graph?: readonly Quad[] | undefined;
      /** Rows in the order of the engine. */
      readonly given?: readonly Solution[];
    }
  | { readonly error: string };

export interface World {
  readonly store: SpecLevel;
  readonly data: SpecData;
  readonly readable: ReadonlySet<string>;
  readonly oxigraph: Store;
}

/** Queries with more rows or a longer evaluation are not compared. */
const maxRows = 20_000;
const maxMs = 2000;
export class TooMuch extends Error {}

type OxigraphTerm = ReturnType<typeof namedNode>;
const ofOxigraph = (term: Term): OxigraphTerm => {
  if (term.termType === 'NamedNode') return namedNode(term.value);
  if (term.termType === 'BlankNode') return blankNode(term.value) as never;
  if (term.termType === 'Quad')
    return quad(
      ofOxigraph(term.subject) as never,
      ofOxigraph(term.predicate) as never,
      ofOxigraph(term.object) as never,
    ) as never;
  const { value, language, direction, datatype } = term as Extract<Term, { termType: 'Literal' }>;
  const tag = direction ? { language, direction } : language;
  return literal(value, (tag || namedNode(datatype.value)) as never) as never;
};

/** Loads the readable graphs into Oxigraph, and their union as default graph. */
export function oxigraphOf(data: SpecData, readable: ReadonlySet<string>): Store {
  const store = new Store();
  for (const [graph, triples] of data) {
    if (!readable.has(graph)) continue;
    for (const { subject, predicate, object } of triples)
      for (const name of [namedNode(graph), defaultGraph()])
        store.add(
          quad(
            ofOxigraph(subject) as never,
            ofOxigraph(predicate) as never,
            ofOxigraph(object) as never,
            name as never,
          ),
        );
  }
  return store;
}

const late = 'It took too long.';
/** Returns true if the oracle timed out, so that there is nothing to compare. */
export const isLate = (outcome: Outcome): boolean => 'error' in outcome && outcome.error.includes(late);
/** Returns true for known limits of Comunica: joins without bound variables, and assignments to the graph name within its group. */
export const isGivenUp = (outcome: Outcome): boolean =>
  'error' in outcome && /RDF joining failed|variable 'g' that has already been bound/.test(outcome.error);

const attempt = async (answer: () => Promise<Answer> | Answer): Promise<Outcome> => {
  try {
    return outcomeOf(await answer());
  } catch (error) {
    if (error instanceof TooMuch) throw error;
    return { error: String(error).slice(0, 300) };
  }
};

/** Evaluates a query with the engine under test. */
export const ourOutcome = (
  { store, readable }: World,
  query: ReadQuery,
  { toMemory, ...of }: { readonly toMemory?: ToMemory } & Pick<SpecView, 'numbersFrom' | 'hasRanges'> = {},
): Promise<Outcome> =>
  attempt(async () => {
    const end = performance.now() + maxMs;
    const view: SpecView = { readable, ...query.from, ...of, assertTime: () => assertBefore(end) };
    return engineAnswer(store.level, { ...view, loadEngine: loadStockEngine }, query, toMemory);
  });

function assertBefore(end: number): void {
  if (performance.now() > end) throw new TooMuch();
}

export const oxigraphOutcome = ({ oxigraph }: World, query: string): Promise<Outcome> =>
  attempt(() => {
    const answer = oxigraph.query(query, { base_iri: base }) as unknown;
    if (typeof answer === 'boolean') return { truth: answer };
    const rows = answer as (ReadonlyMap<string, Term> | Quad)[];
    return { rows: rows.map((row) => (row instanceof Map ? row : rowOf(row as Quad))) };
  });

/** Evaluates a query with Comunica's stock engine, limited to 5 s because it may not terminate. */
export const stockOutcome = ({ data, readable }: World, query: string): Promise<Outcome> =>
  attempt(async () => {
    const { from } = await parseQuery(query, base);
    const end = new Promise<never>((_, reject) => setTimeout(reject, 5000, new Error(late)).unref());
    return Promise.race([plainAnswer(data, { readable, ...from }, query), end]);
  });

/**
 * Evaluates a query with the naive evaluator of SPARQL 1.1, section 18.
 * @returns also the variables of a SELECT
 * @throws TooMuch if the data is too large or the Recommendation does not define the result
 */
export async function naiveOutcome(
  query: string,
  graphs: GraphStore,
): Promise<Outcome & { readonly variables?: readonly string[] }> {
  try {
    const result = await naiveResult(query, graphs, base);
    if (result.kind === 'boolean') return outcomeOf({ truth: result.value });
    if (result.kind === 'graph') return outcomeOf({ rows: result.quads.map(rowOf) });
    return { ...outcomeOf({ rows: result.rows }), variables: result.variables };
  } catch (error) {
    if (error instanceof Undefined || error instanceof TooLarge) throw new TooMuch();
    if (error instanceof TooMuch) throw error;
    return { error: String(error).slice(0, 300) };
  }
}

/** Returns the readable graphs for the naive evaluator, with visible names (rule 14.14). */
export function graphsOf(data: SpecData, readable: ReadonlySet<string>): GraphStore {
  const graphs = new Map([...data].filter(([name]) => readable.has(name)));
  return { graphs, defaultGraph: unionOf([...graphs.values()]), areNamesVisible: true };
}

/** Converts an answer to comparable rows. @throws TooMuch for too many rows */
export function outcomeOf(answer: Answer): Exclude<Outcome, { error: string }> {
  if ('truth' in answer) return { rows: [String(answer.truth)] };
  if (answer.rows.length > maxRows) throw new TooMuch();
  const isGraph = answer.rows[0]?.has('predicate') === true;
  // 16.2: invalid triples are omitted. Comunica returns them.
  const given = isGraph ? answer.rows.filter(isTriple) : answer.rows;
  const rows = given.map(writeRow).sort();
  const graph = isGraph ? given.map(quadOf) : undefined;
  return graph ? { rows: [...new Set(rows)], graph } : { rows, given };
}

const isTriple = (row: ReadonlyMap<string, Term>): boolean =>
  row.get('subject')!.termType !== 'Literal' && row.get('predicate')!.termType === 'NamedNode';

export const writeRow = (row: Solution): string =>
  [...row]
    .map(([name, term]) => `${name}=${writeTerm(canonical(term))}`)
    .sort()
    .join(' ');

const quadOf = (row: ReadonlyMap<string, Term>): Quad => {
  const [subject, predicate, object] = ['subject', 'predicate', 'object'].map((name) => canonical(row.get(name)!));
  return DataFactory.quad(subject as never, predicate as never, object as never) as unknown as Quad;
};

const numbers = /#(integer|decimal|double|float|byte)$/;

function canonical(term: Term): Term {
  if (term.termType === 'Quad')
    return DataFactory.quad(
      canonical(term.subject) as never,
      canonical(term.predicate) as never,
      canonical(term.object) as never,
    ) as unknown as Term;
  if (term.termType === 'BlankNode') return DataFactory.blankNode(term.value.replace(/^bc_\d+_/, ''));
  if (term.termType !== 'Literal') return term;
  const type = numbers.exec(term.datatype.value)?.[1];
  if (type === undefined) return term;
  const isExact = type !== 'double' && type !== 'float';
  const text = isExact ? exactText(term.value) : String(Number(term.value.replace('INF', 'Infinity')));
  return DataFactory.literal(text, DataFactory.namedNode(term.datatype.value)) as Term;
}

const exactText = (text: string): string => {
  const found = /^([+-]?)0*(\d*)(?:\.(\d*?)0*)?$/.exec(text);
  if (!found) return text;
  const size = `${found[2] || '0'}${found[3] ? `.${found[3]}` : ''}`;
  return size === '0' || found[1] !== '-' ? size : `-${size}`;
};

export function areSame(a: Outcome, b: Outcome): boolean {
  if ('error' in a || 'error' in b) return 'error' in a && 'error' in b;
  if (a.rows.length !== b.rows.length) return false;
  if (a.rows.every((row, at) => row === b.rows[at])) return true;
  return !!a.graph && !!b.graph && isomorphic(a.graph, b.graph);
}

/** Describes the additional and missing rows, compared with an oracle. */
export function writeDifference(outcome: Outcome, oracle: Outcome): string {
  if ('error' in outcome) return `error: ${outcome.error}`;
  if ('error' in oracle) return `${outcome.rows.length} rows, oracle: error: ${oracle.error}`;
  const less = [...oracle.rows];
  const more = outcome.rows.filter((row) => {
    const at = less.indexOf(row);
    if (at >= 0) less.splice(at, 1);
    return at < 0;
  });
  const some = (rows: readonly string[]): string => `${rows.length} ${JSON.stringify(rows.slice(0, 3))}`;
  return `${outcome.rows.length} rows, oracle: ${oracle.rows.length}, additional: ${some(more)}, missing: ${some(less)}`;
}
