/** Rows joined with what another endpoint gives. Few rows go along as VALUES; for more of them it is asked for all that it has, once. */

import { valuesText } from '../expressions/values-text.js';
import type { Blocks, Plan, Row, ServicePlan } from '../plan/plan.js';
import { blockLength, type Execution, emptyRow, oneBlock, recall } from './execution.js';
import { hashJoin } from './hash-join.js';
import { serviceRows } from './service-rows.js';

/** Rows that go along. */
const maxAlong = 50;

interface ServiceMemory {
  /** All that the endpoint has, once it has been asked for it. */
  whole: ServiceTable | undefined;
}

interface ServiceTable {
  readonly rows: readonly Row[];
  /** The plan of these rows alone. */
  readonly plan: Plan;
}

/** @param run executes the plan on the left side, which rows may be handed through if it says so */
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
  // Only what every solution binds: one that leaves a variable open would come back for each of the rows.
  const along = columns.filter(([name]) => clause.certain.includes(name));
  const values = rest ? undefined : valuesText(first, along);
  if (values !== undefined) return yield* joined(execution, oneBlock(first), await ask(execution, plan, values));
  const table = await whole();
  if (!rest || input || !left?.isJoinable) return yield* joined(execution, behind(first, rest), table);
  // It has more to say than what was asked of it: the patterns begin with its rows.
  await rest.return?.();
  yield* run(left, blocksOf(execution, table.rows));
}

/** For an optional part that asks an endpoint: as many rows as may go along are one block, or all there are. */
export async function* forService(right: Plan, left: Blocks): AsyncGenerator<Row[]> {
  if (right.kind !== 'service') return yield* left;
  const { first, rest } = await begin(left);
  if (first.length > 0) yield* behind(first, rest);
}

/** More rows than may go along, or all there are: then there is no rest. */
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

/** Copies, since rows are changed by those who get them. */
async function* blocksOf({ assertTime }: Execution, rows: readonly Row[]): AsyncGenerator<Row[]> {
  for (let at = 0; at < rows.length; at += blockLength) {
    assertTime();
    yield rows.slice(at, at + blockLength).map((row) => row.slice());
  }
}
