/**
 * Orders the parts of a join by the estimated count of rows read and produced. Estimates are based on the matches of a pattern
 * per term of each variable, and are corrected by actual rows. Wrong estimates cost time but never change the result.
 */

import type { Expression, Pattern, Plan, Row, Slot, TripleTerm } from '../plan/plan.js';
import { type Execution, recallStatistics } from './execution.js';
import { boundBy, estimateOf, fanOutOf, selectivityOf, usualFanOut } from './pattern-access.js';
import { addDerived, scannedTriples, triplesOf } from './triple-terms.js';

type Item = Pattern | Plan;

/** State before the first part is joined. */
export interface Before {
  /** Slots that are bound in the input rows. */
  readonly bound: ReadonlySet<Slot>;
  /** Count of input rows, or the minimum count if more may follow. */
  readonly rows: number;
  /** Filters that are not yet evaluated (default: none). */
  readonly filters?: readonly Expression[];
  /** Triple terms of the parts (default: none). */
  readonly triples?: readonly TripleTerm[];
}

interface Candidate {
  readonly item: Item;
  /** Approximate count of rows of the part alone. */
  readonly rows: number;
  readonly slots: ReadonlySet<Slot>;
  /** Approximate count of rows per term of a slot. */
  readonly fanOut: ReadonlyMap<Slot, number>;
  /** Ratio of actual to estimated rows, from a sample. 1 without a sample. */
  readonly factor: number;
  /** Share of the part's rows that pass the filters on its variables. */
  readonly selectivity: number;
  /** Triple terms of the part. Bound variables within triple terms reduce the rows, but allow no lookup. */
  readonly triples: readonly TripleTerm[];
}

/** Maximum count of parts for which all orders are compared. Above it, the cheapest next part is chosen each time. */
const maxWhole = 10;
/** Maximum count of cached orders of a join. */
const maxOrders = 64;
/** Minimum estimated cost for which data are sampled, as a count of keys read. */
const worthSampling = 2000;
/** Ratio of actual to estimated rows above which the order is computed again. */
const tolerance = 4;
/** Count of rows in a block that are sampled to correct estimates. */
const maxLookedAt = 4;
/** Factor for the cost of a cross product, because no join condition removes rows from it. */
const productFactor = 16;

/** Remaining parts of a join, in the chosen order. */
export class JoinOrder {
  private constructor(
    private readonly execution: Execution,
    private left: Candidate[],
    private readonly before: Before,
  ) {}

  static async of(execution: Execution, items: readonly Item[], before: Before): Promise<JoinOrder> {
    const orders = recallStatistics(execution, { part: items[0]!, as: 'order' }, newOrders);
    // For an EXISTS, the order is cached without the count of rows, because an EXISTS runs separately for each row.
    const name = [...before.bound, execution.outer ? '' : `*${before.rows}`].join();
    const known = orders.get(name);
    // The items are compared, because an explanation may order only some items of a join.
    if (known?.length === items.length && known.every(({ item }) => items.includes(item)))
      return new JoinOrder(execution, [...known], before);
    const usual = await Promise.all(items.map((item) => candidateOf(execution, item, before.triples ?? [])));
    const [left, cost] = ordered(usual, before);
    const isWorthIt = items.length + before.bound.size >= 3 || before.filters?.length;
    const best = isWorthIt && cost >= worthSampling ? await sampledOrder(execution, left, before) : left;
    if (orders.size < maxOrders) orders.set(name, [...best]);
    return new JoinOrder(execution, best, before);
  }

  get isOver(): boolean {
    return this.left.length === 0;
  }

  /** True if actual rows may change the order of the remaining parts. */
  get isOpen(): boolean {
    return this.left.length > 1 && !this.execution.isHasty;
  }

  /** Removes and returns the next part. @param rows actual rows, which correct the order of the remaining parts */
  async next(known: ReadonlySet<Slot>, rows: readonly Row[] = []): Promise<Item> {
    if (rows.length > 0 && this.isOpen) await this.correct(known, rows);
    return this.left.shift()!.item;
  }

  /** Computes the order again if a sample of rows shows that the next part produces far more rows than estimated. */
  private async correct(known: ReadonlySet<Slot>, rows: readonly Row[]): Promise<void> {
    const step = Math.ceil(rows.length / maxLookedAt);
    const some = rows.filter((_row, at) => at % step === 0);
    const first = await this.factorOf(this.left[0]!, known, some);
    if (first <= tolerance) return;
    const others = await Promise.all(this.left.slice(1).map((candidate) => this.factorOf(candidate, known, some)));
    const factors = [first, ...others];
    const corrected = this.left.map((candidate, at) => ({ ...candidate, factor: candidate.factor * factors[at]! }));
    [this.left] = ordered(corrected, { ...this.before, bound: known, rows: rows.length });
  }

