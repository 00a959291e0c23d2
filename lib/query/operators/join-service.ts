/** Joins rows with the result of another endpoint. Few rows are sent as VALUES. For many, the complete result is requested. */

import { slices } from '../../tools/collections.js';
import { valuesText } from '../expressions/values-text.js';
import type { Blocks, Plan, Row, ServicePlan } from '../plan/plan.js';
import { blockLength, type Execution, emptyRow, oneBlock, recall } from './execution.js';
import { hashJoin } from './hash-join.js';
import { serviceRows } from './service-rows.js';

/** Maximum count of rows sent to the endpoint. */
const maxAlong = 50;

interface ServiceMemory {
  /** Result of the endpoint without VALUES. `undefined` until requested. */
  whole: ServiceTable | undefined;
}

interface ServiceTable {
  readonly rows: readonly Row[];
  /** Plan that returns the rows of this table. */
  readonly plan: Plan;
}

/** Yields the joined rows. @param run executes the left plan, with input rows if the plan can be joined */
export async function* joinService(
  execution: Execution,
  plan: ServicePlan,
  input: Blocks | undefined,
  run: (left: Plan, rows?: Blocks) => Blocks,
): AsyncGenerator<Row[]> {
  const { left, columns, clause } = plan;
  const memory = recall<ServiceMemory>(execution, { part: plan, as: 'service' }, () => ({ whole: undefined }));
  const whole = async (): Promise<ServiceTable> => {
    memory.whole ??= await ask(execution, plan, '');
    return memory.whole;
  };
  const own = left ? run(left, input) : input;
  if (!own) return yield* blocksOf(execution, (await whole()).rows);
  if (memory.whole) return yield* joined(execution, own, memory.whole);
  const { first, rest } = await begin(own);
  if (first.length === 0) return;
  // Only variables bound in every solution are sent: an unbound variable would match each row of VALUES.
  const along = columns.filter(([name]) => clause.certain.includes(name));
  const values = rest ? undefined : valuesText(first, along);
  if (values !== undefined) return yield* joined(execution, oneBlock(first), await ask(execution, plan, values));
  const table = await whole();
  if (!rest || input || !left?.isJoinable) return yield* joined(execution, behind(first, rest), table);
  // With many input rows, the rows of the endpoint are the input of the left plan.
  await rest.return?.();
  yield* run(left, blocksOf(execution, table.rows));
}

/** Regroups rows for an optional SERVICE. The first block contains all rows, or more than may be sent to the endpoint. */
export async function* forService(right: Plan, left: Blocks): AsyncGenerator<Row[]> {
  if (right.kind !== 'service') return yield* left;
  const { first, rest } = await begin(left);
  if (first.length > 0) yield* behind(first, rest);
}

/** Reads rows until there are more than may be sent. `rest` is `undefined` if no rows remain. */
async function begin(blocks: Blocks): Promise<{ first: Row[]; rest: AsyncIterator<Row[]> | undefined }> {
  const iterator = blocks[Symbol.asyncIterator]();
  const first: Row[] = [];
  while (first.length <= maxAlong) {
    const next = await iterator.next();
    if (next.done) return { first, rest: undefined };
    for (const row of next.value) first.push(row);
  }
  return { first, rest: iterator };
}

async function* behind(first: Row[], rest: AsyncIterator<Row[]> | undefined): AsyncGenerator<Row[]> {
  try {
    yield first;
    for (let next = await rest?.next(); next && !next.done; next = await rest?.next()) yield next.value;
  } finally {
    await rest?.return?.();
  }
}

async function ask(execution: Execution, plan: ServicePlan, values: string): Promise<ServiceTable> {
  const { clause, columns } = plan;
  const rows = await serviceRows(clause, values, columns, () => emptyRow(execution), execution.callService);
  const possible = new Set(columns.map(([, slot]) => slot));
  const certain = new Set([...possible].filter((slot) => rows.every((row) => row[slot] !== undefined)));
  return { rows, plan: { ...plan, left: undefined, certain, possible } };
}

const joined = (execution: Execution, own: Blocks, { plan, rows }: ServiceTable): Blocks =>
  hashJoin(execution, own, plan, () => blocksOf(execution, rows));

/** Yields copies of the rows, because consumers modify rows. */
async function* blocksOf({ assertTime }: Execution, rows: readonly Row[]): AsyncGenerator<Row[]> {
  for (const some of slices(rows, blockLength)) {
    assertTime();
    yield some.map((row) => row.slice());
  }
}
