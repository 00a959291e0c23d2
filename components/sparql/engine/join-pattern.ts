/**
 * Rows joined with a pattern, in whichever way reads least: streamed for one row, looked up where rows bind little, or through
 * a table of all matches, made once. It must not know the order of joins.
 */
import { blockLength, type Execution, recall } from './execution.js';
import type { Terms } from './key-reader.js';
import type { Blocks, Pattern, Row, Slot } from './plan.js';
import { joinTokens, type Token } from './terms.js';

/** What a lookup costs, in keys of a scan that are made into a table. */
const keysPerLookup = 20;
/** Keys that a table may have. */
const mostInTable = 1_000_000;
/** Lookups between two outputs. */
const lookupsAtATime = 512;

interface PatternMemory {
  /** Lookups made or wanted up to now. */
  lookups: number;
  estimate: number | undefined;
  readonly tables: Map<string, Map<string, Terms[]>>;
}

const memoryOf = (execution: Execution, pattern: Pattern): PatternMemory =>
  recall(execution, pattern, () => ({ lookups: 0, estimate: undefined, tables: new Map() }));

/** How many keys the pattern's own terms leave. */
export async function estimateOf(execution: Execution, pattern: Pattern): Promise<number> {
  const memory = memoryOf(execution, pattern);
  memory.estimate ??= await execution.matches.estimate(constants(pattern));
  return memory.estimate;
}

const constants = ({ places }: Pattern): Terms =>
  places.map((place) => (place && 'token' in place ? place.token : undefined));

/** The terms that the pattern has for a row. */
const boundBy = ({ places }: Pattern, row: Row): Terms =>
  places.map((place) => (!place ? undefined : 'token' in place ? place.token : row[place.slot]));

export async function* joinPattern(execution: Execution, pattern: Pattern, input: Blocks): AsyncGenerator<Row[]> {
  for await (const rows of input) {
    execution.assertTime();
    if (rows.length === 1) yield* streamed(execution, pattern, boundBy(pattern, rows[0]!), rows);
    else for (const group of byBoundSlots(pattern, rows)) yield* joinGroup(execution, pattern, group);
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

async function* joinGroup(execution: Execution, pattern: Pattern, group: RowGroup): AsyncGenerator<Row[]> {
  const { slots, rows } = group;
  const partners = new Map<string, Row[]>();
  for (const row of rows) {
    const key = joinTokens(row, slots);
    const own = partners.get(key);
    if (own) own.push(row);
    else partners.set(key, [row]);
  }
  const groups = [...partners.values()];
  if (groups.length === 1) return yield* streamed(execution, pattern, boundBy(pattern, rows[0]!), rows);
  const memory = memoryOf(execution, pattern);
  memory.lookups += groups.length;
  const name = slots.join();
  const table = memory.tables.get(name) ?? (await tableFor(execution, pattern, memory, slots));
  if (table) return yield* probed(execution, pattern, table, partners);
  yield* lookedUp(execution, pattern, groups);
}

/** A table of all matches, when that is cheaper than the lookups. */
async function tableFor(
  execution: Execution,
  pattern: Pattern,
  memory: PatternMemory,
  slots: readonly Slot[],
): Promise<Map<string, Terms[]> | undefined> {
  if (slots.length === 0 || memory.lookups < 8) return undefined;
  const estimate = await estimateOf(execution, pattern);
  if (estimate > mostInTable || estimate > memory.lookups * keysPerLookup) return undefined;
  const places = slots.map((slot) =>
    pattern.places.findIndex((place) => place && 'slot' in place && place.slot === slot),
  );
  const table = new Map<string, Terms[]>();
  for await (const block of execution.matches.stream(constants(pattern), {
    part: pattern.part,
    places: pattern.wanted,
  })) {
    for (const terms of block) {
      const key = joinTokens(terms, places);
      const own = table.get(key);
      if (own) own.push(terms);
      else table.set(key, [terms]);
    }
  }
  memory.tables.set(slots.join(), table);
  return table;
}

async function* streamed(
  execution: Execution,
  pattern: Pattern,
  bound: Terms,
  rows: readonly Row[],
): AsyncGenerator<Row[]> {
  for await (const matches of execution.matches.stream(bound, { part: pattern.part, places: pattern.wanted }))
    yield* combined(execution, pattern, [[matches, rows]]);
}

async function* lookedUp(execution: Execution, pattern: Pattern, groups: readonly Row[][]): AsyncGenerator<Row[]> {
  const wanted = { part: pattern.part, places: pattern.wanted };
  for (let at = 0; at < groups.length; at += lookupsAtATime) {
    const some = groups.slice(at, at + lookupsAtATime);
    const found = await execution.matches.lookUp(
      some.map(([row]) => boundBy(pattern, row!)),
      wanted,
    );
    yield* combined(
      execution,
      pattern,
      some.map((rows, index) => [found[index]!, rows]),
    );
  }
}

function probed(
  execution: Execution,
  pattern: Pattern,
  table: ReadonlyMap<string, Terms[]>,
  partners: ReadonlyMap<string, Row[]>,
): Generator<Row[]> {
  const pairs: (readonly [readonly Terms[], readonly Row[]])[] = [];
  for (const [key, rows] of partners) {
    const matches = table.get(key);
    if (matches) pairs.push([matches, rows]);
  }
  return combined(execution, pattern, pairs);
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
        assertTime();
        yield out;
        out = [];
      }
  if (out.length > 0) yield out;
}

/** `undefined` when a variable would have two terms. */
function merge(row: Row, terms: Terms, wanted: readonly number[], slots: readonly Slot[]): Row | undefined {
  const merged = row.slice();
  for (let i = 0; i < wanted.length; i++) {
    const token = terms[wanted[i]!] as Token;
    const slot = slots[i]!;
    const own = merged[slot];
    if (own === undefined) merged[slot] = token;
    else if (own !== token) return undefined;
  }
  return merged;
}
