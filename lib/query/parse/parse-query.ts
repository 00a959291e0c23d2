/** Parses and checks a query. Returns its dataset and algebra. Must not depend on the caller or run queries. */
import type { Algebra } from '@comunica/utils-algebra';
import { LRUCache } from 'lru-cache';
import { resolveIri } from '../../rdf/resolve-iri.js';
import { LwsError } from '../../tools/errors.js';
import type { AllowedHost } from '../../tools/outbound/address-policy.js';
import { decodeEscapes } from './code-point-escapes.js';
import { lowerGraphs } from './graph-names.js';
import { bindParameters, type Parameters } from './parameters.js';
import { assertGraphNames, assertScopes, nameSolutions } from './query-scopes.js';
import { type Constants, fixedTerms, type QueryShape, queryShapeOf } from './query-shape.js';
import { putServices, type ServiceClause, takeServices } from './service-clauses.js';
import { prefixesOf, type Syntax, sparqlReader } from './sparql-parser.js';
import { commentToken, referenceToken, stringToken } from './sparql-tokens.js';
import { explainSyntax } from './syntax-errors.js';
import { mayHaveTextPatterns, replaceTextPatterns, type SearchTexts } from './text-patterns.js';

export type QueryForm = 'select' | 'ask' | 'construct' | 'describe';

export interface ReadQuery {
  readonly form: QueryForm;
  /** Algebra without dataset clauses, with placeholders for constants. Queries of one shape share the same object. */
  readonly shape: Algebra.Operation;
  readonly constants: Constants;
  /** Graphs of FROM and FROM NAMED. `undefined` without such clauses. */
  readonly from: { readonly defaultGraphs: readonly string[]; readonly namedGraphs: readonly string[] } | undefined;
  /** Names of the variables of a SELECT, in order. */
  readonly variables: readonly string[];
  readonly prefixes: Readonly<Record<string, string>>;
  /** Base IRI for IRI(). */
  readonly base: string;
}

export interface ReadOptions {
  /** Hosts that are allowed in SERVICE. */
  readonly allowedServices?: readonly AllowedHost[];
  /** Values of the query's parameters. */
  readonly parameters?: Parameters;
  /** Returns the rows of `text:query` patterns. Absent: such patterns are ordinary triple patterns. */
  readonly searchTexts?: SearchTexts | undefined;
  /** Graphs of the dataset that the request specifies. */
  readonly defaultGraphs?: readonly string[] | undefined;
  readonly namedGraphs?: readonly string[] | undefined;
}

/** Maximum length of a cached query, in characters. Queries with parameters or text patterns are not cached. */
const longestKept = 8192;
/** Cached shapes and texts. If `fixed` (`fixedTerms`) is `undefined`, the shape cannot be used. */
const kept = new LRUCache<
  string,
  { readonly query: ReadQuery | undefined; readonly fixed: ReadonlySet<string> | undefined }
>({
  maxSize: 64 * longestKept,
  sizeCalculation: (_query, text) => text.length + 1,
});
const none: Constants = new Map();

/**
 * Parses a query, or returns the cached query of the same shape.
 * @throws LwsError `malformed-query` with line and column, also for an update, `too-complex` for a SERVICE that is not allowed,
 * `bad-request` as `bindParameters`
 */
export async function parseQuery(written: string, base: string, options: ReadOptions = {}): Promise<ReadQuery> {
  const name = `${base}\u0000${written}`;
  const isOwn =
    Object.keys(options.parameters ?? {}).length > 0 || (options.searchTexts && mayHaveTextPatterns(written));
  const isShort = name.length <= longestKept && !isOwn;
  const known = isShort ? kept.get(name)?.query : undefined;
  if (known) return known;
  const shape = isShort ? queryShapeOf(written) : undefined;
  if (!shape || /service/i.test(shape.text)) return parsed(written, base, options);
  const { constants } = shape;
  const { query, fixed } = await keptOf(shape, base);
  if (!query || !fixed || [...constants.values()].some((value) => fixed.has(value)))
    return (await keptOf({ text: written, constants: none }, base)).query!;
  const own = { ...query, constants };
  kept.set(name, { query: own, fixed });
  return own;
}

async function keptOf({ text, constants }: QueryShape, base: string) {
  const name = `${base}\u0000${text}`;
  let found = kept.get(name);
  if (!found) {
    const query = await parsed(text, base).catch((error: unknown) => {
      // The caller then parses the original text, whose error has the correct terms and position.
      if (constants.size === 0) throw error;
      return undefined;
    });
    found = { query, fixed: query && fixedTerms(query, constants) };
    kept.set(name, found);
  }
  return found;
}

