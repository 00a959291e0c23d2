/** State of one execution, with caches of values by node of the plan and by role (`Remembered`). */

import { LwsError } from '../../tools/errors.js';
import type { EmptyGraphs } from '../access/empty-graphs.js';
import type { PatternCounts } from '../access/estimates.js';
import type { AssertTime, QuadMatches } from '../access/quad-matches.js';
import type { ServiceAnswer, ServiceCall } from '../access/service-call.js';
import { booleanOf, type Value } from '../expressions/values.js';
import type { Blocks, Existence, Expression, Pattern, Plan, Row } from '../plan/plan.js';

export type Memory = Map<Plan | Pattern | Existence, Map<string, unknown>>;

/** Receives statistics of operators, for `explain`. */
export interface Observer {
  /** True to run the query, false to explain its plan only. */
  readonly isRun: boolean;
  watched<T extends { readonly length: number }>(part: Plan | Pattern, blocks: AsyncIterable<T>): AsyncIterable<T>;
  taken(join: Plan, item: Plan | Pattern): void;
}

export interface Execution {
  readonly matches: QuadMatches;
  /** Named graphs without quads. `undefined` if there are none. */
  readonly emptyGraphs: EmptyGraphs | undefined;
  readonly width: number;
  /** Caches of operators, for all blocks of one execution. */
  readonly memory: Memory;
  /** Caches shared by the separate executions of an EXISTS for each row. */
  readonly lasting: Memory;
  /** Cached join orders, which later executions of the same plan over the same readable quads reuse. */
  readonly statistics: Memory;
  /** Cached counts of matches by pattern, which all later executions over the same readable quads reuse. */
  readonly counts: Map<string, PatternCounts>;
  readonly assertTime: AssertTime;
  /** Minimum count of matches for which plans run over term IDs. */
  readonly numbersFrom: number;
  /** True if the consumer needs only a few rows, so that the first rows should arrive soon. */
  readonly isHasty: boolean;
  /** Remaining string budget of the query, in characters. */
  readonly texts: { left: number };
  /** Row for which an EXISTS is evaluated. The terms of the row replace variables. */
  readonly outer?: Row;
  /** Records statistics of operators. `undefined` if no statistics are needed. */
  readonly observer?: Observer | undefined;
  /** Sends a request to another endpoint. */
  readonly callService: (call: ServiceCall) => Promise<ServiceAnswer>;
}

/** Approximate count of rows in a block. */
export const blockLength = 2048;

/** Returns the initial input row of plans: empty, or the row of an EXISTS. */
export const emptyRow = ({ width, outer }: Execution): Row =>
  outer ? outer.slice() : new Array<undefined>(width).fill(undefined);

/** Minimum length of a string that is charged to the string budget, and budget of a query (`maxOfTexts`), in characters. */
const longText = 4096;
export const maxOfTexts = 64 << 20;

/** Charges a long string to the budget. @throws LwsError `query-limit` */
export function spend({ texts }: Execution, value: Value | undefined): void {
  // Stored terms are not charged, because they are not created by the query.
  if (!value || value.termKey !== undefined || value.text.length < longText) return;
  texts.left -= value.text.length;
  if (texts.left < 0)
    throw new LwsError(
      'query-limit',
      `The query exceeds the limit of ${maxOfTexts >> 20} Mi characters for long strings. The limit is fixed.`,
    );
}

export async function* unit(execution: Execution): AsyncGenerator<Row[]> {
  yield [emptyRow(execution)];
}

export async function* oneBlock(rows: Row[]): AsyncGenerator<Row[]> {
  yield rows;
}

/** Cache key: a node of the plan and the role of the value. For example, a property path has cached steps and rows. */
export interface Remembered {
  readonly part: Plan | Pattern | Existence;
  readonly as:
    | 'steps'
    | 'rows'
    | 'answers'
    | 'service'
    | 'matches'
    | 'nodes'
    | 'graphs'
    | 'order'
    | 'alone'
    | 'numbers'
    | 'share';
}

export const recall = <T>({ memory }: Execution, what: Remembered, make: () => T): T => recalled(memory, what, make);

/** Like `recall`, but shared by all executions of an EXISTS: for results that do not depend on substituted variables. */
export const recallLasting = <T>({ lasting }: Execution, what: Remembered, make: () => T): T =>
  recalled(lasting, what, make);

/** Like `recall`, but shared with later executions of the plan: for values that change the cost, never the result. */
export const recallStatistics = <T>({ statistics }: Execution, what: Remembered, make: () => T): T =>
  recalled(statistics, what, make);

function recalled<T>(memory: Memory, { part, as }: Remembered, make: () => T): T {
  const own = memory.get(part) ?? new Map<string, unknown>();
  if (!own.has(as)) own.set(as, make());
  memory.set(part, own);
  return own.get(as) as T;
}

export const holdsFor = ({ evaluate }: Expression, row: Row): boolean => booleanOf(evaluate(row)) === true;

/** Regroups rows into larger blocks, for operators with a cost per block. @param most approximate count of rows in a block */
export async function* gathered(input: Blocks, most: number): AsyncGenerator<Row[]> {
  let rows: Row[] = [];
  for await (const block of input) {
    if (rows.length === 0) rows = block;
    else for (const row of block) rows.push(row);
    if (rows.length < most) continue;
    yield rows;
    rows = [];
  }
  if (rows.length > 0) yield rows;
}
