/** Statistics and costs of a pattern at run time: count of matches, cost of lookups, and rows to wait for. No joins. */

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
import type { KeyedLists } from './keyed-lists.js';

/**
 * Cost of a lookup with variables, and of a lookup of a complete quad, relative to a match of a scan. A lookup takes 2 to 3 µs.
 * A match of a scan takes 0.1 to 0.3 µs, and the same time to be joined.
 */
const costs = { lookUp: 6, quad: 3 };
/** Maximum count of rows to read before the join method is chosen. */
const maxGathered = 65_536;
/** Count of lookups in the first batch. The second value is used if the consumer needs only a few rows. */
const [firstLookups, hastyLookups] = [64, 4];

export interface PatternMemory {
  /** Count of lookups in the next batch. */
  lookups: number;
  scans: number;
  readonly tables: Map<string, KeyedLists<Terms>>;
  /** Filters that depend only on a match. Matches that do not pass the filters are not joined. */
  filters: readonly Expression[];
}

export const memoryOf = (execution: Execution, pattern: Pattern): PatternMemory =>
  recall(execution, { part: pattern, as: 'matches' }, () => ({
    lookups: execution.isHasty ? hastyLookups : firstLookups,
    scans: 0,
    tables: new Map(),
    filters: [],
  }));

/** Returns the statistics of a pattern, which all queries with the same constants share. */
function countsOf(execution: Execution, { part, places }: Pattern): PatternCounts {
  // In a term key, only an object can contain a line feed, so equal names mean equal patterns.
  let name: string = part;
  for (const place of places) name += place && 'token' in place ? `\n${place.token}` : `\n?${place ? '' : '-'}`;
  return countsNamed(execution.counts, name);
}

/** Estimates the count of matches of the pattern's constants. */
export async function estimateOf(execution: Execution, pattern: Pattern): Promise<number> {
  const counts = countsOf(execution, pattern);
  counts.estimate ??= await execution.matches.estimate(constants(pattern), pattern.part);
  return counts.estimate;
}

/** Assumed count of matches per term in each position (S, P, O, G). */
const usual = [8, 1000, 20, 50];
/** Assumed count of values of a property per subject. */
const usualValues = 2;

/** Estimates the count of matches per term of each variable without reading data. */
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

/** Sample size: count of sampled matches. For each of their terms, all matches are counted. */
const maxSampled = 8;

/** Estimates the count of readable matches per term of each variable. */
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
    // The harmonic mean is used, because the probability that a term is sampled is proportional to its matches.
    const mean = found.length / found.reduce((sum, count) => sum + 1 / Math.max(1, count), 0);
    fanOut.set(at, samples.length === 0 ? Math.min(1, all) : Math.min(all, roughly(mean)));
  }
  return fanOut;
}

/** Sample size for filters, in matches. If no match in the sample passes, half a match is assumed. */
const maxFiltered = 32;

/** Estimates the share of a pattern's matches that pass the filters on its variables, as a power of two. */
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

/** Returns true if all conditions are true for a match. @param row row that is overwritten with the terms of the match */
export function holdsForTerms(
  pattern: Pattern,
  { terms, row, conditions }: { readonly terms: Terms; readonly row: Row; readonly conditions: readonly Expression[] },
): boolean {
  for (const at of pattern.wanted) row[(pattern.places[at] as { slot: Slot }).slot] = terms[at];
  return conditions.every((condition) => holdsFor(condition, row));
}

export const constants = ({ places }: Pattern): Terms =>
  places.map((place) => (place && 'token' in place ? place.token : undefined));

/** Returns the slots of the required positions, in order. */
export const slotsOfWanted = ({ places, wanted }: Pattern): Slot[] =>
  wanted.map((at) => (places[at] as { slot: Slot }).slot);

/** Returns the terms of the pattern, with variables replaced by the terms of a row. */
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
  /** True if no more rows follow. */
  readonly isLast: boolean;
}

/** Reads rows into batches. A batch ends when a scan costs less than lookups for the rows of the batch. */
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