async function parsed(
  written: string,
  base: string,
  { allowedServices = [], parameters = {}, searchTexts, defaultGraphs, namedGraphs }: ReadOptions = {},
): Promise<ReadQuery> {
  const { parse, translate } = await sparqlReader(base);
  const text = decodeEscapes(written);
  let syntax: Syntax;
  try {
    syntax = parse(text);
    bindParameters(syntax, parameters);
  } catch (error) {
    if (error instanceof LwsError) throw error;
    throw new LwsError('malformed-query', `The query has a syntax error: ${explainSyntax(text, error as Error)}`, {
      cause: error,
    });
  }
  if (syntax.type === 'update')
    throw new LwsError(
      'malformed-query',
      text.replace(/#.*/g, '').trim() === ''
        ? 'The request contains no query. A query begins with SELECT, ASK, CONSTRUCT or DESCRIBE.'
        : 'This is an update, but a query is required. Use PATCH to change a resource.',
    );
  if (searchTexts && mayHaveTextPatterns(text)) {
    const hasDataset = defaultGraphs !== undefined || namedGraphs !== undefined;
    await replaceTextPatterns(syntax, { base: baseOf(syntax, base), search: searchTexts, hasDataset });
  }
  let services: readonly ServiceClause[];
  let algebra: Algebra.Operation;
  try {
    services = /service/i.test(text) ? await takeServices(syntax, base, allowedServices) : [];
    algebra = translate(syntax);
  } catch (error) {
    if (error instanceof LwsError) throw error;
    const isDeep = error instanceof RangeError;
    const reason = isDeep ? 'it is nested too deeply' : oneLine((error as Error).message);
    throw new LwsError('malformed-query', `The query is not valid: ${reason}`, {
      cause: error,
    });
  }
  orderColumns(algebra, syntax, text);
  assertScopes(algebra);
  if (/graph/i.test(text)) assertGraphNames(syntax);
  putServices(algebra, services);
  if (/count/i.test(text)) nameSolutions(algebra, syntax);
  if (/graph/i.test(text)) algebra = lowerGraphs(algebra);
  const from = algebra.type === 'from' ? (algebra as Algebra.From) : undefined;
  const input = from?.input ?? algebra;
  return {
    form: syntax.subType as QueryForm,
    shape: input,
    constants: none,
    from: from && { defaultGraphs: namesOf(from.default), namedGraphs: namesOf(from.named) },
    variables: namesOf(projectionOf(input)?.variables ?? []),
    prefixes: prefixesOf(syntax),
    base: baseOf(syntax, base),
  };
}

const oneLine = (message: string): string => message.replace(/\s+/g, ' ').slice(0, 300);

const namesOf = (terms: readonly { readonly value: string }[]): readonly string[] => terms.map(({ value }) => value);

function projectionOf(algebra: Algebra.Operation): Algebra.Project | undefined {
  for (let node: Algebra.Operation | undefined = algebra; node; node = (node as Partial<Algebra.Single>).input)
    if (node.type === 'project') return node as Algebra.Project;
  return undefined;
}

/** Orders the columns of `SELECT *` by the first occurrence of each variable in the text. */
function orderColumns(algebra: Algebra.Operation, { variables }: Syntax, text: string): void {
  const isAll = Array.isArray(variables) && (variables[0] as Syntax | undefined)?.type === 'wildcard';
  const project = isAll ? projectionOf(algebra) : undefined;
  if (!project) return;
  const places = new Map<string, number>();
  for (const [, name] of text.matchAll(variableToken))
    if (name !== undefined) places.set(name, places.get(name) ?? places.size);
  const placeOf = ({ value }: { readonly value: string }): number => places.get(value) ?? places.size;
  project.variables = [...project.variables].sort((a, b) => placeOf(a) - placeOf(b));
}

/** Token: a string, comment or reference, which contains no variables, or a variable. */
const variableToken = new RegExp(
  `${stringToken}|${commentToken}|<${referenceToken}>|[?$]([\\w\\u00b7-\\uffff]+)`,
  'gs',
);

/** Returns the last BASE of the query, resolved against the earlier ones. */
function baseOf({ context }: Syntax, outer: string): string {
  let base = outer;
  for (const { subType, value } of (context as Syntax[] | undefined) ?? [])
    if (subType === 'base') base = resolveIri((value as { value: string }).value, base);
  return base;
}
