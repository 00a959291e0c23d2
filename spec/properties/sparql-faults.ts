/**
 * Known faults of the oracles by the shape of a query, with the sections of SPARQL 1.1 Query Language. Faults of Oxigraph are
 * compared with Comunica. Independent of the engine under test.
 */
import type { Algebra } from '@comunica/utils-algebra';
import { anyGraph } from '../../lib/query/parse/graph-names.js';
import { type AlgebraNode, nodesOf } from '../../lib/query/parse/query-scopes.js';

export interface Asked {
  readonly algebra: Algebra.Operation;
  /** True if data or query have ill-typed literals, or literals in a non-canonical form. */
  readonly isOdd: boolean;
  /** True if the query has FROM clauses. */
  readonly hasFrom: boolean;
}

interface Fault {
  readonly of: 'oxigraph' | 'comunica';
  readonly why: string;
  readonly applies: (asked: Asked) => boolean;
}

const everywhere = (): boolean => true;
const nodes = (
  root: unknown,
  test: (node: AlgebraNode) => boolean,
  goOn = everywhere as (node: AlgebraNode) => boolean,
): AlgebraNode[] => [...nodesOf(root, goOn)].filter(test);
const has = (root: unknown, test: (node: AlgebraNode) => boolean): boolean => {
  for (const node of nodesOf(root, everywhere)) if (test(node)) return true;
  return false;
};
const isType =
  (...types: readonly string[]) =>
  ({ type }: AlgebraNode): boolean =>
    types.includes(type as string);
const isTerm = (term: unknown): boolean => /^(?:NamedNode|Literal)$/.test((term as AlgebraNode)['termType'] as string);

/** Returns true if a path can have length zero. */
function isNullable(path: AlgebraNode): boolean {
  const { type, path: inner, input } = path as { type?: string; path: AlgebraNode; input: AlgebraNode[] };
  if (type === 'inv' || type === 'OneOrMorePath') return isNullable(inner);
  if (type === 'alt') return input.some(isNullable);
  if (type === 'seq') return input.every(isNullable);
  return type === 'ZeroOrMorePath' || type === 'ZeroOrOnePath';
}
const hasNullable = ({ predicate }: AlgebraNode): boolean => has(predicate, (node) => isNullable(node));
const paths = (root: unknown): AlgebraNode[] => nodes(root, isType('path'));
const existences = (root: unknown): AlgebraNode[] => nodes(root, ({ subType }) => subType === 'existence');

export const faults: readonly Fault[] = [
  {
    of: 'oxigraph',
    why: '18.2.2.3, 18.4: an alternative, and a negated set with both directions, is a union, which keeps duplicates',
    applies: ({ algebra }) => paths(algebra).some((path) => has(path['predicate'], isType('alt'))),
  },
  {
    of: 'oxigraph',
    why: '18.4: a path of length zero can start at a term that is not a node of the graph, including a term substituted by EXISTS (18.6)',
    applies: ({ algebra }) =>
      paths(algebra).some((path) => hasNullable(path) && (isTerm(path['subject']) || isTerm(path['object']))) ||
      existences(algebra).some((existence) => paths(existence).some(hasNullable)),
  },
  {
    of: 'oxigraph',
    why: 'RDF 1.1 Concepts 3.3: literals with different lexical forms are different terms. 17.2.2: the EBV of an ill-typed literal is false',
    applies: ({ isOdd }) => isOdd,
  },
  {
    of: 'oxigraph',
    why: '18.6: GRAPH also binds its name if its group has no triple',
    // Variable added by the parser.
    applies: ({ algebra }) => has(algebra, ({ value }) => value === anyGraph),
  },
  {
    of: 'oxigraph',
    why: '18.6: an assignment to the graph name within the group is joined with it',
    applies: ({ algebra }) =>
      has(algebra, ({ type, variable, input }) => {
        const name = (variable as AlgebraNode | undefined)?.['value'];
        return type === 'extend' && has(input, ({ graph }) => (graph as AlgebraNode | undefined)?.['value'] === name);
      }),
  },
  {
    of: 'oxigraph',
    why: '13.2.1: a default graph of several graphs is their merge, without duplicates',
    applies: ({ hasFrom }) => hasFrom,
  },
  {
    of: 'oxigraph',
    why: '17.4.1.7: literals of different types are neither equal nor unequal',
    applies: ({ algebra }) =>
      has(algebra, ({ operator }) => ['=', '!=', 'in', 'notin'].includes((operator as string | undefined) ?? '')),
  },
  {
    of: 'oxigraph',
    why: '17.3: strings with a language, and terms of types outside of the table, have no order',
    applies: ({ algebra }) => has(algebra, ({ operator }) => /^[<>]=?$/.test((operator as string | undefined) ?? '')),
  },
  {
    of: 'oxigraph',
    why: '18.5: MINUS removes no solution without a shared variable, also within EXISTS',
    applies: ({ algebra }) => existences(algebra).some((existence) => has(existence, isType('minus'))),
  },
  ...(['oxigraph', 'comunica'] as const).map((of) => ({
    of,
    why: '18.5.1: without GROUP BY, there is one group even if a filter removes all solutions',
    applies: ({ algebra }: Asked) =>
      has(
        algebra,
        (node) => node.type === 'group' && (node['variables'] as unknown[]).length === 0 && has(node, isType('filter')),
      ),
  })),
  {
    of: 'comunica',
    why: '18.5.1: an unbound variable is an error in SUM and AVG, and leaves the result unbound',
    applies: ({ algebra }) =>
      has(algebra, ({ aggregator }) => ['sum', 'avg'].includes((aggregator as string | undefined) ?? '')),
  },
  ...(['oxigraph', 'comunica'] as const).map((of) => ({
    of,
    why: '18.3.1, 18.5.1.2: blank nodes of a pattern and intermediate nodes of a path are not variables for COUNT(DISTINCT *)',
    applies: ({ algebra }: Asked) =>
      has(
        algebra,
        ({ aggregator, distinct, expression }) =>
          aggregator === 'count' && distinct === true && (expression as AlgebraNode)['subType'] === 'wildcard',
      ),
  })),
  {
    of: 'comunica',
    why: '18.6: drops nested alternatives and negated sets, because it assumes that they have no solution',
    applies: ({ algebra }) =>
      has(algebra, isType('project', 'join', 'graph', 'union', 'group', 'leftjoin', 'minus')) &&
      paths(algebra).some((path) => has(path['predicate'], isType('alt', 'nps'))),
  },
  {
    of: 'comunica',
    why: '18.3: an unbound variable of a group is compatible with every term',
    applies: ({ algebra }) => nodes(algebra, isType('join', 'leftjoin')).some((join) => has(join, isType('group'))),
  },
  {
    of: 'comunica',
    why: '17.1, XPath 4.2: decimals are not doubles',
    applies: ({ algebra }) =>
      has(
        algebra,
        ({ operator, subType, name }) =>
          /^([-+*/]|abs|ceil|floor|round)$/i.test((operator as string | undefined) ?? '') ||
          (subType === 'named' && (name as AlgebraNode)['value'] === 'http://www.w3.org/2001/XMLSchema#decimal'),
      ),
  },
  {
    of: 'comunica',
    why: '18.4, 18.6: a path of length zero from a term has a solution in every graph',
    applies: ({ algebra }) =>
      paths(algebra).some((path) => hasNullable(path) && (path['graph'] as AlgebraNode)['termType'] !== 'DefaultGraph'),
  },
];

export const isFaultOf = (oracle: Fault['of'], asked: Asked): boolean =>
  faults.some(({ of, applies }) => of === oracle && applies(asked));
