/** Rows put into groups. It holds a row for each group, and nothing of the rows. It must not know how aggregates count. */
import { type Accumulator, accumulator } from './aggregates.js';
import { blockLength, type Execution, emptyRow } from './execution.js';
import type { Aggregate, Blocks, GroupPlan, Pattern, Plan, Row } from './plan.js';
import { joinTokens } from './terms.js';
import { numberValue, toToken } from './values.js';

interface Group {
  readonly row: Row;
  readonly accumulators: readonly Accumulator[];
}

export async function* grouped(execution: Execution, plan: GroupPlan, input: () => Blocks): AsyncGenerator<Row[]> {
  const { slots, aggregates } = plan;
  const pattern = slots.length === 0 && aggregates.every(isCountOfRows) ? onlyPattern(plan.input) : undefined;
  if (pattern) return yield* counted(execution, plan, pattern);
  const groups = new Map<string, Group>();
  const newGroup = (of: Row | undefined): Group => {
    const row = emptyRow(execution);
    for (const slot of slots) row[slot] = of?.[slot];
    return { row, accumulators: aggregates.map(accumulator) };
  };
  for await (const rows of input()) {
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
  yield* results(plan, groups.values());
}

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

/** The one pattern of a plan, none of whose terms anybody asks for. */
function onlyPattern(plan: Plan): Pattern | undefined {
  if (plan.kind !== 'join' || plan.patterns.length !== 1 || plan.parts.length > 0 || plan.filters.length > 0)
    return undefined;
  const [pattern] = plan.patterns;
  return pattern!.wanted.length === 0 ? pattern : undefined;
}

/** Keys counted, without a row for each. */
async function* counted(execution: Execution, plan: GroupPlan, pattern: Pattern): AsyncGenerator<Row[]> {
  const bound = pattern.places.map((place) => (place && 'token' in place ? place.token : undefined));
  const count = toToken(numberValue(await execution.matches.count(bound, pattern.part), 'integer'));
  const row = emptyRow(execution);
  for (const { slot } of plan.aggregates) row[slot] = count;
  yield [row];
}
