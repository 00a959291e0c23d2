/** Access to a pattern at run time: its number of matches, the cost of lookups, and the number of rows worth waiting for. Does not join. */

import { countsNamed, type PatternCounts, roughly } from '../access/estimates.js';
import type { Terms } from '../access/key-reader.js';
import type { MatchOptions } from '../access/quad-matches.js';
import {
  type Blocks,
  type Expression,
  isSubset,
  type Pattern,
  type Place,
  type Row,
  type Slot,
  termAt,
} from '../plan/plan.js';
import { type Execution, emptyRow, holdsFor, recall } from './execution.js';

/**
 * Cost of a lookup, and of the existence check of a quad, relative to a match of a scan: a lookup takes 2 to 3 µs, a match of a scan
 * 0.1 to 0.3 µs, and as much again to be joined.
 */
const costs = { lookUp: 6, quad: 3 };
/** Maximum number of rows buffered before the join method is chosen. */
const maxGathered = 65_536;
/** Lookups before the first output. Fewer if few rows are needed. */
const [firstLookups, hastyLookups] = [64, 4];

export type Table = ReadonlyMap<string, readonly Terms[]>;

export interface PatternMemory {
  /** Number of lookups in a batch. */
  lookups: number;
  scans: number;
  readonly tables: Map<string, Table>;
  /** Conditions on its matches: others need not be joined. */
  filters: readonly Expression[];
}

export const memoryOf = (execution: Execution, pattern: Pattern): PatternMemory =>
  recall(execution, { part: pattern, as: 'matches' }, () => ({
    lookups: execution.isHasty ? hastyLookups : firstLookups,
    scans: 0,
    tables: new Map(),
    filters: [],
  }));

/** PatternCounts by constants: other queries with the same pattern profit too. */
function countsOf(execution: Execution, { part, places }: Pattern): PatternCounts {
  // Only an object may contain line feeds, so that equal names are equal patterns.
  let name: string = part;
  for (const place of places) name += place && 'token' in place ? `\n${place.token}` : `\n?${place ? '' : '-'}`;
  return countsNamed(execution.counts, name);
}

/** Estimates the number of keys that match the constants of the pattern. */
export async function estimateOf(execution: Execution, pattern: Pattern): Promise<number> {
  const counts = countsOf(execution, pattern);
  counts.estimate ??= await execution.matches.estimate(constants(pattern), pattern.part);
  return counts.estimate;
}

/** Default number of matches per term: few for a subject, more for an object and many for a graph. */
const usual = [8, 1000, 20, 50];
/** Values of a property per subject. */
const usualValues = 2;

/** Estimates the number of matches per term of each variable without reading data. */
export function usualFanOut({ places }: Pattern, rows: number): ReadonlyMap<Slot, number> {
  const [, predicate, object] = places;
  const isGiven = (place: Place): boolean => !!place && 'token' in place;
  const ofSubject = !isGiven(predicate) ? usual[0]! : isGiven(object) ? 1 : usualValues;
  const fanOut = new Map<Slot, number>();
  places.forEach((place, at) => {
    if (place && 'slot' in place) fanOut.set(place.slot, Math.min(rows, at === 0 ? ofSubject : usual[at]!));
  });
  return fanOut;
}

/** Sample size: number of matches for which the others with the same term are counted. */
const maxSampled = 8;

/** Estimates the number of readable matches per term of each variable. */
export async function fanOutOf(execution: Execution, pattern: Pattern): Promise<ReadonlyMap<Slot, number>> {
  const counts = countsOf(execution, pattern);
  counts.fanOut ??= await sampledFanOut(execution, pattern);
  const fanOut = new Map<Slot, number>();
  for (const [at, count] of counts.fanOut) {
    const { slot } = pattern.places[at] as { slot: Slot };
    if (!fanOut.has(slot)) fanOut.set(slot, count);
  }
  return fanOut;
}

