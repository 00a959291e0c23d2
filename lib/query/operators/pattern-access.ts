/**
 * What is known of a pattern while a query runs: how many matches it has, what its lookups cost, and how many rows are worth
 * waiting for. It must not join.
 */

import type { Terms } from '../access/key-reader.js';
import type { Wanted } from '../access/quad-matches.js';
import { type Blocks, type Pattern, type Place, type Row, type Slot, termAt } from '../plan/plan.js';
import { type Execution, recall } from './execution.js';

/** Rows that may be gathered before it is decided how they are joined. */
const maxGathered = 65_536;
/** Lookups before the first output. */
const firstLookups = 64;

export type Table = ReadonlyMap<string, readonly Terms[]>;

export interface PatternMemory {
  estimate: number | undefined;
  /** Lookups that go together. */
  lookups: number;
  scans: number;
  readonly tables: Map<string, Table>;
}

export const memoryOf = (execution: Execution, pattern: Pattern): PatternMemory =>
  recall(execution, { part: pattern, as: 'matches' }, () => ({
    estimate: undefined,
    lookups: firstLookups,
    scans: 0,
    tables: new Map(),
  }));

/** How many keys the pattern's own terms leave. */
export async function estimateOf(execution: Execution, pattern: Pattern): Promise<number> {
  const memory = memoryOf(execution, pattern);
  memory.estimate ??= await execution.matches.estimate(constants(pattern), pattern.part);
  return memory.estimate;
}

export const constants = ({ places }: Pattern): Terms =>
  places.map((place) => (place && 'token' in place ? place.token : undefined));

/** The terms that the pattern has for a row. */
export const boundBy = ({ places }: Pattern, row: Row): Terms => places.map((place) => termAt(place, row));

function isStar({ stars }: Execution, { places: [subject] }: Pattern): boolean {
  return !!subject && 'slot' in subject && stars.has(subject.slot);
}

export const wantedOf = (execution: Execution, pattern: Pattern): Wanted => ({
  part: pattern.part,
  places: pattern.wanted,
  isStar: isStar(execution, pattern),
});

export async function isLookUpCheaper(
  execution: Execution,
  pattern: Pattern,
  slots: readonly Slot[],
  lookups: number,
): Promise<boolean> {
  const isBound = (place: Place): boolean => !!place && ('token' in place || slots.includes(place.slot));
  const { lookUp, quad, subject } = execution.matches.costs;
  const cost = pattern.places.every(isBound) ? quad : isStar(execution, pattern) ? subject : lookUp;
  return lookups < 16 || lookups * cost < (await estimateOf(execution, pattern));
}

export interface Batch {
  readonly rows: Row[];
  /** No more rows will come. */
  readonly isLast: boolean;
}

/** Rows until there are no more, or so many that a scan costs less than their lookups. */
export async function* batches(execution: Execution, pattern: Pattern, input: Blocks): AsyncGenerator<Batch> {
  let rows: Row[] = [];
  let enough = 0;
  for await (const block of input) {
    if (execution.isHasty) {
      yield { rows: block, isLast: false };
      continue;
    }
    if (rows.length > 0) {
      enough ||= Math.min(maxGathered, (await estimateOf(execution, pattern)) / execution.matches.costs.quad);
      if (rows.length >= enough) {
        yield { rows, isLast: false };
        rows = [];
      }
    }
    if (rows.length === 0) rows = block;
    else for (const row of block) rows.push(row);
  }
  if (rows.length > 0) yield { rows, isLast: true };
}
