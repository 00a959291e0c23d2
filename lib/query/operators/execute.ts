/** Executes plans as blocks of rows. A plan is joined with its input rows. Without input, it is joined with one empty row. */

import { toToken } from '../expressions/values.js';
import { makeJoin } from '../plan/compile-join.js';
import {
  type Blocks,
  type Expression,
  type ExtendPlan,
  type GroupPlan,
  isSubset,
  type JoinPlan,
  type OrderPlan,
  type Pattern,
  type Plan,
  type Row,
  type Slot,
  type TripleTerm,
  type UnionPlan,
  type ValuesPlan,
} from '../plan/plan.js';
import { distinctTermsOf } from './distinct-terms.js';
import { blockLength, type Execution, holdsFor, oneBlock, recall, spend, unit } from './execution.js';
import { leftJoin, markedRows, semiJoin } from './existence.js';
import { grouped } from './group.js';
import { hashJoin } from './hash-join.js';
import { JoinOrder } from './join-order.js';
import { joinPattern } from './join-pattern.js';
import { joinService } from './join-service.js';
import { distinct, ordered, sliced } from './modifiers.js';
import { inGraphs } from './named-graphs.js';
import type { FirstGroups } from './numbered-groups.js';
import { memoryOf, slotsOfWanted } from './pattern-access.js';
import { closure } from './property-paths.js';
import { JoinedTriples, scannedTriples } from './triple-terms.js';

export function execute(execution: Execution, plan: Plan, input?: Blocks): Blocks {
  const rows = executed(execution, plan, input);
  return execution.observer ? execution.observer.watched(plan, rows) : rows;
}

function executed(execution: Execution, plan: Plan, input?: Blocks): Blocks {
  if (plan.kind === 'service')
    return joinService(execution, plan, input, (left, rows) => execute(execution, left, rows));
  if (input && !plan.isJoinable) return hashJoin(execution, input, plan, () => execute(execution, plan));
  switch (plan.kind) {
    case 'join':
      return join(execution, plan, input);
    case 'values':
      return values(execution, plan, input ?? unit(execution));
    case 'graphs':
      return inGraphs(execution, plan, input ?? unit(execution));
    case 'union':
      return union(execution, plan, input);
    case 'closure':
      return closure(execution, plan, input ?? unit(execution), (step, rows) => execute(execution, step, rows));
    case 'filter':
      return filtered(execute(execution, plan.input, input), [plan.condition]);
    case 'leftJoin':
      return leftJoin(execution, plan, execute);
    case 'semiJoin':
      return semiJoin(execution, plan, execute);
    case 'mark':
      return markedRows(execution, plan, execute);
    case 'extend':
      return extended(execution, plan, execute(execution, plan.input));
    case 'group':
      return groups(execution, plan);
    case 'order':
      return ordered(execution, plan, orderedInput(execution, plan));
    case 'distinct':
      return (
        (execution.outer ? undefined : distinctTermsOf(execution, plan)) ??
        distinct(execution, plan, execute(execution, plan.input))
      );
    case 'slice':
      return sliced(plan, execute(execution, plan.input));
  }
}

const groups = (execution: Execution, plan: GroupPlan, first?: FirstGroups): Blocks =>
  grouped(execution, plan, { run: (part, input) => execute(execution, part, input), first });

/** Executes the input of an ORDER BY. If groups are ordered by an aggregate with a LIMIT, returns only the first groups. */
function orderedInput(execution: Execution, { input, keys, most }: OrderPlan): Blocks {
  const [key] = keys;
  let [group, slot] = [input, key!.variable];
  // The plan copies results of aggregates to variables of the query. This loop finds the slot that the aggregate writes.
  while (group.kind === 'extend') {
    if (group.slot === slot) slot = group.expression.variable;
    group = group.input;
  }
  if (group.kind !== 'group' || slot === undefined || most === Number.POSITIVE_INFINITY)
    return execute(execution, input);
  const first = { slot, isDescending: key!.isDescending, most, hasMoreKeys: keys.length > 1 };
  const above = (plan: Plan): Blocks =>
    plan.kind === 'extend'
      ? extended(execution, plan, above(plan.input))
      : groups(execution, group as GroupPlan, first);
  return above(input);
}

