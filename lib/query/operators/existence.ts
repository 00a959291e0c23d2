/** Executes OPTIONAL, EXISTS and MINUS. For EXISTS in expressions, marks the rows that have a match. */
import { joinTokens } from '../access/terms.js';
import {
  type Blocks,
  type Existence,
  type LeftJoinPlan,
  type Mark,
  type MarkPlan,
  markOfPartner,
  type Plan,
  type Row,
  type SemiJoinPlan,
  type Slot,
} from '../plan/plan.js';
import { blockLength, type Execution, emptyRow, gathered, holdsFor, oneBlock, recallLasting } from './execution.js';
import { havePartners } from './hash-join.js';
import { forService } from './join-service.js';

/** Function that executes a plan, with or without input rows. */
type Run = (execution: Execution, plan: Plan, input?: Blocks) => Blocks;

/** Context of a test: the execution, and the function that executes plans. */
interface Asker {
  readonly execution: Execution;
  readonly run: Run;
}

/** Returns the left rows in large blocks, because the right plan is executed again for each block. */
const leftRows = (execution: Execution, plan: Plan, run: Run): Blocks =>
  gathered(run(execution, plan), execution.isHasty ? 1 : 8 * blockLength);

/** Returns copies of the rows with their index in the counter's slot. */
const counted = (rows: readonly Row[], counter: Slot): Row[] =>
  rows.map((row, index) => {
    const copy = row.slice();
    copy[counter] = String(index);
    return copy;
  });

export async function* leftJoin(execution: Execution, plan: LeftJoinPlan, run: Run): AsyncGenerator<Row[]> {
  const { left, right, condition, marks, counter } = plan;
  for await (const rows of forService(right, leftRows(execution, left, run))) {
    const matched = new Uint8Array(rows.length);
    for await (const block of run(execution, right, oneBlock(counted(rows, counter)))) {
      await markRows({ execution, run }, marks, block);
      const kept = condition ? block.filter((row) => holdsFor(condition, row)) : block;
      for (const row of kept) {
        matched[Number(row[counter])] = 1;
        row[counter] = undefined;
      }
      if (kept.length > 0) yield kept;
    }
    const alone = rows.filter((_row, index) => matched[index] === 0);
    if (alone.length > 0) yield alone;
  }
}

export async function* semiJoin(execution: Execution, plan: SemiJoinPlan, run: Run): AsyncGenerator<Row[]> {
  const { left, existence, isKept } = plan;
  for await (const rows of forService(existence.right, leftRows(execution, left, run))) {
    const found = await partnered({ execution, run }, existence, rows);
    const kept = rows.filter((_row, index) => found[index] === isKept);
    if (kept.length > 0) yield kept;
  }
}

export async function* markedRows(execution: Execution, plan: MarkPlan, run: Run): AsyncGenerator<Row[]> {
  for await (const rows of leftRows(execution, plan.input, run)) {
    await markRows({ execution, run }, plan.marks, rows);
    yield rows;
  }
}

async function markRows(asker: Asker, marks: readonly Mark[], rows: readonly Row[]): Promise<void> {
  for (const { existence, slot } of marks) {
    const found = await partnered(asker, existence, rows);
    rows.forEach((row, index) => {
      row[slot] = found[index] ? markOfPartner : undefined;
    });
  }
}

async function partnered(asker: Asker, existence: Existence, rows: readonly Row[]): Promise<readonly boolean[]> {
  const { execution, run } = asker;
  execution.assertTime();
  const { right, conditions, way, minus, scope, shared } = existence;
  if (way === 'each') return partneredEach(asker, existence, rows);
  // If the outer row binds a variable, its term replaces the variable, which is then no shared variable of MINUS.
  const isLoose = minus === 'perhaps' || (minus !== undefined && execution.outer !== undefined);
  const isShared = (slot: Slot): boolean => slot !== scope && execution.outer?.[slot] === undefined;
  const counts = isLoose ? shared.filter(isShared) : undefined;
  if (way === 'alone' || isLoose)
    return (
      (await havePartners(execution, rows, { right, run: () => run(execution, right), counts, shared, conditions })) ??
      partneredEach(asker, existence, rows)
    );
  const found = new Array<boolean>(rows.length).fill(false);
  for await (const block of run(execution, right, oneBlock(counted(rows, existence.counter))))
    for (const row of block) {
      const at = Number(row[existence.counter]);
      found[at] ||= conditions.every((condition) => holdsFor(condition, row));
    }
  return found;
}

/** Maximum count of cached results. */
const maxAnswers = 100_000;

/** Tests rows by executing the right plan with the terms of a row in place of variables, once for all rows with equal terms. */
async function partneredEach(
  { execution, run }: Asker,
  existence: Existence,
  rows: readonly Row[],
): Promise<readonly boolean[]> {
  const answers = recallLasting(execution, { part: existence, as: 'answers' }, () => new Map<string, boolean>());
  const found: boolean[] = [];
  for (const row of rows) {
    execution.assertTime();
    // Variables of an outer EXISTS are substituted, too (SPARQL 1.1 18.6, substitute).
    const outer = emptyRow(execution);
    for (const slot of existence.shared) outer[slot] = row[slot];
    const key = joinTokens(outer, existence.mentioned);
    let answer = answers.get(key);
    if (answer === undefined) {
      const own: Execution = { ...execution, outer, memory: new Map(), isHasty: true };
      answer = await hasRows(run(own, existence.whole));
      if (answers.size >= maxAnswers) answers.clear();
      answers.set(key, answer);
    }
    found.push(answer);
  }
  return found;
}

async function hasRows(blocks: Blocks): Promise<boolean> {
  for await (const rows of blocks) if (rows.length > 0) return true;
  return false;
}
