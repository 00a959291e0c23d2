/** Joins rows with a pattern by the cheapest method: a stream for one row, lookups for few rows, a hash table, or a scan. */
import type { Terms } from '../access/key-reader.js';
import type { TermKey } from '../access/terms.js';
import type { Blocks, Pattern, Row, Slot } from '../plan/plan.js';
import { blockLength, type Execution, emptyRow } from './execution.js';
import { KeyedLists } from './keyed-lists.js';
import {
  batches,
  boundBy,
  constants,
  estimateOf,
  holdsForTerms,
  isLookUpCheaper,
  memoryOf,
  slotsOfWanted,
  wantedOf,
} from './pattern-access.js';

/** Maximum count of matches in a hash table. */
const maxInTable = 1_000_000;
/** Maximum count of lookups between two outputs. */
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

function byBoundSlots(pattern: Pattern, rows: readonly Row[]): Iterable<RowGroup> {
  const slots = [...new Set(slotsOfWanted(pattern))];
  const groups = new Map<number, RowGroup>();
  let last: { readonly which: number; readonly rows: Row[] } | undefined;
  for (const row of rows) {
    let which = 0;
    for (let at = 0; at < slots.length; at++) if (row[slots[at]!] !== undefined) which |= 1 << at;
    // Rows are grouped by the slots that they bind.
    if (last?.which !== which) {
      const group = groups.get(which) ?? { slots: slots.filter((slot) => row[slot] !== undefined), rows: [] };
      groups.set(which, group);
      last = { which, rows: group.rows };
    }
    last.rows.push(row);
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
  if (table) return yield* probed(execution, pattern, { table, slots, rows });
  const partners = new KeyedLists<Row>(slots.length);
  for (const row of rows) partners.add(row, slots, row);
  if (partners.size === 1) return yield* streamed(execution, pattern, boundBy(pattern, rows[0]!), rows);
  // If more rows follow, twice as many lookups are expected.
  const expected = isLast ? partners.size : 2 * partners.size;
  if (slots.length === 0 || (await isLookUpCheaper(execution, pattern, slots, expected)))
    return yield* lookedUp(execution, pattern, [...partners.values()]);
  // A table saves time if later rows use it. For the last rows, it is built only if this join is repeated, as in an EXISTS.
  if ((!isLast || memory.scans++ > 0) && (await estimateOf(execution, pattern)) <= maxInTable)
    yield* probed(execution, pattern, { table: await tableFor(execution, pattern, slots), slots, rows });
  else yield* scanned(execution, pattern, slots, partners);
}

const placesOf = ({ places }: Pattern, slots: readonly Slot[]): number[] =>
  slots.map((slot) => places.findIndex((place) => place && 'slot' in place && place.slot === slot));

async function tableFor(execution: Execution, pattern: Pattern, slots: readonly Slot[]): Promise<KeyedLists<Terms>> {
  const places = placesOf(pattern, slots);
  const table = new KeyedLists<Terms>(places.length);
  const isHeld = filterOf(execution, pattern);
  for await (const block of execution.matches.stream(constants(pattern), wantedOf(pattern)))
    for (const terms of block) if (isHeld(terms)) table.add(terms, places, terms);
  memoryOf(execution, pattern).tables.set(slots.join(), table);
  return table;
}

/** Returns a test of matches by the filters that depend only on the match. */
function filterOf(execution: Execution, pattern: Pattern): (terms: Terms) => boolean {
  const { filters } = memoryOf(execution, pattern);
  if (filters.length === 0) return () => true;
  const row = emptyRow(execution);
  return (terms) => holdsForTerms(pattern, { terms, row, conditions: filters });
}

/** Scans all matches of the pattern, and joins them with the matching rows. */
async function* scanned(
  execution: Execution,
  pattern: Pattern,
  slots: readonly Slot[],
  partners: KeyedLists<Row>,
): AsyncGenerator<Row[]> {
  const places = placesOf(pattern, slots);
  const isHeld = filterOf(execution, pattern);
  const among = places.length === 1 ? { place: places[0]!, tokens: partners.lists } : undefined;
  const joined = new JoinedRows(execution, pattern);
  for await (const block of execution.matches.stream(constants(pattern), { among, ...wantedOf(pattern) })) {
    for (const terms of block) {
      const rows = partners.get(terms, places);
      if (rows && isHeld(terms)) for (const full of joined.blocks(rows, [terms])) yield full;
    }
    if (joined.some) yield joined.take();
  }
}

async function* streamed(
  execution: Execution,
  pattern: Pattern,
  bound: Terms,
  rows: readonly Row[],
): AsyncGenerator<Row[]> {
  const joined = new JoinedRows(execution, pattern);
  for await (const matches of execution.matches.stream(bound, wantedOf(pattern))) {
    for (const full of joined.blocks(rows, matches)) yield full;
    if (joined.some) yield joined.take();
  }
}

async function* lookedUp(execution: Execution, pattern: Pattern, groups: readonly Row[][]): AsyncGenerator<Row[]> {
  const memory = memoryOf(execution, pattern);
  const joined = new JoinedRows(execution, pattern);
  for (let at = 0; at < groups.length; ) {
    const some = groups.slice(at, at + memory.lookups);
    at += memory.lookups;
    memory.lookups = Math.min(maxLookups, memory.lookups * 2);
    const bounds = some.map(([row]) => boundBy(pattern, row!));
    const found = await execution.matches.lookUp(bounds, wantedOf(pattern));
    for (let index = 0; index < some.length; index++)
      for (const full of joined.blocks(some[index]!, found[index]!)) yield full;
    if (joined.some) yield joined.take();
  }
}

function* probed(
  execution: Execution,
  pattern: Pattern,
  { table, slots, rows }: RowGroup & { readonly table: KeyedLists<Terms> },
): Generator<Row[]> {
  const joined = new JoinedRows(execution, pattern);
  for (const row of rows) {
    const matches = table.get(row, slots);
    if (matches) for (const block of joined.blocks([row], matches)) yield block;
  }
  if (joined.some) yield joined.take();
}

const noBlocks: readonly Row[][] = [];

/** Joins rows with their matches and collects the joined rows in blocks. */
class JoinedRows {
  private rows: Row[] = [];
  private readonly slots: readonly Slot[];

  constructor(
    private readonly execution: Execution,
    private readonly pattern: Pattern,
  ) {
    this.slots = slotsOfWanted(pattern);
  }

  get some(): boolean {
    return this.rows.length > 0;
  }

  take(): Row[] {
    const block = this.rows;
    this.rows = [];
    this.execution.assertTime(block.length);
    return block;
  }

  /** Joins each row with each match. Returns complete blocks. */
  blocks(rows: readonly Row[], matches: readonly Terms[]): Iterable<Row[]> {
    if (rows.length * matches.length > blockLength) return this.manyBlocks(rows, matches);
    for (const terms of matches) for (const row of rows) this.put(row, terms);
    return this.rows.length < blockLength ? noBlocks : [this.take()];
  }

  private *manyBlocks(rows: readonly Row[], matches: readonly Terms[]): Generator<Row[]> {
    for (const terms of matches)
      for (const row of rows) {
        this.put(row, terms);
        if (this.rows.length >= blockLength) yield this.take();
      }
  }

  /** Adds the row extended by the match, unless a variable would get two different terms. */
  private put(row: Row, terms: Terms): void {
    const { wanted } = this.pattern;
    const merged = row.slice();
    for (let i = 0; i < wanted.length; i++) {
      const token = terms[wanted[i]!] as TermKey;
      const slot = this.slots[i]!;
      const own = merged[slot];
      if (own === undefined) merged[slot] = token;
      else if (own !== token) return;
    }
    this.rows.push(merged);
  }
}
