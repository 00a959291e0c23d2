/** What one execution of a plan holds. */

import type { ServiceAnswer, ServiceCall } from '../messages.js';
import type { Expression, Pattern, Plan, Row } from './plan.js';
import type { QuadMatches } from './quad-matches.js';
import { booleanOf } from './values.js';

export interface Execution {
  readonly matches: QuadMatches;
  readonly width: number;
  /** What parts of the plan remember from one block to the next. */
  readonly memory: Map<Plan | Pattern, unknown>;
  readonly assertTime: () => void;
  /** Asks another endpoint. */
  readonly callService: (call: ServiceCall) => Promise<ServiceAnswer>;
}

/** Rows of a block, about. */
export const blockLength = 2048;

export const emptyRow = ({ width }: Execution): Row => new Array<undefined>(width).fill(undefined);

export async function* unit(execution: Execution): AsyncGenerator<Row[]> {
  yield [emptyRow(execution)];
}

export async function* oneBlock(rows: Row[]): AsyncGenerator<Row[]> {
  yield rows;
}

export function recall<T>({ memory }: Execution, key: Plan | Pattern, make: () => T): T {
  if (!memory.has(key)) memory.set(key, make());
  return memory.get(key) as T;
}

export const holds = ({ evaluate }: Expression, row: Row): boolean => booleanOf(evaluate(row)) === true;
