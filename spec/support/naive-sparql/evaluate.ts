/** Evaluates the algebra over a dataset (SPARQL 1.1, 18.3 to 18.6). Multisets are arrays, and joins are nested loops. */
import type { Term } from '@rdfjs/types';
import { aggregateValue } from './aggregates.js';
import type { Algebra, Expression, GroupKey, TriplePattern } from './algebra.js';
import { type ExpressionScope, evaluateExpression, holds } from './expressions.js';
import { hidesName } from './graph-names.js';
import { compareForOrder } from './order.js';
import { pairsOf } from './paths.js';
import { substitute } from './substitute.js';
import {
  type Dataset,
  distinctBy,
  ExpressionError,
  iri,
  type Solution,
  sameTerm,
  solutionKey,
  TooLarge,
  type Triple,
  termKey,
  termsIn,
  Undefined,
  variable,
} from './terms.js';

/** The active graph of a part of a query, within the dataset (18.1.3). */
export interface Context {
  readonly dataset: Dataset;
  readonly graph: readonly Triple[];
  /** Base IRI of the query. */
  readonly base: string;
  /** Graph names visible to expressions within `GRAPH ?name`. Undefined: none, as in the Recommendation. */
  readonly graphNames?: Solution | undefined;
}

const maxSolutions = 20_000;

export function evaluate(algebra: Algebra, context: Context): readonly Solution[] {
  const solutions = evaluateOperator(algebra, context);
  if (solutions.length > maxSolutions) throw new TooLarge();
  return solutions;
}

function evaluateOperator(algebra: Algebra, context: Context): readonly Solution[] {
  const of = (input: Algebra): readonly Solution[] => evaluate(input, context);
  switch (algebra.op) {
    case 'bgp':
      return algebra.triples.reduce<readonly Solution[]>(
        (solutions, pattern) => join(solutions, matches(pattern, context.graph)),
        [new Map()],
      );
    case 'path':
      return evaluatePath(algebra, context);
    case 'hideBlanks':
      return of(algebra.input).map((solution) => restrict(solution, (name) => !name.startsWith('_:')));
    case 'join':
      return join(of(algebra.left), of(algebra.right));
    case 'union':
      return [...of(algebra.left), ...of(algebra.right)];
    case 'minus': {
      const right = of(algebra.right);
      return of(algebra.left).filter(
        (left) => !right.some((each) => isCompatible(left, each) && shareName(left, each)),
      );
    }
    case 'leftJoin':
      return leftJoin(algebra, context);
    case 'filter':
      return of(algebra.input).filter((solution) => satisfies(solution, algebra.conditions, context));
    case 'extend':
      return of(algebra.input).map((solution) => extend(solution, algebra.name, algebra.expression, context));
    case 'graph':
      return evaluateGraph(algebra, context);
    case 'values':
      return algebra.rows;
    case 'group':
      return group(algebra, context);
    case 'orderBy':
      return orderBy(algebra, context);
    case 'project': {
      const isProjected = (name: string): boolean => algebra.names.includes(name);
      // A variable that a subquery does not project is distinct from a variable of the same name outside.
      const graphNames = context.graphNames && restrict(context.graphNames, isProjected);
      return evaluate(algebra.input, { ...context, graphNames }).map((solution) => restrict(solution, isProjected));
    }
    case 'distinct':
      return distinctBy(of(algebra.input), solutionKey);
    case 'slice':
      return of(algebra.input).slice(algebra.offset, algebra.offset + algebra.limit);
  }
}

const restrict = (solution: Solution, keeps: (name: string) => boolean): Solution =>
  new Map([...solution].filter(([name]) => keeps(name)));

/** 18.3: mappings agree on every variable that both bind. */
export const isCompatible = (left: Solution, right: Solution): boolean =>
  [...left].every(([name, term]) => !right.has(name) || sameTerm(term, right.get(name)!));
const shareName = (left: Solution, right: Solution): boolean => [...left.keys()].some((name) => right.has(name));
const merge = (left: Solution, right: Solution): Solution => new Map([...left, ...right]);

function join(left: readonly Solution[], right: readonly Solution[]): readonly Solution[] {
  const joined: Solution[] = [];
  for (const each of left)
    for (const other of right)
      if (isCompatible(each, other)) {
        joined.push(merge(each, other));
        if (joined.length > maxSolutions) throw new TooLarge();
      }
  return joined;
}

/** Returns the solutions of one triple pattern. */
function matches({ subject, predicate, object }: TriplePattern, graph: readonly Triple[]): readonly Solution[] {
  return graph.flatMap((triple) => {
    const solution = bind([
      [subject, triple.subject],
      [predicate, triple.predicate],
      [object, triple.object],
    ]);
    return solution ? [solution] : [];
  });
}

function bind(pairs: readonly (readonly [pattern: Term, value: Term])[]): Solution | undefined {
  const solution = new Map<string, Term>();
  const left = [...pairs];
  for (const [pattern, value] of left) {
    if (pattern.termType === 'Quad') {
      const within = termsIn(value);
      if (within.length === 0) return undefined;
      // A list that grows while it is read.
      left.push(...termsIn(pattern).map((each, at) => [each, within[at]!] as const));
      continue;
    }
    const wanted = pattern.termType === 'Variable' ? solution.get(pattern.value) : pattern;
    if (wanted && !sameTerm(wanted, value)) return undefined;
    if (pattern.termType === 'Variable') solution.set(pattern.value, value);
  }
  return solution;
}

