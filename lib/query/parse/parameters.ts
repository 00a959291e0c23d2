/** Binds query parameters by replacing variables in the syntax tree, so that no value can be parsed as syntax. */
import { LwsError } from '../../tools/errors.js';
import { nodesOf } from './query-scopes.js';
import type { Syntax } from './sparql-parser.js';

/** Value of a parameter: an IRI or a literal. */
export type ParameterTerm =
  | { readonly iri: string }
  | { readonly literal: string; readonly language?: string; readonly datatype?: string };

/** Parameters by variable name, without `?`. */
export type Parameters = Readonly<Record<string, ParameterTerm>>;

type Mutable = Record<string, unknown>;

const refused = (detail: string): LwsError => new LwsError('bad-request', detail);

/**
 * Replaces variables by terms. A selected variable remains a column, with the term in each row.
 * @throws LwsError `bad-request` for a variable that is not in the query or that the query assigns, and for a literal where an
 * IRI is required
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
  if (nodes.some(({ subType }) => subType === 'service'))
    throw refused('Parameters are not supported in a query with SERVICE.');
  // Each node is visited once, because the parser may use one object in several positions.
  for (const node of new Set(nodes)) {
    assertUnassigned(node, isParameter);
    const isTriple = node.type === 'triple' || node.subType === 'triple';
    for (const [key, value] of Object.entries(node)) {
      const put = (term: Syntax & { readonly value: string }): object =>
        termOf(parameters[term.value]!, term, isTriple ? key : String(node['subType']));
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

/** Replaces an item of a list, such as a selected variable or an argument of a function. */
function replaced(each: unknown, { node, key, isParameter, put }: Place): unknown {
  if (!isParameter(each)) return withoutBound(each, isParameter);
  const term = put(each);
  const isSelected = node.type === 'query' && node['subType'] === 'select' && key === 'variables';
  return isSelected ? { type: 'pattern', subType: 'bind', expression: term, variable: each, loc: each['loc'] } : term;
}

/** Replaces BOUND of a parameter by true, because its argument must be a variable. */
function withoutBound(node: unknown, isParameter: Place['isParameter']): unknown {
  const { type, subType, operator, args, loc } = (node ?? {}) as Syntax;
  if (type !== 'expression' || subType !== 'operation' || operator !== 'bound') return node;
  if (!isParameter((args as readonly unknown[])[0])) return node;
  const datatype = 'http://www.w3.org/2001/XMLSchema#boolean';
  return literal('true', { type: 'term', subType: 'namedNode', value: datatype, loc }, loc);
}

/** Returns the variables that a node of the syntax assigns: by AS, or by VALUES. */
export function assignedIn({ type, subType, variable, variables }: Syntax): readonly { readonly value?: unknown }[] {
  if (type === 'term') return [];
  const assigned = [variable, ...(subType === 'values' ? (variables as readonly unknown[]) : [])];
  return assigned.filter((each): each is object => typeof each === 'object' && each !== null);
}

function assertUnassigned(node: Syntax, isParameter: Place['isParameter']): void {
  const assigned = assignedIn(node).find(isParameter);
  if (assigned) throw refused(`The query assigns ?${assigned.value}, so it cannot be a parameter.`);
}

const literal = (value: string, langOrIri: unknown, loc: unknown): object => ({
  type: 'term',
  subType: 'literal',
  value,
  langOrIri,
  loc,
});

/** Positions in which a literal is not allowed. */
const iriPlaces = new Set(['subject', 'predicate', 'graph', 'describe']);

function termOf(term: ParameterTerm, { value: name, loc }: Syntax, place: string): object {
  const iri = (value: string): object => ({ type: 'term', subType: 'namedNode', value, loc });
  if ('iri' in term) return iri(term.iri);
  if (iriPlaces.has(place)) throw refused(`The parameter ${name} is used in a position that requires an IRI: <...>.`);
  const { language, datatype } = term;
  return literal(term.literal, language ?? (datatype === undefined ? undefined : iri(datatype)), loc);
}
