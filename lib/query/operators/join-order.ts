/**
 * The order in which the parts of a join are taken: the one that is expected to read and to make the fewest rows, by how many matches a pattern has
 * for a term of each of its variables. The rows that come correct what was expected. A wrong guess costs time, never rows.
 */

import { type Pattern, type Plan, type Row, type Slot, slotsOf } from '../plan/plan.js';
import { type Execution, recallLasting } from './execution.js';
import { boundBy, estimateOf, fanOutOf, usualFanOut } from './pattern-access.js';

type Item = Pattern | Plan;

/** What there is before the parts of a join are taken. */
export interface Before {
  /** Slots that rows have. */
  readonly bound: ReadonlySet<Slot>;
  /** How many rows there are, at least. */
  readonly rows: number;
}

interface Candidate {
  readonly item: Item;
  /** Rows that it gives alone, about. */
  readonly rows: number;
  readonly slots: ReadonlySet<Slot>;
  /** Rows for a term of a slot, about. */
  readonly fanOut: ReadonlyMap<Slot, number>;
  /** How many times more rows come than was expected. */
  readonly factor: number;
}

/** Parts that are ordered as a whole. Of more, each next one is the cheapest. */
const maxWhole = 10;
/** What is expected to cost less, in keys, is not worth a look at the data. */
const worthSampling = 2000;
/** How many times as many rows as expected make another order. */
const tolerance = 4;
/** Rows of a block that are looked at. */
const maxLookedAt = 4;
/** A product of rows that share nothing is more than it seems, since nothing leaves any of them out. */
const productFactor = 16;

/** What is left of a join, in order. */
export class JoinOrder {
  private constructor(
    private readonly execution: Execution,
    private left: Candidate[],
  ) {}

  static async of(execution: Execution, items: readonly Item[], before: Before): Promise<JoinOrder> {
    // An EXISTS that is run for each row is ordered once.
    const orders = execution.outer && recallLasting(execution, { part: items[0]!, as: 'order' }, newOrders);
    const name = [...before.bound].join();
    const known = orders?.get(name);
    if (known) return new JoinOrder(execution, [...known]);
    const usual = await Promise.all(items.map((item) => candidateOf(execution, item)));
    const [left, cost] = ordered(usual, before);
    const isWorthIt = cost >= worthSampling && items.length + before.bound.size >= 3;
    const best = isWorthIt ? await sampledOrder(execution, left, before) : left;
    orders?.set(name, [...best]);
    return new JoinOrder(execution, best);
  }

  get isOver(): boolean {
    return this.left.length === 0;
  }

  /** Whether the next one depends on rows. */
  get isOpen(): boolean {
    return this.left.length > 1 && !this.execution.isHasty;
  }

  /** @param rows some that have come, for the others to be looked at again */
  async next(known: ReadonlySet<Slot>, rows: readonly Row[] = []): Promise<Item> {
    if (rows.length > 0 && this.isOpen) await this.correct(known, rows);
    return this.left.shift()!.item;
  }

  /** Looks at the others only where the next one makes far more rows than was expected. */
  private async correct(known: ReadonlySet<Slot>, rows: readonly Row[]): Promise<void> {
    const step = Math.ceil(rows.length / maxLookedAt);
    const some = rows.filter((_row, at) => at % step === 0);
    const first = await this.factorOf(this.left[0]!, known, some);
    if (first <= tolerance) return;
    const others = await Promise.all(this.left.slice(1).map((candidate) => this.factorOf(candidate, known, some)));
    const factors = [first, ...others];
    const corrected = this.left.map((candidate, at) => ({ ...candidate, factor: candidate.factor * factors[at]! }));
    [this.left] = ordered(corrected, { bound: known, rows: rows.length });
  }

  private async factorOf(candidate: Candidate, known: ReadonlySet<Slot>, rows: readonly Row[]): Promise<number> {
    const { item, slots } = candidate;
    if (!('places' in item) || ![...slots].some((slot) => known.has(slot))) return 1;
    const { matches } = this.execution;
    const counts = await Promise.all(rows.map((row) => matches.estimate(boundBy(item, row), item.part)));
    const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
    const expected = rowsFor(candidate, (slot) => known.has(slot));
    // No match in so few rows says no more than that.
    const least = 1 / (2 * rows.length);
    return Math.max(mean, least) / Math.max(expected, least);
  }
}

const newOrders = (): Map<string, readonly Candidate[]> => new Map();

async function candidateOf(execution: Execution, item: Item): Promise<Candidate> {
  if ('places' in item) {
    const rows = await estimateOf(execution, item);
    return { item, rows, slots: slotsOf(item), fanOut: usualFanOut(item, rows), factor: 1 };
  }
  const rows = await rowsOf(execution, item);
  const fanOut = new Map([...item.possible].map((slot) => [slot, Math.min(rows, usualReached)] as const));
  return { item, rows, slots: item.possible, fanOut, factor: 1 };
}

