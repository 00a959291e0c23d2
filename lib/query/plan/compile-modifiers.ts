/** Groups, order and slices of the algebra as plans. It must not know patterns or rows. */
import type { Term } from '@rdfjs/types';
import { compileExpression } from './compile-expression.js';
import { type Names, type Node, NotCompiledError } from './compile-scope.js';
import { type Aggregate, type Plan, type SlicePlan, type Slot, type SortKey, unite } from './plan.js';

const aggregators: ReadonlySet<string> = new Set(['count', 'sum', 'min', 'max', 'avg', 'sample', 'group_concat']);

export function compileGroup(node: Node, input: Plan, names: Names): Plan {
  const slots = (node['variables'] as Term[]).map(({ value }) => names.slot(value));
  const aggregates = (node['aggregates'] as Node[]).map((aggregate) => compileAggregate(aggregate, input, names));
  const certain = new Set(slots.filter((slot) => input.certain.has(slot)));
  const possible = unite([new Set(slots), new Set(aggregates.map(({ slot }) => slot))]);
  return { kind: 'group', input, slots, aggregates, certain, possible, isJoinable: false };
}

function compileAggregate(node: Node, input: Plan, names: Names): Aggregate {
  const name = String(node['aggregator']).toLowerCase();
  if (!aggregators.has(name)) throw new NotCompiledError(`aggregate ${name}`);
  const inner = node['expression'] as Node;
  const isAll = inner.subType === 'wildcard';
  const isDistinct = node['distinct'] === true;
  if (isAll && name !== 'count') throw new NotCompiledError(`aggregate ${name}(*)`);
  return {
    slot: names.slot((node['variable'] as Term).value),
    name: name as Aggregate['name'],
    expression: isAll ? undefined : compileExpression(inner, names),
    isDistinct,
    solution: isAll && isDistinct ? solutionOf(inner, input, names) : [],
    separator: String(node['separator'] ?? ' '),
  };
}

/** The query's own variables that a row has: blank nodes and the stops of paths are variables, too, and of no solution. */
function solutionOf(wildcard: Node, input: Plan, names: Names): Slot[] {
  const variables = wildcard['variables'] as Term[] | undefined;
  if (!variables) throw new NotCompiledError('COUNT(DISTINCT *) of unknown variables');
  return variables.map(({ value }) => names.slot(value)).filter((slot) => input.possible.has(slot));
}

export function compileOrder(node: Node, input: Plan, names: Names): Plan {
  const keys = (node['expressions'] as Node[]).map((expression): SortKey => {
    const isDescending = expression.subType === 'operator' && expression['operator'] === 'desc';
    const inner = isDescending ? (expression['args'] as Node[])[0]! : expression;
    return { evaluate: compileExpression(inner, names).evaluate, isDescending };
  });
  const { certain, possible } = input;
  return { kind: 'order', input, keys, most: Number.POSITIVE_INFINITY, certain, possible, isJoinable: false };
}

export function compileSlice(node: Node, unbounded: Plan): SlicePlan {
  const start = (node['start'] as number | undefined) ?? 0;
  const length = (node['length'] as number | undefined) ?? Number.POSITIVE_INFINITY;
  const input = unbounded.kind === 'order' ? { ...unbounded, most: start + length } : unbounded;
  const { certain, possible } = input;
  return { kind: 'slice', input, start, length, certain, possible, isJoinable: false };
}
