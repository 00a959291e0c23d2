/** Replaces `text:query` patterns, as defined by Apache Jena, by VALUES with the rows of a text search. */

import { resolveIri } from '../../rdf/resolve-iri.js';
import { xsd } from '../../rdf/vocabulary.js';
import { LwsError } from '../../tools/errors.js';
import { prefixesOf, type Syntax } from './sparql-parser.js';

const namespace = 'http://jena.apache.org/text#';

/** Text search that a pattern requests. */
export interface TextCall {
  readonly query: string;
  readonly predicate?: string;
  /** Maximum count of rows. */
  readonly limit: number;
  readonly lang?: string;
  /** Graph to search. Absent: all graphs, with one row for each triple. */
  readonly graph?: string;
}

/** Result of a text search: a matching literal with its subject. */
export interface TextRow {
  readonly subject: string;
  readonly predicate: string;
  readonly score: number;
  readonly literal: string;
  /** Language tag. Empty for a literal without a language. */
  readonly language: string;
}

/** Rows, or the reason of a rejection, as a message for the client. */
export type TextAnswer =
  | { readonly rows: readonly TextRow[] }
  | {
      readonly code: 'malformed-query' | 'too-busy';
      readonly message: string;
      readonly fields: Readonly<Record<string, string>>;
    };

export type SearchTexts = (call: TextCall) => Promise<TextAnswer>;

/** Default and maximum count of rows of a pattern, and maximum count of patterns in a query. */
const [maxRows, maxPatterns] = [10_000, 4];

const refused = (detail: string): LwsError => new LwsError('malformed-query', detail);

/** Returns true if a query may have text patterns. A prefix can end anywhere in the IRI, and characters can be escaped. */
export const mayHaveTextPatterns = (text: string): boolean => /jena\.apache|text\\?#query|\\u/i.test(text);

type Terms = readonly (Syntax & { readonly value: string })[];

/** Context of a query that is needed to translate its text patterns. */
interface TextContext {
  /** Base IRI of the query. */
  readonly base: string;
  readonly search: SearchTexts;
  /** True if the query or the request has a dataset, which restricts the graphs to search. */
  readonly hasDataset: boolean;
}

interface Reading extends TextContext {
  iriOf(term: Syntax): string;
}

/** Replaces the text patterns of a query. @throws LwsError `malformed-query`, `too-busy` */
export async function replaceTextPatterns(syntax: Syntax, context: TextContext): Promise<void> {
  const { base } = context;
  const prefixes = prefixesOf(syntax);
  const iriOf = ({ prefix, value }: Syntax): string =>
    resolveIri(
      prefix === undefined ? (value as string) : `${prefixes[prefix as string] ?? ''}${value as string}`,
      base,
    );
  const isPattern = ({ type, predicate }: Syntax): boolean =>
    type === 'triple' && isTerm(predicate, 'namedNode') && iriOf(predicate) === `${namespace}query`;
  const { clauses = [] } = (syntax['datasets'] ?? {}) as { readonly clauses?: readonly unknown[] };
  const reading = { ...context, iriOf, hasDataset: context.hasDataset || clauses.length > 0 };
  let count = 0;
  for (const [patterns, graph] of [...groupsOf(syntax)])
    for (const [at, { subType, triples }] of patterns.entries()) {
      const found = subType === 'bgp' ? (triples as Syntax[]).filter(isPattern) : [];
      if (found.length === 0) continue;
      count += found.length;
      if (count > maxPatterns) throw refused(`The query has more than ${maxPatterns} patterns with text:query.`);
      const rest = (triples as Syntax[]).filter((triple) => !found.includes(triple));
      const tables: object[] = [];
      for (const triple of found) tables.push(await tableOf(triple, graph, reading));
      const bgp = rest.length === 0 ? [] : [{ ...patterns[at]!, triples: rest }];
      // One element is replaced by one group, so that the indexes of the others stay the same.
      (patterns as object[])[at] = { type: 'pattern', subType: 'group', patterns: [...bgp, ...tables], loc: triples };
    }
}

/** Yields the lists of patterns of a query, each with the name of its GRAPH. Not recursive, for deeply nested queries. */
function* groupsOf(syntax: Syntax): Generator<readonly [patterns: Syntax[], graph: Syntax | undefined]> {
  const left: [node: unknown, graph: Syntax | undefined][] = [[syntax, undefined]];
  for (let next = left.pop(); next; next = left.pop()) {
    const [node, outer] = next;
    if (typeof node !== 'object' || node === null) continue;
    const { subType, name, patterns } = node as Syntax;
    const graph = subType === 'graph' ? (name as Syntax) : outer;
    if (Array.isArray(patterns)) yield [patterns as Syntax[], graph];
    for (const key in node) if (key !== 'loc' && key !== 'metadata') left.push([(node as Syntax)[key], graph]);
  }
}

function isTerm(node: unknown, subType: string): node is Syntax & { readonly value: string } {
  const { type, subType: own } = (node ?? {}) as Syntax;
  return type === 'term' && own === subType;
}

