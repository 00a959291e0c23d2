/** The set functions of SPARQL 1.1, 18.5.1. */
import type { Term } from '@rdfjs/types';
import type { Aggregate, Expression } from './algebra.js';
import { stringOf } from './functions.js';
import { arithmetic, integer, literalOf, type Numeric, numericOf } from './numbers.js';
import { compareForOrder } from './order.js';
import { distinctBy, ExpressionError, plain, type Solution, solutionKey, termKey } from './terms.js';

type Evaluate = (expression: Expression, member: Solution) => Term | undefined;

/** @returns undefined if the aggregate has an error: its variable stays unbound */
export function aggregateValue(
  aggregate: Aggregate,
  members: readonly Solution[],
  evaluate: Evaluate,
): Term | undefined {
  const { of, isDistinct } = aggregate;
  if (!of) return count(isDistinct ? distinctBy(members, solutionKey).length : members.length);
  const all = members.map((member) => evaluate(of, member));
  const values = isDistinct ? distinctBy(all, termKey) : all;
  const bound = values.filter((value) => value !== undefined);
  if (aggregate.name === 'count') return count(bound.length);
  if (aggregate.name === 'sample') return bound[0];
  // The other aggregates fail if one of the values has an error.
  if (bound.length < values.length) return undefined;
  try {
    return setFunction(aggregate, bound);
  } catch (error) {
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
}

const count = (size: number): Term => literalOf(integer(size));

function setFunction({ name, separator = ' ' }: Aggregate, values: readonly Term[]): Term | undefined {
  switch (name) {
    case 'sum':
      return literalOf(sum(values));
    case 'avg':
      return values.length === 0 ? count(0) : literalOf(arithmetic('/', sum(values), integer(values.length)));
    case 'min':
      return [...values].sort(compareForOrder)[0];
    case 'max':
      return [...values].sort(compareForOrder).at(-1);
    case 'group_concat':
      return plain(values.map(stringOf).join(separator));
    default:
      throw new Error(`Unsupported aggregate: ${name}`);
  }
}

function sum(values: readonly Term[]): Numeric {
  return values.reduce<Numeric>((total, value) => {
    const number = numericOf(value);
    if (!number) throw new ExpressionError('Not a number.');
    return arithmetic('+', total, number);
  }, integer(0));
}