async function sampledFanOut(execution: Execution, pattern: Pattern): Promise<ReadonlyMap<number, number>> {
  const { matches } = execution;
  const { part, wanted } = pattern;
  const own = constants(pattern);
  const all = await estimateOf(execution, pattern);
  const samples = all <= 1 || wanted.length === 0 ? [] : await matches.sample(own, wantedOf(pattern), maxSampled);
  const fanOut = new Map<number, number>();
  for (const at of wanted) {
    const bounds = samples.map((terms) => own.map((token, place) => (place === at ? terms[at] : token)));
    const found = await Promise.all(bounds.map((bound) => matches.estimate(bound as Terms, part)));
    // A term with many matches is in the sample proportionally more often.
    const mean = found.length / found.reduce((sum, count) => sum + 1 / Math.max(1, count), 0);
    fanOut.set(at, samples.length === 0 ? Math.min(1, all) : Math.min(all, roughly(mean)));
  }
  return fanOut;
}

/** Sample size for filters: a share below its inverse counts as half of it. */
const maxFiltered = 32;

/** Estimates the share of the matches of a pattern for which the filters on its variables hold, as a power of two. */
export async function selectivityOf(
  execution: Execution,
  pattern: Pattern,
  filters: readonly Expression[],
): Promise<number> {
  const own = new Set(slotsOfWanted(pattern));
  const conditions = filters.filter(({ slots }) => slots.size > 0 && isSubset(slots, own));
  if (conditions.length === 0) return 1;
  const samples = await execution.matches.sample(constants(pattern), wantedOf(pattern), maxFiltered);
  if (samples.length === 0) return 1;
  const row = emptyRow(execution);
  const held = samples.filter((terms) => holdsForTerms(pattern, { terms, row, conditions })).length;
  return 2 ** Math.round(Math.log2(Math.max(held, 0.5) / samples.length));
}

/** Returns true if all conditions hold for a match. @param row receives its terms */
export function holdsForTerms(
  pattern: Pattern,
  { terms, row, conditions }: { readonly terms: Terms; readonly row: Row; readonly conditions: readonly Expression[] },
): boolean {
  for (const at of pattern.wanted) row[(pattern.places[at] as { slot: Slot }).slot] = terms[at];
  return conditions.every((condition) => holdsFor(condition, row));
}

export const constants = ({ places }: Pattern): Terms =>
  places.map((place) => (place && 'token' in place ? place.token : undefined));

/** Slots of the required positions, in order. */
export const slotsOfWanted = ({ places, wanted }: Pattern): Slot[] =>
  wanted.map((at) => (places[at] as { slot: Slot }).slot);

/** Terms of the pattern for a row. */
export const boundBy = ({ places }: Pattern, row: Row): Terms => places.map((place) => termAt(place, row));

export const wantedOf = ({ part, wanted }: Pattern): MatchOptions => ({ part, places: wanted });

export async function isLookUpCheaper(
  execution: Execution,
  pattern: Pattern,
  slots: readonly Slot[],
  lookups: number,
): Promise<boolean> {
  const isBound = (place: Place): boolean => !!place && ('token' in place || slots.includes(place.slot));
  const cost = pattern.places.every(isBound) ? costs.quad : costs.lookUp;
  return lookups < 16 || lookups * cost < (await estimateOf(execution, pattern));
}

export interface Batch {
  readonly rows: Row[];
  /** There are no more rows. */
  readonly isLast: boolean;
}

/** Reads rows until there are no more, or until a scan costs less than their lookups. */
export async function* batches(execution: Execution, pattern: Pattern, input: Blocks): AsyncGenerator<Batch> {
  let rows: Row[] = [];
  let enough = 0;
  for await (const block of input) {
    if (execution.isHasty) {
      yield { rows: block, isLast: false };
      continue;
    }
    if (rows.length > 0) {
      enough ||= Math.min(maxGathered, (await estimateOf(execution, pattern)) / costs.quad);
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