/** Returns the items of a list. For any other term, returns the term. */
function itemsOf(node: unknown): Terms {
  const { type, subType, triples } = node as Syntax;
  if (type !== 'tripleCollection' || subType !== 'list') return [node as Terms[number]];
  return (triples as { readonly object: Terms[number] }[]).filter((_, at) => at % 2 === 0).map(({ object }) => object);
}

async function tableOf(
  { subject, object, loc }: Syntax,
  graph: Syntax | undefined,
  { iriOf, search, hasDataset }: Reading,
): Promise<object> {
  const variables = itemsOf(subject);
  const [first, ...others] = variables;
  const names = variables.map(({ value }) => value);
  const isUsual = others.every((each) => isTerm(each, 'variable')) && new Set(names).size === names.length;
  if (variables.length > 3 || !isUsual || !(isTerm(first, 'variable') || isTerm(first, 'namedNode')))
    throw refused('The subject of text:query must be ?subject or (?subject ?score ?literal).');
  const call = callOf(itemsOf(object), iriOf);
  const isChecked = hasDataset || isTerm(graph, 'variable');
  const answer = await search(!isChecked && graph ? { ...call, graph: iriOf(graph) } : call);
  if ('code' in answer) throw new LwsError(answer.code, answer.message, { fields: answer.fields });
  const [term, datatype] = termsAt(loc);
  const termsOf = ({ subject: iri, predicate, score, literal, language }: TextRow): readonly object[] => [
    term('namedNode', iri),
    term('literal', String(score), datatype),
    term('literal', literal, language === '' ? undefined : language),
    term('namedNode', predicate),
  ];
  const rows = answer.rows.filter(({ subject: iri }) => isTerm(first, 'variable') || iri === iriOf(first!));
  const columns: [name: string, at: number][] = names.map((name, at) => [name, at]);
  if (!isTerm(first, 'variable')) columns.shift();
  const shown = columns.map(([, at]) => variables[at]!);
  const table = (cells: typeof columns): object => ({
    ...{ type: 'pattern', subType: 'values', loc },
    variables: cells.map(([name]) => term('variable', name)),
    values: rows.map((row) => Object.fromEntries(cells.map(([name, at]) => [name, termsOf(row)[at]]))),
  });
  if (!isChecked) return table(columns);
  // The triples are looked up in the dataset: a triple in two graphs is found twice, and none outside of the dataset.
  const own = variables.length === 3 ? [] : ([[hidden.literal, 2]] as typeof columns);
  const literal = variables[2] ?? term('variable', hidden.literal);
  const triple = { subject: first, predicate: term('variable', hidden.predicate), object: literal };
  const bgp = { subType: 'bgp', triples: [{ type: 'triple', ...triple, annotations: [], loc }] };
  const patterns = [table([...columns, [hidden.predicate, 3], ...own]), { type: 'pattern', ...bgp, loc }];
  return {
    ...{ type: 'query', subType: 'select', context: [], solutionModifiers: {}, variables: shown, loc },
    datasets: { type: 'datasetClauses', clauses: [], loc },
    where: { type: 'pattern', subType: 'group', patterns, loc },
  };
}

/** Variable names that no query can contain. */
const hidden = { predicate: '..predicate', literal: '..literal' };

function termsAt(loc: unknown) {
  const term = (subType: string, value: string, langOrIri?: unknown): object => ({
    ...{ type: 'term', subType, value, loc },
    ...(langOrIri === undefined ? {} : { langOrIri }),
  });
  return [term, term('namedNode', xsd.double)] as const;
}

/** Returns true if a term is a string, with or without a language tag. */
const isText = (term: unknown): term is Terms[number] =>
  isTerm(term, 'literal') && (typeof term['langOrIri'] !== 'object' || isOf(term, xsd.string));

const isOf = ({ langOrIri }: Syntax, datatype: string): boolean =>
  isTerm(langOrIri, 'namedNode') && langOrIri.value === datatype;

/** Returns the arguments: property, words, maximum count of rows, language. All except the words are optional. */
function callOf(terms: Terms, iriOf: (term: Syntax) => string): TextCall {
  const rest = [...terms];
  const predicate = isTerm(rest[0], 'namedNode') ? iriOf(rest.shift()!) : undefined;
  const query = rest.shift();
  if (!isText(query))
    throw refused(
      'The arguments of text:query must be: a property (optional), the words as a string, a limit and "lang:...".',
    );
  let limit: number | undefined;
  let lang: string | undefined;
  for (const term of rest)
    if (limit === undefined && isTerm(term, 'literal') && /^\d{1,9}$/.test(term.value))
      limit = Math.min(maxRows, Number(term.value));
    else if (lang === undefined && isText(term) && /^lang:[A-Za-z0-9-]{1,80}$/.test(term.value))
      lang = term.value.slice(5).toLowerCase();
    else throw refused('After the words of text:query only one limit and one "lang:..." are supported.');
  return {
    query: query.value,
    limit: limit ?? maxRows,
    ...(predicate === undefined ? {} : { predicate }),
    ...(lang === undefined ? {} : { lang }),
  };
}
