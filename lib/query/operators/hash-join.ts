/** Joins rows with the result of a plan by a hash table. The plan is executed once, without input rows. */
import { joinTokens } from '../access/terms.js';
import type { Blocks, Expression, Plan, Row, Slot } from '../plan/plan.js';
import { blockLength, type Execution, holdsFor, recall } from './execution.js';
import { KeyedLists } from './keyed-lists.js';

interface Tables {
  rows: Row[] | undefined;
  /** True if the plan returns more rows than the limit. */
  isTooMuch: boolean;
  /** Hash tables, by the slots of their key. */
  readonly bySlots: Map<string, KeyedLists<Row>>;
}

export async function* hashJoin(
  execution: Execution,
  input: Blocks,
  plan: Plan,
  run: () => Blocks,
): AsyncGenerator<Row[]> {
  const { load, candidates } = partners(execution, plan, run);
  const possible = [...plan.possible];
  let out: Row[] = [];
  for await (const rows of input) {
    await load();
    for (const row of rows) {
      for (const partner of candidates(row)) {
        const merged = merge(row, partner, possible);
        if (merged) out.push(merged);
        if (out.length < blockLength) continue;
        execution.assertTime(out.length);
        yield out;
        out = [];
      }
    }
  }
  execution.assertTime(out.length);
  if (out.length > 0) yield out;
}

export interface Partners {
  readonly right: Plan;
  /** Executes the right plan. */
  readonly run: () => Blocks;
  /** For MINUS: slots of which at least one must be bound in both rows. `undefined`: no restriction. */
  readonly counts: readonly Slot[] | undefined;
  /** Slots that determine the result for a row. */
  readonly shared: readonly Slot[];
  /** Conditions on a left row and its match. */
  readonly conditions: readonly Expression[];
}

/** Count of row comparisons between two checks of the time limit. */
const maxCompared = 4096;
/** Maximum count of right rows on which conditions are tested. Above it, running the plan for each row finds a match sooner. */
const maxHeld = 1 << 16;

/** Returns for each row whether it has a match, or `undefined` if the plan has too many rows to test conditions. */
export async function havePartners(
  execution: Execution,
  rows: readonly Row[],
  { right, run, counts, shared, conditions }: Partners,
): Promise<boolean[] | undefined> {
  const { load, candidates } = partners(execution, right, run);
  const possible = [...right.possible];
  const isLimited = conditions.length > 0;
  if (!(await load(isLimited ? maxHeld : undefined))) return undefined;
  let compared = 0;
  const isPair = (row: Row, partner: Row): boolean => {
    if (++compared % maxCompared === 0) execution.assertTime(maxCompared);
    if (counts && !counts.some((slot) => row[slot] !== undefined && partner[slot] !== undefined)) return false;
    const merged = merge(row, partner, possible);
    return merged !== undefined && conditions.every((condition) => holdsFor(condition, merged));
  };
  const hasPartner = (row: Row): boolean => candidates(row).some((partner) => isPair(row, partner));
  if (!isLimited) return rows.map(hasPartner);
  // Results are cached by the slots that determine them, because conditions may be evaluated for many pairs of rows.
  const answers = new Map<string, boolean>();
  return rows.map((row) => {
    const key = joinTokens(row, shared);
    const answer = answers.get(key) ?? hasPartner(row);
    answers.set(key, answer);
    return answer;
  });
}

/** Returns functions that load the result of a plan once, and find the result rows that may be compatible with a row. */
function partners(execution: Execution, plan: Plan, run: () => Blocks) {
  const tables = recall<Tables>(execution, { part: plan, as: 'rows' }, () => ({
    rows: undefined,
    isTooMuch: false,
    bySlots: new Map(),
  }));
  const certain = [...plan.certain];
  return {
    /** Executes the plan at the first call. Returns false if the plan returns more than `most` rows. */
    async load(most = Number.POSITIVE_INFINITY): Promise<boolean> {
      if (tables.rows || tables.isTooMuch) return !tables.isTooMuch;
      const rows: Row[] = [];
      for await (const block of run()) {
        for (const row of block) rows.push(row);
        tables.isTooMuch = rows.length > most;
        if (tables.isTooMuch) return false;
      }
      tables.rows = rows;
      return true;
    },
    candidates(row: Row): readonly Row[] {
      const slots = certain.filter((slot) => row[slot] !== undefined);
      return tableBy(tables, slots).get(row, slots) ?? [];
    },
  };
}

function tableBy(tables: Tables, slots: readonly Slot[]): KeyedLists<Row> {
  const name = slots.join();
  let table = tables.bySlots.get(name);
  if (table) return table;
  table = new KeyedLists(slots.length);
  for (const row of tables.rows!) table.add(row, slots, row);
  tables.bySlots.set(name, table);
  return table;
}

function merge(row: Row, partner: Row, slots: readonly Slot[]): Row | undefined {
  const merged = row.slice();
  for (const slot of slots) {
    const token = partner[slot];
    if (token === undefined) continue;
    if (merged[slot] === undefined) merged[slot] = token;
    else if (merged[slot] !== token) return undefined;
  }
  return merged;
}
