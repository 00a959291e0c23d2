/**
 * Where the oracles of the random queries are wrong themselves, by the shape of a query, each with the place of SPARQL 1.1 Query
 * Language that says so. What is Oxigraph's fault is held against Comunica. It must not know the engine under test.
 */
import type { Algebra } from '@comunica/utils-algebra';
import { anyGraph } from '../../lib/query/parse/graph-names.js';
import { type AlgebraNode, nodesOf } from '../../lib/query/parse/query-scopes.js';

export interface Asked {
  readonly algebra: Algebra.Operation;
  /** The data, or the query, have literals that are no texts of their types, or not the ones that their values are written as. */
  readonly isOdd: boolean;
  /** It names its dataset (FROM). */
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

/** Whether a path may take no step. */
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
    why: '18.2.2.3, 18.4: an alternative, and a negated set with both directions, is a union, which keeps what it has twice',
    applies: ({ algebra }) => paths(algebra).some((path) => has(path['predicate'], isType('alt'))),
  },
  {
    of: 'oxigraph',
    why: '18.4: a path of no step begins at a term that is no node of the graph; so it does where EXISTS puts a term (18.6)',
    applies: ({ algebra }) =>
      paths(algebra).some((path) => hasNullable(path) && (isTerm(path['subject']) || isTerm(path['object']))) ||
      existences(algebra).some((existence) => paths(existence).some(hasNullable)),
  },
  {
    of: 'oxigraph',
    why: 'RDF 1.1 Concepts 3.3: literals that are written in another way are other terms; 17.2.2: what is ill-typed is false',
    applies: ({ isOdd }) => isOdd,
  },
  {
    of: 'oxigraph',
    why: '18.6: GRAPH binds its name also where its group has no triple',
    // What the reader puts there.
    applies: ({ algebra }) => has(algebra, ({ value }) => value === anyGraph),
  },
  {
    of: 'oxigraph',
    why: '18.6: what a group assigns to the name of its graph is joined with it',
    applies: ({ algebra }) =>
      has(algebra, ({ type, variable, input }) => {
        const name = (variable as AlgebraNode | undefined)?.['value'];
        return type === 'extend' && has(input, ({ graph }) => (graph as AlgebraNode | undefined)?.['value'] === name);
      }),
  },
  {
    of: 'oxigraph',
    why: '13.2.1: a default graph of several is their merge, which has a triple once',
    applies: ({ hasFrom }) => hasFrom,
  },
  {
    of: 'oxigraph',
    why: '17.4.1.7: literals of unlike types are neither equal nor unequal',
    applies: ({ algebra }) =>
      has(algebra, ({ operator }) => ['=', '!=', 'in', 'notin'].includes((operator as string | undefined) ?? '')),
  },
  {
    of: 'oxigraph',
    why: '17.3: texts with a language, and terms of other types than those of the table, have no order',
    applies: ({ algebra }) => has(algebra, ({ operator }) => /^[<>]=?$/.test((operator as string | undefined) ?? '')),
  },
  {
    of: 'oxigraph',
    why: '18.5: MINUS takes away nothing that shares no variable, also within EXISTS',
    applies: ({ algebra }) => existences(algebra).some((existence) => has(existence, isType('minus'))),
  },
  ...(['oxigraph', 'comunica'] as const).map((of) => ({
    of,
    why: '18.5.1: without GROUP BY, there is a group also where a filter leaves no solution',
    applies: ({ algebra }: Asked) =>
      has(
        algebra,
        (node) => node.type === 'group' && (node['variables'] as unknown[]).length === 0 && has(node, isType('filter')),
      ),
  })),
  {
    of: 'comunica',
    why: '18.5.1: an unbound variable is an error of SUM and AVG, which have no value then',
    applies: ({ algebra }) =>
      has(algebra, ({ aggregator }) => ['sum', 'avg'].includes((aggregator as string | undefined) ?? '')),
  },
  ...(['oxigraph', 'comunica'] as const).map((of) => ({
    of,
    why: '18.3.1, 18.5.1.2: a blank node of a pattern, or a stop of a path, is no variable of a solution, of which COUNT(DISTINCT *) counts the different ones',
    applies: ({ algebra }: Asked) =>
      has(
        algebra,
        ({ aggregator, distinct, expression }) =>
          aggregator === 'count' && distinct === true && (expression as AlgebraNode)['subType'] === 'wildcard',
      ),
  })),
  {
    of: 'comunica',
    why: '18.6: it drops alternatives and negated sets within other parts, of which it believes that they have no solution',
    applies: ({ algebra }) =>
      has(algebra, isType('project', 'join', 'graph', 'union', 'group', 'leftjoin', 'minus')) &&
      paths(algebra).some((path) => has(path['predicate'], isType('alt', 'nps'))),
  },
  {
    of: 'comunica',
    why: '18.3: what a group leaves unbound goes together with everything',
    applies: ({ algebra }) => nodes(algebra, isType('join', 'leftjoin')).some((join) => has(join, isType('group'))),
  },
  {
    of: 'comunica',
    why: '17.1, XPath 4.2: decimals are no doubles',
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
    why: '18.4, 18.6: a path of no step from a term is in every graph',
    applies: ({ algebra }) =>
      paths(algebra).some((path) => hasNullable(path) && (path['graph'] as AlgebraNode)['termType'] !== 'DefaultGraph'),
  },
];

export const isFaultOf = (oracle: Fault['of'], asked: Asked): boolean =>
  faults.some(({ of, applies }) => of === oracle && applies(asked));
