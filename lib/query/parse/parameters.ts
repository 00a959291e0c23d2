/** The parameters of a query: terms in the place of variables, put into its syntax tree, so that no value can be read as anything else. */
import { LwsError } from '../../errors.js';
import { nodesOf } from './query-scopes.js';
import type { Syntax } from './sparql-parser.js';

/** A value: an IRI, or a literal. */
export type ParameterTerm =
  | { readonly iri: string }
  | { readonly literal: string; readonly language?: string; readonly datatype?: string };

/** By the names of variables, without their question marks. */
export type Parameters = Readonly<Record<string, ParameterTerm>>;

type Mutable = Record<string, unknown>;

const refused = (detail: string): LwsError => new LwsError('bad-request', detail);

/**
 * Puts terms in the place of variables. A variable that is selected is still a column, with the value in each row.
 * @throws LwsError `bad-request` for a name that is no variable of the query, or one that the query assigns; and for a literal
 *   where only an IRI may stand
 */
export function bindParameters(syntax: Syntax, parameters: Parameters): void {
  const names = new Set(Object.keys(parameters));
  if (names.size === 0) return;
  const isParameter = (term: unknown): term is Syntax & { readonly value: string } => {
    const { type, subType, value } = (term ?? {}) as Syntax;
    return type === 'term' && subType === 'variable' && names.has(value as string);
  };
  const nodes = [...nodesOf(syntax)];
  const found = new Set(nodes.filter(isParameter).map(({ value }) => value));
  for (const name of names) if (!found.has(name)) throw refused(`The query has no variable ?${name}.`);
  if (nodes.some(({ subType }) => subType === 'service')) throw refused('A query with a SERVICE takes no parameters.');
  // One object may stand in several places.
  for (const node of new Set(nodes)) {
    assertUnassigned(node, isParameter);
    for (const [key, value] of Object.entries(node)) {
      const put = (term: Syntax & { readonly value: string }): object =>
        termOf(parameters[term.value]!, term, node.type === 'triple' ? key : String(node['subType']));
      if (isParameter(value)) (node as Mutable)[key] = put(value);
      else if (Array.isArray(value))
        (node as Mutable)[key] = value.map((each) => replaced(each, { node, key, isParameter, put }));
      else (node as Mutable)[key] = withoutBound(value, isParameter);
    }
  }
}

interface Place {
  readonly node: Syntax;
  readonly key: string;
  readonly isParameter: (term: unknown) => term is Syntax & { readonly value: string };
  readonly put: (term: Syntax & { readonly value: string }) => object;
}

/** One of a list: of what is selected, of the arguments of a function, and so on. */
function replaced(each: unknown, { node, key, isParameter, put }: Place): unknown {
  if (!isParameter(each)) return withoutBound(each, isParameter);
  const term = put(each);
  const isSelected = node.type === 'query' && node['subType'] === 'select' && key === 'variables';
  return isSelected ? { type: 'pattern', subType: 'bind', expression: term, variable: each, loc: each['loc'] } : term;
}

/** BOUND takes a variable; what is given is bound. */
function withoutBound(node: unknown, isParameter: Place['isParameter']): unknown {
  const { type, subType, operator, args, loc } = (node ?? {}) as Syntax;
  if (type !== 'expression' || subType !== 'operation' || operator !== 'bound') return node;
  if (!isParameter((args as readonly unknown[])[0])) return node;
  const datatype = 'http://www.w3.org/2001/XMLSchema#boolean';
  return literal('true', { type: 'term', subType: 'namedNode', value: datatype, loc }, loc);
}

function assertUnassigned(node: Syntax, isParameter: Place['isParameter']): void {
  const { type, subType, variable, variables } = node;
  const assigned = [variable, ...(subType === 'values' ? (variables as readonly unknown[]) : [])].find(isParameter);
  if (assigned && type !== 'term') throw refused(`The query assigns ?${assigned.value} itself.`);
}

const literal = (value: string, langOrIri: unknown, loc: unknown): object => ({
  type: 'term',
  subType: 'literal',
  value,
  langOrIri,
  loc,
});

/** Where a literal has no meaning. */
const iriPlaces = new Set(['subject', 'predicate', 'graph', 'describe']);

function termOf(term: ParameterTerm, { value: name, loc }: Syntax, place: string): object {
  const iri = (value: string): object => ({ type: 'term', subType: 'namedNode', value, loc });
  if ('iri' in term) return iri(term.iri);
  if (iriPlaces.has(place)) throw refused(`The parameter ${name} stands where only an IRI can: <...>.`);
  const { language, datatype } = term;
  return literal(term.literal, language ?? (datatype === undefined ? undefined : iri(datatype)), loc);
}