/** The order by a look at the data. */
async function sampledOrder(
  execution: Execution,
  candidates: readonly Candidate[],
  before: Before,
): Promise<Candidate[]> {
  const sampled = candidates.map(async (candidate) => {
    const { item } = candidate;
    return 'places' in item ? { ...candidate, fanOut: await fanOutOf(execution, item) } : candidate;
  });
  return ordered(await Promise.all(sampled), before)[0];
}

/** About how many rows a plan gives alone. */
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
      // From everywhere to everywhere is more than anything else.
      return isAnchored ? usualReached : 1e6 + usualReached * (await rowsOf(execution, plan.step));
    }
    case 'filter':
      return rowsOf(execution, plan.input);
    default:
      return 1000;
  }
}

/** Nodes that a path is expected to come to. */
const usualReached = 100;

type IsKnown = (slot: Slot) => boolean;

/** Rows for each that is there, where some slots are known; as if the terms of slots did not depend on each other. */
function rowsFor({ rows, slots, fanOut, factor }: Candidate, isKnown: IsKnown): number {
  let expected = rows;
  for (const slot of slots) if (isKnown(slot)) expected *= rows === 0 ? 0 : Math.min(1, fanOut.get(slot)! / rows);
  return expected * factor;
}

function isConnected({ slots }: Candidate, isKnown: IsKnown): boolean {
  if (slots.size === 0) return true;
  for (const slot of slots) if (isKnown(slot)) return true;
  return false;
}

/** What a lookup costs, in keys that are read. */
const lookUpCost = 4;

interface Way {
  readonly rows: number;
  readonly cost: number;
}

/** What comes of one more. Its rows are looked up one by one, or all are read. */
function wayWith({ rows, cost }: Way, candidate: Candidate, { isKnown, isFirst }: Known): Way {
  const own = rows * rowsFor(candidate, isKnown);
  if (isFirst || isConnected(candidate, isKnown))
    return { rows: own, cost: cost + Math.min(rows * lookUpCost, candidate.rows) + own };
  return { rows: own, cost: cost + candidate.rows + productFactor * own };
}

interface Known {
  readonly isKnown: IsKnown;
  /** Nothing is known yet. */
  readonly isFirst: boolean;
}

/** The cheapest order, and what it costs. It does not depend on the order of the text, but for parts that are alike. */
const ordered = (items: readonly Candidate[], before: Before): [Candidate[], number] =>
  items.length > maxWhole ? oneByOne(items, before) : ofAll(items, before);

/** The cheapest way to each set of parts is the cheapest way to a smaller set, and one part more. */
function ofAll(items: readonly Candidate[], { bound, rows }: Before): [Candidate[], number] {
  const owners = new Map<Slot, number>();
  for (const [at, { slots }] of items.entries())
    for (const slot of slots) owners.set(slot, (owners.get(slot) ?? 0) | (1 << at));
  const best: (Way | undefined)[] = [{ rows, cost: 0 }];
  const last: number[] = [];
  const whole = (1 << items.length) - 1;
  for (let set = 0; set < whole; set++) {
    const isKnown = (slot: Slot): boolean => bound.has(slot) || (owners.get(slot)! & set) !== 0;
    for (let at = 0; at < items.length; at++) {
      const more = set | (1 << at);
      if (more === set) continue;
      const way = wayWith(best[set]!, items[at]!, { isKnown, isFirst: set === 0 && bound.size === 0 });
      if (best[more] && best[more].cost <= way.cost) continue;
      best[more] = way;
      last[more] = at;
    }
  }
  const order: Candidate[] = [];
  for (let set = whole; set !== 0; set &= ~(1 << last[set]!)) order.unshift(items[last[set]!]!);
  return [order, best[whole]!.cost];
}

function oneByOne(items: readonly Candidate[], { bound, rows }: Before): [Candidate[], number] {
  const [left, order] = [[...items], [] as Candidate[]];
  const known = new Set(bound);
  let way: Way = { rows, cost: 0 };
  while (left.length > 0) {
    const ways = left.map((each) =>
      wayWith(way, each, { isKnown: (slot) => known.has(slot), isFirst: known.size === 0 }),
    );
    const at = ways.reduce((least, { cost }, index) => (cost < ways[least]!.cost ? index : least), 0);
    way = ways[at]!;
    const [next] = left.splice(at, 1);
    order.push(next!);
    for (const slot of next!.slots) known.add(slot);
  }
  return [order, way.cost];
}
