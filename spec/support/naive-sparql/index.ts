/**
 * Naive evaluator of SPARQL 1.1 queries, the oracle of differential specs. It follows section 18 of the Recommendation step by
 * step, without optimization and without an index. It shares no code with the server except the parser.
 */
import type { Quad, Term } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import type { TranslatedQuery, TriplePattern } from './algebra.js';
import { evaluate } from './evaluate.js';
import { parseSyntax } from './syntax.js';
import { blank, type Dataset, distinctBy, type Solution, type Triple, termKey, termsIn, triple } from './terms.js';
import { translateQuery } from './translate-query.js';

export { type Dataset, type Solution, TooLarge, type Triple, Undefined } from './terms.js';

export type NaiveResult =
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'graph'; readonly quads: readonly Quad[] }
  | {
      readonly kind: 'solutions';
      readonly variables: readonly string[];
      readonly rows: readonly Solution[];
      readonly isNumbered: boolean;
    };

/** Graphs that a dataset clause can select, and the default graph of a query without one. */
export interface GraphStore {
  readonly graphs: ReadonlyMap<string, readonly Triple[]>;
  readonly defaultGraph: readonly Triple[];
  /** Rule 14.14, an extension of 18.6: FILTER, BIND and EXISTS within `GRAPH ?name` see the graph name. */
  readonly areNamesVisible?: boolean;
}

/** Evaluates a query. @throws the error of the parser, and Undefined or TooLarge if there is no comparable result */
export async function naiveResult(query: string, store: GraphStore, base = ''): Promise<NaiveResult> {
  const translated = translateQuery(await parseSyntax(query, base), base);
  const dataset = datasetOf(translated, store);
  const rows = evaluate(translated.pattern, {
    dataset,
    graph: dataset.defaultGraph,
    base: translated.base,
    graphNames: store.areNamesVisible ? new Map() : undefined,
  });
  if (translated.form === 'ask') return { kind: 'boolean', value: rows.length > 0 };
  if (translated.form === 'construct') return { kind: 'graph', quads: construct(translated.template, rows) };
  if (translated.form !== 'select') throw new Error('DESCRIBE has no result defined by the Recommendation.');
  return { kind: 'solutions', variables: translated.names, rows, isNumbered: translated.isOrdered };
}

/** RDF merge of graphs (13.2.1). Blank nodes of different graphs are already distinct. */
export const unionOf = (graphs: readonly (readonly Triple[])[]): Triple[] => distinctBy(graphs.flat(), tripleKey);
const tripleKey = ({ subject, predicate, object }: Triple): string =>
  [subject, predicate, object].map(termKey).join(' ');

/** 13.2: FROM and FROM NAMED select from the existing graphs (rule 14.4). */
function datasetOf({ dataset }: TranslatedQuery, { graphs, defaultGraph }: GraphStore): Dataset {
  if (!dataset) return { defaultGraph, named: graphs };
  const { defaultGraphs, namedGraphs } = dataset;
  return {
    defaultGraph: unionOf(defaultGraphs.map((name) => graphs.get(name) ?? [])),
    named: new Map([...graphs].filter(([name]) => namedGraphs.includes(name))),
  };
}

const factory = new DataFactory<Quad>();

const isTriple = (subject?: Term, predicate?: Term, object?: Term): boolean =>
  /^(?:NamedNode|BlankNode)$/.test(subject?.termType ?? '') && predicate?.termType === 'NamedNode' && !!object;

/** 16.2: each solution has its own blank nodes, and invalid triples are omitted. */
function construct(template: readonly TriplePattern[], rows: readonly Solution[]): Quad[] {
  const made = rows.flatMap((row, at) => {
    const term = (pattern: Term): Term | undefined => {
      if (pattern.termType === 'Quad') {
        const [subject, predicate, object] = termsIn(pattern).map(term);
        return isTriple(subject, predicate, object) ? triple(subject!, predicate!, object!) : undefined;
      }
      if (pattern.termType !== 'Variable') return pattern;
      return pattern.value.startsWith('_:') ? blank(`row${at}-${pattern.value.slice(2)}`) : row.get(pattern.value);
    };
    return template.flatMap((each) => {
      const [subject, predicate, object] = [term(each.subject), term(each.predicate), term(each.object)];
      return isTriple(subject, predicate, object)
        ? [{ subject: subject!, predicate: predicate!, object: object! }]
        : [];
    });
  });
  return distinctBy(made, tripleKey).map(({ subject, predicate, object }) =>
    factory.quad(subject as never, predicate as never, object as never),
  );
}
