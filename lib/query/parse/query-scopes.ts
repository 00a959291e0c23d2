/**
 * Checks scope rules of variables that the grammar does not express (SPARQL 1.1 11.4, 18.2.4.4), before the query runs. Not
 * recursive, because the nesting depth of a query grows with its length.
 */
import { LwsError } from '../../tools/errors.js';

/** Node of the algebra or of the syntax tree. */
export interface AlgebraNode {
  readonly type?: string;
  readonly [member: string]: unknown;
}

interface Named {
  readonly value: string;
}

const namesOf = (variables: unknown): string[] => (variables as readonly Named[]).map(({ value }) => value);

/** Rejects invalid scopes of variables. @throws LwsError `malformed-query` */
export function assertScopes(root: object): void {
  for (const node of nodesOf(root)) {
    if (node.type === 'project') assertProjection(node);
    if (node.type === 'extend') assertFresh(node);
    if (node.type === 'values') assertDistinct(namesOf(node['variables']));
  }
}

/**
 * Rejects a SELECT that assigns the variable of a GRAPH in its WHERE. The variable is bound outside of the group, and may be
 * assigned within the group (SPARQL 1.1 18.2.1, 18.6). The parser rejects only assignments after GRAPH in a group. The algebra
 * does not show such assignments.
 * @throws LwsError `malformed-query`
 */
export function assertGraphNames(syntax: object): void {
  for (const node of nodesOf(syntax)) {
    if (node.type !== 'query') continue;
    const assigned = ((node['variables'] ?? []) as AlgebraNode[]).flatMap(({ subType, variable }) =>
      subType === 'bind' ? [(variable as Named).value] : [],
    );
    if (assigned.length === 0) continue;
    for (const { subType, name } of nodesOf(
      node['where'],
      (below) => below.type !== 'query' && below['subType'] !== 'minus',
    ))
      if (subType === 'graph' && assigned.includes((name as Named).value)) throw assignedTwice((name as Named).value);
  }
}

/** Yields a node and its descendants, without the descendants of nodes for which `goOn` returns false. */
export function* nodesOf(root: unknown, goOn: (node: AlgebraNode) => boolean = () => true): Generator<AlgebraNode> {
  const left: unknown[] = [root];
  while (left.length > 0) {
    const node = left.pop();
    if (Array.isArray(node)) for (const each of node) left.push(each);
    else if (typeof node === 'object' && node !== null) {
      yield node as AlgebraNode;
      if (!goOn(node as AlgebraNode)) continue;
      // Members with source locations are skipped: they are large and contain no nodes.
      for (const key in node) if (key !== 'loc' && key !== 'metadata') left.push((node as AlgebraNode)[key]);
    }
  }
}

/**
 * Returns the variables in scope in a part of the syntax (SPARQL 1.1, 18.2.1): variables that its solutions may bind. For a
 * subquery, returns the projected variables.
 */
export function scopeOf(part: object): Set<string> {
  const names = new Set<string>();
  const left: unknown[] = [part];
  while (left.length > 0) {
    const node = left.pop();
    if (Array.isArray(node)) left.push(...node);
    if (typeof node !== 'object' || node === null || Array.isArray(node)) continue;
    const { type, subType, value, variables, variable, values, ...of } = node as AlgebraNode;
    if (subType === 'variable') names.add(String(value));
    else if (type === 'query') {
      const isAll = (variables as AlgebraNode[]).some((each) => each.type === 'wildcard');
      left.push(
        ...(isAll ? [of['where'], values] : (variables as AlgebraNode[]).map((each) => each['variable'] ?? each)),
      );
    } else if (type !== 'pattern')
      // The member `val` contains the reifier of an annotation.
      for (const name of ['subject', 'predicate', 'object', 'identifier', 'triples', 'annotations', 'val'])
        left.push(of[name]);
    else if (subType === 'values') left.push(variables);
    else if (subType === 'bind') left.push(variable);
    else if (subType !== 'minus' && subType !== 'filter') left.push(of['name'], of['triples'], of['patterns']);
  }
  return names;
}

/** Rejects a query with groups that projects other variables than grouping variables, aggregates, and their expressions. */
function assertProjection(project: AlgebraNode): void {
  const known = new Set<string>();
  for (let node = project['input'] as AlgebraNode | undefined; node; node = node['input'] as AlgebraNode | undefined) {
    if (node.type === 'extend') known.add((node['variable'] as Named).value);
    else if (node.type === 'group') {
      for (const name of namesOf(node['variables'])) known.add(name);
      for (const { variable } of node['aggregates'] as { variable: Named }[]) known.add(variable.value);
      const stray = namesOf(project['variables']).find((name) => !known.has(name));
      if (stray !== undefined)
        throw malformed(`the query is grouped, but ?${stray} is neither grouped by nor an aggregate.`);
      return;
    } else if (node.type !== 'filter' && node.type !== 'orderby') return;
  }
}

function assertDistinct(names: readonly string[]): void {
  const repeated = names.find((name, at) => names.indexOf(name) !== at);
  if (repeated !== undefined) throw malformed(`VALUES has the variable ?${repeated} twice.`);
}

/** Returns true if only the node's own variables, or none for an expression or MINUS, are in scope outside of the node. */
const hidesVariables = ({ type }: AlgebraNode): boolean => /^(?:expression|project|group|minus)$/.test(type ?? '');

/** Rejects BIND or AS of a variable that is already bound. */
function assertFresh(extend: AlgebraNode): void {
  const { value } = extend['variable'] as Named;
  const isIt = (term: unknown): boolean => {
    const { termType, value: name, subject, predicate, object } = term as AlgebraNode;
    return termType === 'Quad' ? [subject, predicate, object].some(isIt) : termType === 'Variable' && name === value;
  };
  for (const node of nodesOf(extend['input'], (below) => !hidesVariables(below))) {
    const { type, subject, predicate, object, variable, variables } = node;
    const bound =
      type === 'pattern' || type === 'path'
        ? [subject, predicate, object]
        : [variable, ...((variables as unknown[] | undefined) ?? [])];
    if (bound.some((term) => term && isIt(term))) throw assignedTwice(value);
  }
}

const assignedTwice = (name: string): LwsError => malformed(`?${name} is assigned but is already bound.`);

/**
 * Adds the variables of the query text to COUNT(DISTINCT *): the algebra also contains variables for blank nodes and paths,
 * which are not in solutions.
 */
export function nameSolutions(algebra: object, syntax: object): void {
  const isCounted = ({ aggregator, distinct, expression }: AlgebraNode): boolean =>
    aggregator === 'count' && distinct === true && (expression as AlgebraNode)['subType'] === 'wildcard';
  const counts = [...nodesOf(algebra)].filter(isCounted);
  if (counts.length === 0) return;
  const names = new Set<string>();
  for (const { subType, value } of nodesOf(syntax)) if (subType === 'variable') names.add(String(value));
  const variables = [...names].map((value) => ({ termType: 'Variable', value }));
  for (const { expression } of counts) Object.assign(expression as object, { variables });
}

const malformed = (why: string): LwsError => new LwsError('malformed-query', `The query is not valid: ${why}`);
