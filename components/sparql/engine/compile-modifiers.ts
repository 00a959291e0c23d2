/** Groups, order and slices of the algebra as plans. It must not know patterns or rows. */
import type { Term } from '@rdfjs/types';
import { compileExpression } from './compile-expression.js';
import { type Names, type Node, NotCompiledError } from './compile-scope.js';
import { type Aggregate, type Plan, type SlicePlan, type SortKey, unite } from './plan.js';

const aggregators: ReadonlySet<string> = new Set(['count', 'sum', 'min', 'max', 'avg', 'sample']);

export function compileGroup(node: Node, input: Plan, names: Names): Plan {
  const slots = (node['variables'] as Term[]).map(({ value }) => names.slot(value));
  const aggregates = (node['aggregates'] as Node[]).map((aggregate) => compileAggregate(aggregate, names));
  const certain = new Set(slots.filter((slot) => input.certain.has(slot)));
  const possible = unite([new Set(slots), new Set(aggregates.map(({ slot }) => slot))]);
  return { kind: 'group', input, slots, aggregates, certain, possible, isJoinable: false };
}

function compileAggregate(node: Node, names: Names): Aggregate {
  const name = String(node['aggregator']).toLowerCase();
  if (!aggregators.has(name)) throw new NotCompiledError(`aggregate ${name}`);
  const inner = node['expression'] as Node;
  const isAll = inner.subType === 'wildcard';
  if (isAll && (name !== 'count' || node['distinct'] === true)) throw new NotCompiledError(`aggregate ${name}(*)`);
  return {
    slot: names.slot((node['variable'] as Term).value),
    name: name as Aggregate['name'],
    expression: isAll ? undefined : compileExpression(inner, names),
    isDistinct: node['distinct'] === true,
  };
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
