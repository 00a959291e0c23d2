/** Compiles grouping, order and slices to plans. */
import type { Algebra } from '@comunica/utils-algebra';
import type { Term } from '@rdfjs/types';
import type { GraphMarks } from '../parse/graph-names.js';
import { compileExpression } from './compile-expression.js';
import { type Names, NotCompiledError } from './compile-scope.js';
import { type Aggregate, type Plan, type SlicePlan, type Slot, type SortKey, unite } from './plan.js';

const aggregators: ReadonlySet<string> = new Set(['count', 'sum', 'min', 'max', 'avg', 'sample', 'group_concat']);

export function compileGroup(node: Algebra.Group & GraphMarks, input: Plan, names: Names): Plan {
  const slots = node.variables.map(({ value }) => names.slot(value));
  const aggregates = node.aggregates.map((aggregate) => compileAggregate(aggregate, input, names));
  const certain = new Set(slots.filter((slot) => input.certain.has(slot)));
  const possible = unite([new Set(slots), new Set(aggregates.map(({ slot }) => slot))]);
  const everyGraph = node.everyGraph === undefined ? undefined : names.slot(node.everyGraph);
  return { kind: 'group', input, slots, aggregates, everyGraph, certain, possible, isJoinable: false };
}

function compileAggregate(node: Algebra.BoundAggregate, input: Plan, names: Names): Aggregate {
  const name = node.aggregator.toLowerCase();
  if (!aggregators.has(name)) throw new NotCompiledError(`${name} is not an aggregate of SPARQL 1.1`);
  const { expression, distinct } = node;
  const isAll = expression.subType === 'wildcard';
  if (isAll && name !== 'count') throw new NotCompiledError(`${name.toUpperCase()}(*) is not valid`);
  return {
    slot: names.slot(node.variable.value),
    name: name as Aggregate['name'],
    expression: isAll ? undefined : compileExpression(expression, names),
    isDistinct: distinct,
    solution: isAll && distinct ? solutionOf(expression, input, names) : [],
    separator: (node as { separator?: string }).separator ?? ' ',
  };
}

/** Returns the slots of the query's variables. Omits slots of blank nodes and path steps, which are not in solutions. */
function solutionOf(wildcard: Algebra.Expression, input: Plan, names: Names): Slot[] {
  // `nameSolutions` has set `variables` of the wildcard.
  const { variables = [] } = wildcard as { variables?: readonly Term[] };
  return variables.map(({ value }) => names.slot(value)).filter((slot) => input.possible.has(slot));
}

export function compileOrder(node: Algebra.OrderBy, input: Plan, names: Names): Plan {
  const keys = node.expressions.map((expression): SortKey => {
    const { operator, args } = expression as Partial<Algebra.OperatorExpression>;
    const isDescending = expression.subType === 'operator' && operator === 'desc';
    const { evaluate, bind, variable } = compileExpression(isDescending ? args![0]! : expression, names);
    return { evaluate, bind, isDescending, variable };
  });
  const { certain, possible } = input;
  return { kind: 'order', input, keys, most: Number.POSITIVE_INFINITY, certain, possible, isJoinable: false };
}

export function compileSlice(node: Algebra.Slice & GraphMarks, unbounded: Plan, names: Names): SlicePlan {
  const { start, length = Number.POSITIVE_INFINITY } = node;
  const perGraph = node.perGraph === undefined ? undefined : names.slot(node.perGraph);
  const isCut = unbounded.kind === 'order' && perGraph === undefined;
  const input = isCut ? { ...unbounded, most: start + length } : unbounded;
  const { certain, possible } = input;
  return { kind: 'slice', input, start, length, perGraph, certain, possible, isJoinable: false };
}
