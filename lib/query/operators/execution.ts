/** What one execution of a plan holds. */

import { LwsError } from '../../errors.js';
import type { EmptyGraphs } from '../access/empty-graphs.js';
import type { AssertTime, QuadMatches } from '../access/quad-matches.js';
import type { ServiceAnswer, ServiceCall } from '../access/service-call.js';
import { booleanOf, type Value } from '../expressions/values.js';
import type { Blocks, Existence, Expression, Pattern, Plan, Row, Slot } from '../plan/plan.js';

type Memory = Map<Plan | Pattern | Existence, Map<string, unknown>>;

/** What notes them, see explain. */
export interface Observer {
  /** Whether the query is to run, and not only its plan to be told. */
  readonly isRun: boolean;
  watched(part: Plan | Pattern, blocks: Blocks): Blocks;
  taken(join: Plan, item: Plan | Pattern): void;
}

export interface Execution {
  readonly matches: QuadMatches;
  /** The graphs that have no quad; absent: there are none. */
  readonly emptyGraphs: EmptyGraphs | undefined;
  readonly width: number;
  /** What parts of the plan remember from one block to the next. */
  readonly memory: Memory;
  /** What holds for all rows of an EXISTS that is run for each. */
  readonly lasting: Memory;
  readonly assertTime: AssertTime;
  /** A few rows are enough, so that the first are to come soon. */
  readonly isHasty: boolean;
  /** Variables that are the subjects of several patterns. */
  readonly stars: ReadonlySet<Slot>;
  /** What the query may still make of long texts. */
  readonly texts: { left: number };
  /** The row for which an EXISTS is run: its terms stand for its variables. */
  readonly outer?: Row;
  /** Notes what parts of the plan do; absent: nobody asks. */
  readonly observer?: Observer | undefined;
  /** Asks another endpoint. */
  readonly callService: (call: ServiceCall) => Promise<ServiceAnswer>;
}

/** Rows of a block, about. */
export const blockLength = 2048;

/** The row that plans begin with. */
export const emptyRow = ({ width, outer }: Execution): Row =>
  outer ? outer.slice() : new Array<undefined>(width).fill(undefined);

/** Characters of a string that count, and that a query may make of such texts, which rows, groups and orders hold. */
const longText = 4096;
export const maxOfTexts = 64 << 20;

/** @throws LwsError `query-limit` */
export function spend({ texts }: Execution, value: Value | undefined): void {
  // A stored term is there anyhow.
  if (!value || value.termKey !== undefined || value.text.length < longText) return;
  texts.left -= value.text.length;
  if (texts.left < 0)
    throw new LwsError(
      'query-limit',
      `The query makes long texts of more than ${maxOfTexts >> 20} Mi characters in all, which no setting changes.`,
    );
}

export async function* unit(execution: Execution): AsyncGenerator<Row[]> {
  yield [emptyRow(execution)];
}

export async function* oneBlock(rows: Row[]): AsyncGenerator<Row[]> {
  yield rows;
}

/** The key of a cache: a node of the plan and its role, since one path may be cached by steps and as a table of rows. */
export interface Remembered {
  readonly part: Plan | Pattern | Existence;
  readonly as: 'steps' | 'rows' | 'answers' | 'service' | 'matches' | 'nodes' | 'graphs' | 'counts' | 'order';
}

export const recall = <T>({ memory }: Execution, what: Remembered, make: () => T): T => recalled(memory, what, make);

/** The same, also for the other rows of an EXISTS: what does not depend on the terms that stand for its variables. */
export const recallLasting = <T>({ lasting }: Execution, what: Remembered, make: () => T): T =>
  recalled(lasting, what, make);

function recalled<T>(memory: Memory, { part, as }: Remembered, make: () => T): T {
  const own = memory.get(part) ?? new Map<string, unknown>();
  if (!own.has(as)) own.set(as, make());
  memory.set(part, own);
  return own.get(as) as T;
}

export const holdsFor = ({ evaluate }: Expression, row: Row): boolean => booleanOf(evaluate(row)) === true;

/** Blocks of about so many rows, for what costs something for each block. */
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