async function* join(execution: Execution, plan: JoinPlan, input: Blocks | undefined): AsyncGenerator<Row[]> {
  let rows = input ?? unit(execution);
  let isFirst = input === undefined;
  const bound = new Set<Slot>();
  let filters = plan.filters;
  const triples = new JoinedTriples(execution, plan.triples);
  const bind = (slots: ReadonlySet<Slot>): void => {
    for (const slot of slots) bound.add(slot);
    rows = triples.next(rows, bound);
    const [ready, waiting] = split(filters, ({ slots: own }) => isSubset(own, bound));
    if (ready.length > 0) rows = filtered(rows, ready);
    filters = waiting;
  };
  const [parts, others] = split(plan.parts, (part) => !part.isJoinable || part.kind === 'values');
  for (const part of parts) {
    execution.observer?.taken(plan, part);
    rows = execute(execution, part, isFirst ? undefined : rows);
    isFirst = false;
    bind(part.certain);
  }
  const items = [...plan.patterns, ...others];
  // Slots that are bound in all rows joined so far, including input rows.
  const known = new Set(bound);
  let some: readonly Row[] = [];
  const addSlots = (row: Row | undefined): void =>
    row?.forEach((token, slot) => {
      if (token !== undefined) known.add(slot);
    });
  if (input && items.length + plan.triples.length > 1) {
    [some, rows] = await peek(rows);
    addSlots(some[0]);
  }
  if (plan.triples.length > 0) {
    addSlots(execution.outer);
    rows = triples.begin(rows, known);
  }
  const before = { bound: known, rows: Math.max(1, some.length), filters, triples: plan.triples };
  const order = items.length > 1 ? await JoinOrder.of(execution, items, before) : undefined;
  for (const first of items) {
    if (order?.isOpen && !isFirst && some.length === 0) [some, rows] = await peek(rows);
    const item = (await order?.next(known, some)) ?? first;
    some = [];
    const isPattern = 'places' in item;
    execution.observer?.taken(plan, item);
    if (isPattern && filters.length > 0)
      memoryOf(execution, item).filters = filters.filter(isOnly(new Set(slotsOfWanted(item))));
    const scanned = isFirst ? [] : scannedTriples(item, plan.triples, (slot) => known.has(slot));
    rows =
      scanned.length > 0
        ? joinedAlone(execution, rows, item, scanned)
        : isPattern
          ? joinedPattern(execution, item, rows)
          : execute(execution, item, isFirst ? undefined : rows);
    isFirst = false;
    bind(isPattern ? item.slots : item.certain);
    for (const slot of bound) known.add(slot);
  }
  yield* filters.length > 0 ? filtered(rows, filters) : rows;
}

function joinedPattern(execution: Execution, pattern: Pattern, input: Blocks): Blocks {
  const rows = joinPattern(execution, pattern, input);
  return execution.observer ? execution.observer.watched(pattern, rows) : rows;
}

/** Joins the rows with a part that is executed separately: they share variables only within triple terms of the part. */
function joinedAlone(execution: Execution, rows: Blocks, item: Pattern | Plan, triples: readonly TripleTerm[]): Blocks {
  const alone = recall(execution, { part: item, as: 'alone' }, () =>
    makeJoin({ ...('places' in item ? { patterns: [item] } : { parts: [item] }), triples }),
  );
  return hashJoin(execution, rows, alone, () => join(execution, alone, undefined));
}

const isOnly =
  (own: ReadonlySet<Slot>) =>
  ({ slots, isCheap }: Expression): boolean =>
    isCheap === true && slots.size > 0 && isSubset(slots, own);

function split<T>(items: readonly T[], test: (item: T) => boolean): [yes: T[], no: T[]] {
  return [items.filter(test), items.filter((item) => !test(item))];
}

/** Reads the first block. Returns its rows, and an iterable of all blocks including the first. */
async function peek(blocks: Blocks): Promise<[readonly Row[], Blocks]> {
  const iterator = blocks[Symbol.asyncIterator]();
  const first = await iterator.next();
  return [first.done ? [] : first.value, resumed(first, iterator)];
}

async function* resumed(first: IteratorResult<Row[]>, iterator: AsyncIterator<Row[]>): AsyncGenerator<Row[]> {
  try {
    for (let next = first; !next.done; next = await iterator.next()) yield next.value;
  } finally {
    await iterator.return?.();
  }
}

async function* filtered(input: Blocks, conditions: readonly Expression[]): AsyncGenerator<Row[]> {
  for await (const rows of input) {
    const kept = rows.filter((row) => conditions.every((condition) => holdsFor(condition, row)));
    if (kept.length > 0) yield kept;
  }
}

async function* values({ assertTime }: Execution, plan: ValuesPlan, input: Blocks): AsyncGenerator<Row[]> {
  for await (const rows of input) {
    let out: Row[] = [];
    for (const row of rows)
      for (const entries of plan.rows) {
        if (entries.some(([slot, token]) => row[slot] !== undefined && row[slot] !== token)) continue;
        const merged = row.slice();
        for (const [slot, token] of entries) merged[slot] = token;
        out.push(merged);
        if (out.length < blockLength) continue;
        assertTime(out.length);
        yield out;
        out = [];
      }
    assertTime(out.length);
    if (out.length > 0) yield out;
  }
}

async function* union(execution: Execution, plan: UnionPlan, input: Blocks | undefined): AsyncGenerator<Row[]> {
  if (!input) for (const part of plan.inputs) yield* execute(execution, part);
  // Rows are copied for each branch, because later operators modify rows.
  else
    for await (const rows of input)
      for (const part of plan.inputs) yield* execute(execution, part, oneBlock(rows.map((row) => row.slice())));
}

/** Yields the rows extended by BIND. If the variable is bound, for example by an enclosing GRAPH, the terms must be equal. */
async function* extended(execution: Execution, { slot, expression }: ExtendPlan, input: Blocks): AsyncGenerator<Row[]> {
  for await (const rows of input) {
    execution.assertTime();
    const kept = rows.filter((row) => {
      const value = expression.evaluate(row);
      spend(execution, value);
      const token = toToken(value);
      row[slot] ??= token;
      return token === undefined || row[slot] === token;
    });
    if (kept.length > 0) yield kept;
  }
}
