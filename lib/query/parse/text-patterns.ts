/** `text:query` patterns in the form of Apache Jena, replaced in the syntax tree by the rows of a text search, as VALUES. */
import { LwsError } from '../../errors.js';
import { resolveIri } from '../../rdf/resolve-iri.js';
import { xsd } from '../../rdf/vocabulary.js';
import { nodesOf } from './query-scopes.js';
import { prefixesOf, type Syntax } from './sparql-parser.js';

const namespace = 'http://jena.apache.org/text#';

/** A text search of a pattern. */
export interface TextCall {
  readonly query: string;
  readonly predicate?: string;
  /** Maximum number of rows. */
  readonly limit: number;
  readonly lang?: string;
}

/** A literal with matches, and its subject. */
export interface TextRow {
  readonly subject: string;
  readonly score: number;
  readonly literal: string;
  /** Empty for none. */
  readonly language: string;
}

/** Rows, or the reason of a rejection in a message for the client. */
export type TextAnswer =
  | { readonly rows: readonly TextRow[] }
  | { readonly code: 'malformed-query' | 'too-busy'; readonly message: string };

export type SearchTexts = (call: TextCall) => Promise<TextAnswer>;

/** Default and maximum number of rows of a pattern, and maximum number of patterns of a query. */
const [maxRows, maxPatterns] = [10_000, 4];

const refused = (detail: string): LwsError => new LwsError('malformed-query', detail);

/** True if a query may have such patterns. */
export const mayHaveTextPatterns = (text: string): boolean => text.includes(namespace);

type Terms = readonly (Syntax & { readonly value: string })[];

/** Replaces the patterns. @param base base IRI of the query @throws LwsError `malformed-query`, `too-busy` */
export async function replaceTextPatterns(syntax: Syntax, base: string, search: SearchTexts): Promise<void> {
  const prefixes = prefixesOf(syntax);
  const iriOf = ({ prefix, value }: Syntax): string =>
    prefix === undefined ? resolveIri(value as string, base) : `${prefixes[prefix as string] ?? ''}${value as string}`;
  const isText = ({ type, predicate }: Syntax): boolean =>
    type === 'triple' && isTerm(predicate, 'namedNode') && iriOf(predicate) === `${namespace}query`;
  let count = 0;
  for (const { patterns } of [...nodesOf(syntax)])
    for (const [at, { subType, triples }] of (Array.isArray(patterns) ? (patterns as Syntax[]) : []).entries()) {
      const found = subType === 'bgp' ? (triples as Syntax[]).filter(isText) : [];
      if (found.length === 0) continue;
      count += found.length;
      if (count > maxPatterns) throw refused(`The query has more than ${maxPatterns} patterns with text:query.`);
      const rest = (triples as Syntax[]).filter((triple) => !found.includes(triple));
      const tables: object[] = [];
      for (const triple of found) tables.push(await tableOf(triple, iriOf, search));
      const bgp = rest.length === 0 ? [] : [{ ...(patterns as Syntax[])[at]!, triples: rest }];
      // One element, so that the positions of the others stay the same.
      (patterns as object[])[at] = { type: 'pattern', subType: 'group', patterns: [...bgp, ...tables], loc: triples };
    }
}

function isTerm(node: unknown, subType: string): node is Syntax & { readonly value: string } {
  const { type, subType: own } = (node ?? {}) as Syntax;
  return type === 'term' && own === subType;
}

/** Returns the items of a list, or the term itself. */
function itemsOf(node: unknown): Terms {
  const { type, subType, triples } = node as Syntax;
  if (type !== 'tripleCollection' || subType !== 'list') return [node as Terms[number]];
  return (triples as { readonly object: Terms[number] }[]).filter((_, at) => at % 2 === 0).map(({ object }) => object);
}

async function tableOf(
  { subject, object, loc }: Syntax,
  iriOf: (term: Syntax) => string,
  search: SearchTexts,
): Promise<object> {
  const variables = itemsOf(subject);
  const [first, ...others] = variables;
  const names = variables.map(({ value }) => value);
  const isUsual = others.every((term) => isTerm(term, 'variable')) && new Set(names).size === names.length;
  if (variables.length > 3 || !isUsual || !(isTerm(first, 'variable') || isTerm(first, 'namedNode')))
    throw refused('The subject of text:query must be ?subject or (?subject ?score ?literal).');
  const answer = await search(callOf(itemsOf(object), iriOf));
  if ('code' in answer) throw new LwsError(answer.code, answer.message);
  const [term, datatype] = termsAt(loc);
  const termsOf = ({ subject: iri, score, literal, language }: TextRow): readonly object[] => [
    term('namedNode', iri),
    term('literal', String(score), datatype),
    term('literal', literal, language === '' ? undefined : language),
  ];
  const rows = answer.rows.filter(({ subject: iri }) => isTerm(first, 'variable') || iri === iriOf(first!));
  const columns = isTerm(first, 'variable')
    ? names.map((name, at) => [name, at] as const)
    : others.map(({ value }, at) => [value, at + 1] as const);
  return {
    ...{ type: 'pattern', subType: 'values', loc },
    variables: isTerm(first, 'variable') ? variables : others,
    values: rows.map((row) => Object.fromEntries(columns.map(([name, at]) => [name, termsOf(row)[at]]))),
  };
}

function termsAt(loc: unknown) {
  const term = (subType: string, value: string, langOrIri?: unknown): object => ({
    ...{ type: 'term', subType, value, loc },
    ...(langOrIri === undefined ? {} : { langOrIri }),
  });
  return [term, term('namedNode', xsd.double)] as const;
}

/** Reads the arguments: property, words, maximum number of rows, and language; all but the words are optional. */
function callOf(terms: Terms, iriOf: (term: Syntax) => string): TextCall {
  const rest = [...terms];
  const predicate = isTerm(rest[0], 'namedNode') ? iriOf(rest.shift()!) : undefined;
  const query = rest.shift();
  if (!isTerm(query, 'literal'))
    throw refused(
      'The arguments of text:query must be: a property (optional), the words as a string, a limit and "lang:...".',
    );
  let limit = maxRows;
  let lang: string | undefined;
  for (const term of rest)
    if (isTerm(term, 'literal') && /^\d{1,9}$/.test(term.value)) limit = Math.min(maxRows, Number(term.value));
    else if (isTerm(term, 'literal') && /^lang:[A-Za-z0-9-]{1,80}$/.test(term.value))
      lang = term.value.slice(5).toLowerCase();
    else throw refused('After the words of text:query only a limit and "lang:..." are supported.');
  return {
    query: query.value,
    limit,
    ...(predicate === undefined ? {} : { predicate }),
    ...(lang === undefined ? {} : { lang }),
  };
}