const isGround = (term: Term): boolean => term.termType !== 'Variable' && termsIn(term).every(isGround);

function evaluatePath({ subject, path, object }: Extract<Algebra, { op: 'path' }>, { graph }: Context): Solution[] {
  // A triple term with variables is matched with the ends.
  const endOf = (term: Term, name: string): Term =>
    termsIn(term).length > 0 && !isGround(term) ? variable(name) : term;
  const ends = { from: endOf(subject, '_:from'), to: endOf(object, '_:to') };
  return pairsOf(path, graph, ends).flatMap(([start, end]) => {
    const solution = bind([
      [subject, start],
      [object, end],
    ]);
    return solution ? [solution] : [];
  });
}

function leftJoin(algebra: Extract<Algebra, { op: 'leftJoin' }>, context: Context): readonly Solution[] {
  const right = evaluate(algebra.right, context);
  return evaluate(algebra.left, context).flatMap((left) => {
    const joined = join([left], right).filter((each) => satisfies(each, algebra.conditions, context));
    return joined.length > 0 ? joined : [left];
  });
}

/** 18.6: evaluates the pattern for each graph and joins the name with its solutions. */
function evaluateGraph({ name, input }: Extract<Algebra, { op: 'graph' }>, context: Context): readonly Solution[] {
  const { dataset, graphNames } = context;
  if (name.termType === 'Variable')
    return [...dataset.named].flatMap(([graphName, graph]) => {
      const named: Solution = new Map([[name.value, iri(graphName)]]);
      const seen: Solution = hidesName(input, name.value) ? new Map() : named;
      return join(evaluate(input, { ...context, graph, graphNames: graphNames && merge(graphNames, seen) }), [named]);
    });
  const graph = name.termType === 'NamedNode' ? dataset.named.get(name.value) : undefined;
  return graph ? evaluate(input, { ...context, graph }) : [];
}

function scopeOf(own: Solution, context: Context): ExpressionScope {
  const solution = merge(context.graphNames ?? new Map(), own);
  return {
    solution,
    base: context.base,
    exists: (pattern) => evaluate(substitute(pattern, solution), context).length > 0,
  };
}

const satisfies = (solution: Solution, conditions: readonly Expression[], context: Context): boolean =>
  conditions.every((condition) => holds(condition, scopeOf(solution, context)));

/** @returns undefined for an error */
function valueIn(expression: Expression, solution: Solution, context: Context): Term | undefined {
  try {
    return evaluateExpression(expression, scopeOf(solution, context));
  } catch (error) {
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
}

function extend(solution: Solution, name: string, expression: Expression, context: Context): Solution {
  if (solution.has(name)) throw new Undefined(`Extend of ${name}, which is bound (18.5)`);
  const value = valueIn(expression, solution, context);
  return value === undefined ? solution : new Map([...solution, [name, value]]);
}

/** Group and AggregateJoin (18.5.1). A key with an error is unbound, and such solutions form one group. */
function group(algebra: Extract<Algebra, { op: 'group' }>, outer: Context): readonly Solution[] {
  const context = { ...outer, graphNames: undefined };
  const { keys, aggregates } = algebra;
  const groups = new Map<string, { values: readonly (Term | undefined)[]; members: Solution[] }>();
  if (keys.length === 0) groups.set('', { values: [], members: [] });
  for (const solution of evaluate(algebra.input, outer)) {
    const values = keys.map(({ expression }) => valueIn(expression, solution, context));
    const key = values.map(termKey).join('\n');
    const members = groups.get(key)?.members ?? [];
    members.push(solution);
    groups.set(key, { values, members });
  }
  return [...groups.values()].map(({ values, members }) => {
    const solution = keySolution(keys, values);
    for (const aggregate of aggregates) {
      const value = aggregateValue(aggregate, members, (expression, member) => valueIn(expression, member, context));
      if (value !== undefined) solution.set(aggregate.as, value);
    }
    return solution;
  });
}

const keySolution = (keys: readonly GroupKey[], values: readonly (Term | undefined)[]): Map<string, Term> =>
  new Map(
    keys.flatMap(({ as }, at) => (as === undefined || values[at] === undefined ? [] : [[as, values[at]] as const])),
  );

function orderBy({ input, keys }: Extract<Algebra, { op: 'orderBy' }>, context: Context): readonly Solution[] {
  const rows = evaluate(input, context).map((solution) => ({
    solution,
    values: keys.map(({ expression }) => valueIn(expression, solution, context)),
  }));
  rows.sort((a, b) => {
    for (const [at, { isDescending }] of keys.entries()) {
      const order = compareForOrder(a.values[at], b.values[at]);
      if (order !== 0) return isDescending ? -order : order;
    }
    return 0;
  });
  return rows.map(({ solution }) => solution);
}
