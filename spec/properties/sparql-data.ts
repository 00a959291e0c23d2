/** Random datasets for the property specs of queries: some small graphs with unusual terms, or several thousand triples. */
import type { Quad, Term } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import { base, graphNames, type SpecData, type SpecTriple } from '../lib/query/engine-dataset.js';
import type { Random } from './sparql-random.js';

const factory = new DataFactory<Quad>();
const xsd = 'http://www.w3.org/2001/XMLSchema#';
const iri = (name: string): Term => factory.namedNode(base + name);
const typed = (type: string, ...texts: readonly string[]): Term[] =>
  texts.map((text) => factory.literal(text, factory.namedNode(xsd + type)));

/** Predicates and graph names also occur as nodes. */
export const nodeNames = ['a', 'b', 'c', 'd', 'p', 'q', 'graphs/a', 'graphs/b'];
export const predicateNames = ['p', 'q', 'r', 's'];
const blanks = ['x', 'y'].map((label) => factory.blankNode(label));

const literals: readonly Term[] = [
  ...typed('integer', '0', '1', '2', '-3', '9007199254740993'),
  ...typed('decimal', '1.5', '0.1', '90071992547409.93'),
  ...typed('double', '1', '2.5', 'NaN', 'INF'),
  ...typed('float', '1.5'),
  ...typed('boolean', 'true', 'false'),
  ...typed('dateTime', '2020-01-01T00:00:00Z', '2020-01-01T01:00:00+01:00', '2021-05-05T00:00:00Z'),
  ...typed('string', 'a', 'b', '', 'ab c'),
  ...typed('anyURI', 'a'),
  factory.literal('a', 'en'),
  factory.literal('b', 'de-ch'),
];
/** Ill-typed literals, and literals in a non-canonical form. */
const odd: readonly Term[] = [
  ...literals,
  ...typed('integer', '02', '+1'),
  ...typed('byte', '12', '300'),
  ...typed('decimal', '2.0'),
  ...typed('double', '1e0', '2.5E0'),
  ...typed('boolean', '0'),
  ...typed('integer', 'abc'),
  ...typed('boolean', 'maybe'),
  ...typed('dateTime', 'today'),
];

export interface RandomDataset {
  readonly data: SpecData;
  /** True if the data has literals that some engines serialize differently. */
  readonly isOdd: boolean;
}

export function smallDataset(random: Random): RandomDataset {
  const isOdd = random.chance(0.15);
  const values = isOdd ? odd : literals;
  const node = (): Term => (random.chance(0.15) ? random.pick(blanks) : iri(random.pick(nodeNames)));
  const triple = (): SpecTriple => ({
    subject: node(),
    predicate: iri(random.pick(predicateNames)),
    object: random.chance(0.6) ? node() : random.pick(values),
  });
  const graphs = graphNames.slice(0, 3 + random.below(3));
  const all = random.some(2, 6, triple);
  // Some triples are in several graphs, as a test of the union.
  const own = (): SpecTriple[] => [...random.some(0, 7, triple), ...all.filter(() => random.chance(0.3))];
  return { data: new Map(graphs.map((graph) => [graph, distinct(own())])), isOdd };
}

/** Returns several thousand triples, enough for plans with joins, scans and lookups. */
export function largeDataset(random: Random): RandomDataset {
  const node = (): Term => iri(`n${random.below(400)}`);
  const triple = (): SpecTriple => {
    const predicate = random.pick(predicateNames);
    const object = predicate === 's' ? random.pick(literals) : predicate === 'r' ? iri(random.pick(nodeNames)) : node();
    return { subject: node(), predicate: iri(predicate), object };
  };
  return { data: new Map(graphNames.map((graph) => [graph, distinct(random.some(350, 450, triple))])), isOdd: false };
}

const distinct = (triples: readonly SpecTriple[]): SpecTriple[] => [
  ...new Map(
    triples.map((triple) => [[triple.subject, triple.predicate, triple.object].map(keyOf).join(' '), triple]),
  ).values(),
];
const keyOf = (term: Term): string =>
  term.termType === 'Literal' ? `${JSON.stringify(term.value)}${term.language}${term.datatype.value}` : term.value;
