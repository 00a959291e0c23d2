/** Groups rows. Only one row per group is kept in memory, not the input rows. */

import { joinTokens, type TermKey } from '../access/terms.js';
import { numberValue, toToken, type Value } from '../expressions/values.js';
import {
  type Aggregate,
  type GroupPlan,
  onlyPattern,
  type Pattern,
  type Place,
  type Row,
  type Slot,
} from '../plan/plan.js';
import { type Accumulator, accumulator } from './aggregates.js';
import { blockLength, type Execution, emptyRow, spend } from './execution.js';
import { emptyGraphNames, graphNames } from './named-graphs.js';
import { type FirstGroups, numberedGroups } from './numbered-groups.js';
import type { RunRows } from './numbered-plan.js';
import { constants } from './pattern-access.js';

interface Group {
  readonly row: Row;
  readonly accumulators: readonly Accumulator[];
}

interface GroupInput {
  readonly run: RunRows;
  /** The first groups of an order, if only the first groups are needed. `undefined`: all groups. */
  readonly first: FirstGroups | undefined;
}

export async function* grouped(execution: Execution, plan: GroupPlan, input: GroupInput): AsyncGenerator<Row[]> {
  const { slots, aggregates } = plan;
  const pattern = slots.length === 0 && aggregates.every(isCountOfRows) ? onlyPattern(plan.input) : undefined;
  if (pattern?.wanted.length === 0) return yield* counted(execution, plan, pattern);
  const numbered = await numberedGroups(execution, plan, input);
  if (numbered) return yield* numbered;
  const groups = new Map<string, Group>();
  const hold = (value: Value | undefined): void => spend(execution, value);
  const newGroup = (of: Row | undefined): Group => {
    const row = emptyRow(execution);
    for (const slot of slots) row[slot] = of?.[slot];
    return { row, accumulators: aggregates.map((aggregate) => accumulator(aggregate, hold)) };
  };
  for await (const rows of input.run(plan.input)) {
    execution.assertTime();
    for (const row of rows) {
      const key = joinTokens(row, slots);
      let group = groups.get(key);
      if (!group) {
        group = newGroup(row);
        groups.set(key, group);
      }
      for (const { add } of group.accumulators) add(row);
    }
  }
  if (groups.size === 0 && slots.length === 0) groups.set('', newGroup(undefined));
  if (plan.everyGraph !== undefined)
    for await (const names of graphsLeft(execution, plan, plan.everyGraph)) {
      execution.assertTime(names.length);
      for (const name of names) {
        if (groups.has(name)) continue;
        const group = newGroup(undefined);
        group.row[plan.everyGraph] = name;
        groups.set(name, group);
      }
    }
  yield* results(plan, groups.values());
}

/** Yields graphs that have a group even without rows: empty graphs if the pattern matches every triple, otherwise all. */
function graphsLeft(execution: Execution, { input }: GroupPlan, slot: Slot): AsyncIterable<readonly TermKey[]> {
  const { outer } = execution;
  const pattern = outer ? undefined : onlyPattern(input);
  const isAny = pattern && pattern.slots.size === pattern.wanted.length && !pattern.places.some(isToken);
  return isAny ? emptyGraphNames(execution) : graphNames(execution, outer?.[slot]);
}

const isToken = (place: Place): boolean => !!place && 'token' in place;

function* results({ aggregates }: GroupPlan, groups: Iterable<Group>): Generator<Row[]> {
  let out: Row[] = [];
  for (const { row, accumulators } of groups) {
    aggregates.forEach(({ slot }, index) => {
      row[slot] = accumulators[index]!.result();
    });
    out.push(row);
    if (out.length < blockLength) continue;
    yield out;
    out = [];
  }
  if (out.length > 0) yield out;
}

const isCountOfRows = ({ name, expression, isDistinct }: Aggregate): boolean =>
  name === 'count' && !expression && !isDistinct;

/** Yields a row with the count of a pattern's matches, without creating rows for the matches. */
async function* counted(execution: Execution, plan: GroupPlan, pattern: Pattern): AsyncGenerator<Row[]> {
  const count = toToken(numberValue(await execution.matches.count(constants(pattern), pattern.part), 'integer'));
  const row = emptyRow(execution);
  for (const { slot } of plan.aggregates) row[slot] = count;
  yield [row];
}