  private async factorOf(candidate: Candidate, known: ReadonlySet<Slot>, rows: readonly Row[]): Promise<number> {
    const { item, slots, triples } = candidate;
    if (!('places' in item) || triples.length > 0 || ![...slots].some((slot) => known.has(slot))) return 1;
    const { matches } = this.execution;
    const counts = await Promise.all(rows.map((row) => matches.estimate(boundBy(item, row), item.part)));
    const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
    const expected = rowsFor(candidate, (slot) => known.has(slot));
    // If a sample has no matches, it gives only an upper bound.
    const least = 1 / (2 * rows.length);
    return Math.max(mean, least) / Math.max(expected, least);
  }
}

const newOrders = (): Map<string, readonly Candidate[]> => new Map();

async function candidateOf(execution: Execution, item: Item, all: readonly TripleTerm[]): Promise<Candidate> {
  const triples = triplesOf(item, all);
  if ('places' in item) {
    const rows = await estimateOf(execution, item);
    const fanOut = new Map(usualFanOut(item, rows));
    for (const { slot } of triples) if (fanOut.has(slot)) fanOut.set(slot, Math.min(rows, usualOfTriple));
    return { item, rows, slots: item.slots, fanOut, factor: 1, selectivity: 1, triples };
  }
  const rows = await rowsOf(execution, item);
  const fanOut = new Map([...item.possible].map((slot) => [slot, Math.min(rows, usualReached)] as const));
  return { item, rows, slots: item.possible, fanOut, factor: 1, selectivity: 1, triples };
}

/** Returns the cheapest order according to samples of the data. */
async function sampledOrder(
  execution: Execution,
  candidates: readonly Candidate[],
  before: Before,
): Promise<Candidate[]> {
  const sampled = candidates.map(async (candidate) => {
    const { item } = candidate;
    if (!('places' in item)) return candidate;
    const fanOut = candidates.length + before.bound.size < 3 ? candidate.fanOut : await fanOutOf(execution, item);
    return { ...candidate, fanOut, selectivity: await selectivityOf(execution, item, before.filters ?? []) };
  });
  return ordered(await Promise.all(sampled), before)[0];
}

/** Returns the estimated count of rows of a plan without input rows. */
async function rowsOf(execution: Execution, plan: Plan): Promise<number> {
  const least = async (plans: readonly Item[]): Promise<number> =>
    Math.min(
      ...(await Promise.all(
        plans.map((each) => ('places' in each ? estimateOf(execution, each) : rowsOf(execution, each))),
      )),
    );
  switch (plan.kind) {
    case 'join':
      return plan.patterns.length + plan.parts.length === 0 ? 1 : least([...plan.patterns, ...plan.parts]);
    case 'values':
      return plan.rows.length;
    case 'union': {
      const counts = await Promise.all(plan.inputs.map((input) => rowsOf(execution, input)));
      return counts.reduce((sum, count) => sum + count, 0);
    }
    case 'closure': {
      const isAnchored = [plan.from, plan.to].some((place) => place && 'token' in place);
      // A property path with two unbound ends is the most expensive part and is joined last.
      return isAnchored ? usualReached : 1e6 + usualReached * (await rowsOf(execution, plan.step));
    }
    case 'filter':
      return rowsOf(execution, plan.input);
    default:
      return 1000;
  }
}

/** Assumed count of nodes that a path reaches. */
const usualReached = 100;

type IsKnown = (slot: Slot) => boolean;

/** Estimates the rows of a part per input row if some slots are bound. Assumes that the terms of slots are independent. */
function rowsFor({ rows, slots, fanOut, factor, triples }: Candidate, isKnown: IsKnown): number {
  let expected = rows;
  for (const slot of slots) if (isKnown(slot)) expected *= rows === 0 ? 0 : Math.min(1, fanOut.get(slot)! / rows);
  for (const { slot, slots: inner } of triples)
    for (const each of inner)
      if (isKnown(each) && !isKnown(slot)) expected *= rows === 0 ? 0 : Math.min(1, usualWithin / rows);
  return expected * factor;
}

/** Assumed count of pattern rows per triple term: most triple terms have one reifier. */
const usualOfTriple = 2;

/** Assumed count of a pattern's triple terms per term of a variable within them. */
const usualWithin = 100;

