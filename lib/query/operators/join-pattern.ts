/**
 * Rows joined with a pattern, in whichever way reads least: streamed for one row, looked up where rows bind little, or through a table of
 * all matches, made once.
 */
import { addTo } from '../access/collections.js';
import type { Terms } from '../access/key-reader.js';
import { joinTokens, type TermKey } from '../access/terms.js';
import type { Blocks, Pattern, Row, Slot } from '../plan/plan.js';
import { blockLength, type Execution } from './execution.js';
import {
  batches,
  boundBy,
  constants,
  estimateOf,
  isLookUpCheaper,
  memoryOf,
  type Table,
  wantedOf,
} from './pattern-access.js';

/** Keys that a table may have. */
const maxInTable = 1_000_000;
/** Lookups between two outputs, at most. */
const maxLookups = 1024;

export async function* joinPattern(execution: Execution, pattern: Pattern, input: Blocks): AsyncGenerator<Row[]> {
  for await (const { rows, isLast } of batches(execution, pattern, input)) {
    execution.assertTime();
    if (rows.length === 1) yield* streamed(execution, pattern, boundBy(pattern, rows[0]!), rows);
    else for (const group of byBoundSlots(pattern, rows)) yield* joinGroup(execution, pattern, group, isLast);
  }
}

/** Rows that bind the same slots of the pattern. */
interface RowGroup {
  readonly slots: readonly Slot[];
  readonly rows: Row[];
}

function byBoundSlots({ places, wanted }: Pattern, rows: readonly Row[]): Iterable<RowGroup> {
  const slots = [...new Set(wanted.map((at) => (places[at] as { slot: Slot }).slot))];
  const groups = new Map<string, RowGroup>();
  for (const row of rows) {
    let key = '';
    for (const slot of slots) key += row[slot] === undefined ? '0' : '1';
    const group = groups.get(key);
    if (group) group.rows.push(row);
    else groups.set(key, { slots: slots.filter((slot) => row[slot] !== undefined), rows: [row] });
  }
  return groups.values();
}

async function* joinGroup(
  execution: Execution,
  pattern: Pattern,
  { slots, rows }: RowGroup,
  isLast: boolean,
): AsyncGenerator<Row[]> {
  const memory = memoryOf(execution, pattern);
  const table = memory.tables.get(slots.join());
  if (table) return yield* combined(execution, pattern, probed(table, slots, rows));
  const partners = new Map<string, Row[]>();
  for (const row of rows) addTo(partners, joinTokens(row, slots), row);
  if (partners.size === 1) return yield* streamed(execution, pattern, boundBy(pattern, rows[0]!), rows);
  if (slots.length === 0 || (await isLookUpCheaper(execution, pattern, slots, partners.size)))
    return yield* lookedUp(execution, pattern, [...partners.values()]);
  // What comes later finds the table; for the last rows the matches need not be kept, unless such rows come often.
  if ((!isLast || memory.scans++ > 0) && (await estimateOf(execution, pattern)) <= maxInTable)
    yield* combined(execution, pattern, probed(await tableFor(execution, pattern, slots), slots, rows));
  else yield* scanned(execution, pattern, slots, partners);
}

const placesOf = ({ places }: Pattern, slots: readonly Slot[]): number[] =>
  slots.map((slot) => places.findIndex((place) => place && 'slot' in place && place.slot === slot));

async function tableFor(execution: Execution, pattern: Pattern, slots: readonly Slot[]): Promise<Table> {
  const places = placesOf(pattern, slots);
  const table = new Map<string, Terms[]>();
  for await (const block of execution.matches.stream(constants(pattern), wantedOf(execution, pattern)))
    for (const terms of block) addTo(table, joinTokens(terms, places), terms);
  memoryOf(execution, pattern).tables.set(slots.join(), table);
  return table;
}

/** All matches of the pattern alone, of which only those are kept that have partners. */
async function* scanned(
  execution: Execution,
  pattern: Pattern,
  slots: readonly Slot[],
  partners: ReadonlyMap<string, readonly Row[]>,
): AsyncGenerator<Row[]> {
  const places = placesOf(pattern, slots);
  const among = places.length === 1 ? { place: places[0]!, tokens: partners } : undefined;
  for await (const block of execution.matches.stream(constants(pattern), { ...wantedOf(execution, pattern), among })) {
    const pairs: (readonly [readonly Terms[], readonly Row[]])[] = [];
    for (const terms of block) {
      const rows = partners.get(joinTokens(terms, places));
      if (rows) pairs.push([[terms], rows]);
    }
    yield* combined(execution, pattern, pairs);
  }
}

async function* streamed(
  execution: Execution,
  pattern: Pattern,
  bound: Terms,
  rows: readonly Row[],
): AsyncGenerator<Row[]> {
  for await (const matches of execution.matches.stream(bound, wantedOf(execution, pattern)))
    yield* combined(execution, pattern, [[matches, rows]]);
}

async function* lookedUp(execution: Execution, pattern: Pattern, groups: readonly Row[][]): AsyncGenerator<Row[]> {
  const memory = memoryOf(execution, pattern);
  for (let at = 0; at < groups.length; ) {
    const some = groups.slice(at, at + memory.lookups);
    at += memory.lookups;
    memory.lookups = Math.min(maxLookups, memory.lookups * 2);
    const bounds = some.map(([row]) => boundBy(pattern, row!));
    const found = await execution.matches.lookUp(bounds, wantedOf(execution, pattern));
    const pairs = some.map((rows, index) => [found[index]!, rows] as const);
    yield* combined(execution, pattern, pairs);
  }
}

function* probed(
  table: Table,
  slots: readonly Slot[],
  rows: readonly Row[],
): Generator<readonly [readonly Terms[], Row[]]> {
  for (const row of rows) {
    const matches = table.get(joinTokens(row, slots));
    if (matches) yield [matches, [row]];
  }
}

/** Each row with each of its matches. */
function* combined(
  { assertTime }: Execution,
  { places, wanted }: Pattern,
  pairs: Iterable<readonly [matches: readonly Terms[], rows: readonly Row[]]>,
): Generator<Row[]> {
  const slots = wanted.map((at) => (places[at] as { slot: Slot }).slot);
  let out: Row[] = [];
  for (const [matches, rows] of pairs)
    for (const terms of matches)
      for (const row of rows) {
        const merged = merge(row, terms, wanted, slots);
        if (!merged) continue;
        out.push(merged);
        if (out.length < blockLength) continue;
        assertTime(out.length);
        yield out;
        out = [];
      }
  assertTime(out.length);
  if (out.length > 0) yield out;
}

/** `undefined` when a variable would have two terms. */
function merge(row: Row, terms: Terms, wanted: readonly number[], slots: readonly Slot[]): Row | undefined {
  const merged = row.slice();
  for (let i = 0; i < wanted.length; i++) {
    const token = terms[wanted[i]!] as TermKey;
    const slot = slots[i]!;
    const own = merged[slot];
    if (own === undefined) merged[slot] = token;
    else if (own !== token) return undefined;
  }
  return merged;
}