function isConnected({ slots }: Candidate, isKnown: IsKnown): boolean {
  if (slots.size === 0) return true;
  for (const slot of slots) if (isKnown(slot)) return true;
  return false;
}

/** Cost of a lookup, as a count of keys read. */
const lookUpCost = 4;

interface Way {
  readonly rows: number;
  readonly cost: number;
}

/** Estimates rows and cost after joining one more part, by lookups or by a scan. @param isFirst true without input rows */
function wayWith({ rows, cost }: Way, candidate: Candidate, isKnown: IsKnown, isFirst: boolean): Way {
  const read = rows * rowsFor(candidate, isKnown);
  const own = read * candidate.selectivity;
  if (!isFirst && scannedTriples(candidate.item, candidate.triples, isKnown).length > 0)
    return { rows: own, cost: cost + candidate.rows + read };
  if (isFirst || isConnected(candidate, isKnown))
    return { rows: own, cost: cost + Math.min(rows * lookUpCost, candidate.rows) + read };
  return { rows: own, cost: cost + candidate.rows + productFactor * read };
}

/** Returns the cheapest order and its cost. The order in the query text only matters if costs are equal. */
const ordered = (items: readonly Candidate[], before: Before): [Candidate[], number] =>
  items.length > maxWhole ? oneByOne(items, before) : ofAll(items, before);

/** Assumed share of rows that pass a filter on variables of several parts. */
const usualShare = 0.5;

/** Returns the cheapest order of all, by dynamic programming: the cheapest order of a smaller set plus one part. */
function ofAll(
  items: readonly Candidate[],
  { bound, rows, filters = [], triples = [] }: Before,
): [Candidate[], number] {
  const owners = new Map<Slot, number>();
  for (const [at, { slots }] of items.entries())
    for (const slot of slots) owners.set(slot, (owners.get(slot) ?? 0) | (1 << at));
  const best: (Way | undefined)[] = [{ rows, cost: 0 }];
  const last: number[] = [];
  const whole = (1 << items.length) - 1;
  // Filters on variables of several parts. Those of one part are included in its selectivity.
  const shared = filters
    .map(({ slots }) => [...slots].filter((slot) => !bound.has(slot)))
    .filter((slots) => !items.some((item) => slots.every((slot) => item.slots.has(slot))))
    .map((slots) => slots.map((slot) => owners.get(slot) ?? 0));
  const evaluated = (set: number): number => shared.filter((masks) => masks.every((mask) => mask & set)).length;
  for (let set = 0; set < whole; set++) {
    const direct = (slot: Slot): boolean => bound.has(slot) || ((owners.get(slot) ?? 0) & set) !== 0;
    const isKnown = triples.length === 0 ? direct : derived(direct, [...owners.keys()], triples);
    for (let at = 0; at < items.length; at++) {
      const more = set | (1 << at);
      if (more === set) continue;
      const way = wayWith(best[set]!, items[at]!, isKnown, set === 0 && bound.size === 0);
      if (best[more] && best[more].cost <= way.cost) continue;
      const passing = shared.length > 0 ? usualShare ** (evaluated(more) - evaluated(set)) : 1;
      best[more] = { rows: way.rows * passing, cost: way.cost };
      last[more] = at;
    }
  }
  const order: Candidate[] = [];
  for (let set = whole; set !== 0; set &= ~(1 << last[set]!)) order.unshift(items[last[set]!]!);
  return [order, best[whole]!.cost];
}

/** Returns a test for known slots. It includes slots that triple terms derive from known slots. */
function derived(isKnown: IsKnown, slots: readonly Slot[], triples: readonly TripleTerm[]): IsKnown {
  const known = new Set([...slots, ...triples.flatMap((triple) => [...triple.slots])].filter(isKnown));
  addDerived(known, triples);
  return (slot) => known.has(slot);
}

function oneByOne(items: readonly Candidate[], { bound, rows, triples = [] }: Before): [Candidate[], number] {
  const [left, order] = [[...items], [] as Candidate[]];
  const known = new Set(bound);
  let way: Way = { rows, cost: 0 };
  while (left.length > 0) {
    const ways = left.map((each) => wayWith(way, each, (slot) => known.has(slot), known.size === 0));
    const at = ways.reduce((least, { cost }, index) => (cost < ways[least]!.cost ? index : least), 0);
    way = ways[at]!;
    const [next] = left.splice(at, 1);
    order.push(next!);
    for (const slot of next!.slots) known.add(slot);
    addDerived(known, triples);
  }
  return [order, way.cost];
}
