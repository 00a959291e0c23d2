/** What a query is compiled to. Variables are slots of a row. It holds types and what follows from them alone. */

import type { TermKey } from '../access/terms.js';
import type { Evaluate, Row, Slot } from '../expressions/evaluate.js';
import type { ServiceClause } from '../parse/service-clauses.js';

export type { Evaluate, Row, Slot };
export type Blocks = AsyncIterable<Row[]>;

/** What stands in a place of a pattern: a term, a variable, or something that nobody asks for. */
export type Place = { readonly token: TermKey } | { readonly slot: Slot } | undefined;

export interface Pattern {
  /** Subject, predicate, object, graph. */
  readonly places: readonly Place[];
  readonly part: 'union' | 'named';
  /** The places with variables. */
  readonly wanted: readonly number[];
}

export interface Expression {
  readonly evaluate: Evaluate;
  readonly slots: ReadonlySet<Slot>;
  /** It depends on its slots alone, and may be asked of them before the whole row is there: that takes less than to join the row. */
  readonly isCheap?: boolean;
}

export interface Aggregate {
  readonly slot: Slot;
  readonly name: 'count' | 'sum' | 'min' | 'max' | 'avg' | 'sample' | 'group_concat';
  /** Absent: COUNT(*). */
  readonly expression: Expression | undefined;
  readonly isDistinct: boolean;
  /** The variables of a solution, for COUNT(DISTINCT *). */
  readonly solution: readonly Slot[];
  /** What stands between the texts of GROUP_CONCAT. */
  readonly separator: string;
}

export interface SortKey {
  readonly evaluate: Evaluate;
  readonly isDescending: boolean;
}

interface Scope {
  /** Slots that every row has. */
  readonly certain: ReadonlySet<Slot>;
  /** Slots that a row may have. */
  readonly possible: ReadonlySet<Slot>;
  /** Whether rows of another part may be handed through it, instead of joining with what it gives alone. */
  readonly isJoinable: boolean;
}

export interface JoinPlan extends Scope {
  readonly kind: 'join';
  readonly patterns: readonly Pattern[];
  readonly parts: readonly Plan[];
  readonly filters: readonly Expression[];
}
export interface ValuesPlan extends Scope {
  readonly kind: 'values';
  readonly rows: readonly (readonly (readonly [Slot, TermKey])[])[];
}
export interface UnionPlan extends Scope {
  readonly kind: 'union';
  readonly inputs: readonly Plan[];
}
export interface LeftJoinPlan extends Scope {
  readonly kind: 'leftJoin';
  readonly left: Plan;
  readonly right: Plan;
  readonly condition: Expression | undefined;
  /** What the condition asks of the joined rows. */
  readonly marks: readonly Mark[];
  /** Where rows carry their number through the right side. */
  readonly counter: Slot;
}
/** What is asked of each row: whether there is a partner for it. */
export interface Existence {
  readonly right: Plan;
  /** What a row and its partner have to hold together: filters of an EXISTS that look at the row. */
  readonly conditions: readonly Expression[];
  /** The right side with them. */
  readonly whole: Plan;
  /**
   * `through`: rows are handed through the right side. `alone`: the right side is found by itself, and rows are compared with it.
   * `each`: it is run for each row.
   */
  readonly way: 'through' | 'alone' | 'each';
  /** Of MINUS, of which only partners count that share a bound variable: whether rows and partners always do. */
  readonly minus?: 'always' | 'perhaps';
  /** Of MINUS within GRAPH: the name of the graph, which both sides have and which is none of the variables that they share. */
  readonly scope?: Slot | undefined;
  /** The slots of a row that the answer depends on. */
  readonly shared: readonly Slot[];
  /** The slots that it is written with: the answer depends on no other term of the rows further out. */
  readonly mentioned: readonly Slot[];
  /** Where rows carry their number through the right side. */
  readonly counter: Slot;
}
/** Rows of the left side with (EXISTS) or without (NOT EXISTS, MINUS) a partner on the right. */
export interface SemiJoinPlan extends Scope {
  readonly kind: 'semiJoin';
  readonly left: Plan;
  readonly existence: Existence;
  readonly isKept: boolean;
}
/** What stands in the slot of a row that has a partner. */
export const markOfPartner = 'true';
/** An EXISTS within an expression, whose truth is put into a slot of each row. */
export interface Mark {
  readonly existence: Existence;
  readonly slot: Slot;
}
export interface MarkPlan extends Scope {
  readonly kind: 'mark';
  readonly input: Plan;
  readonly marks: readonly Mark[];
}
export interface FilterPlan extends Scope {
  readonly kind: 'filter';
  readonly input: Plan;
  readonly condition: Expression;
}
export interface ExtendPlan extends Scope {
  readonly kind: 'extend';
  readonly input: Plan;
  readonly slot: Slot;
  readonly expression: Expression;
}
export interface GroupPlan extends Scope {
  readonly kind: 'group';
  readonly input: Plan;
  readonly slots: readonly Slot[];
  readonly aggregates: readonly Aggregate[];
  /** The only slot, if each named graph has a group, also without rows. */
  readonly everyGraph: Slot | undefined;
}
export interface OrderPlan extends Scope {
  readonly kind: 'order';
  readonly input: Plan;
  readonly keys: readonly SortKey[];
  /** Rows that are wanted of the order's beginning. */
  readonly most: number;
}
export interface DistinctPlan extends Scope {
  readonly kind: 'distinct';
  readonly input: Plan;
  readonly slots: readonly Slot[];
}
export interface SlicePlan extends Scope {
  readonly kind: 'slice';
  readonly input: Plan;
  readonly start: number;
  readonly length: number;
  /** Start and length count for each term of this slot. */
  readonly perGraph: Slot | undefined;
}

/** A path of any length. */
export interface ClosurePlan extends Scope {
  readonly kind: 'closure';
  readonly from: Place;
  readonly to: Place;
  readonly graph: Place;
  readonly part: Pattern['part'];
  /** One step, between two slots of its own. */
  readonly step: Plan;
  readonly start: Slot;
  readonly end: Slot;
  /** Steps. */
  readonly least: 0 | 1;
  readonly most: number;
  /** Where rows carry their number through a step. */
  readonly counter: Slot;
  /** Whether it may come to an end without a triple. */
  readonly isNullable: boolean;
  /** Whether it may do so between two variables: then it begins at nodes of the graph alone (SPARQL 1.1 18.4). */
  readonly needsNodes: boolean;
  /** Slots whose terms stand for their variables from the beginning, so that they need be no nodes. */
  readonly terms: ReadonlySet<Slot>;
}

/** The named graphs of the dataset, whatever they hold. */
export interface GraphsPlan extends Scope {
  readonly kind: 'graphs';
  readonly graph: Place;
}

/** What another endpoint gives, joined with what is had here. */
export interface ServicePlan extends Scope {
  readonly kind: 'service';
  readonly clause: ServiceClause;
  /** The variables that the endpoint may bind. */
  readonly columns: readonly (readonly [name: string, slot: Slot])[];
  /** Absent: it stands alone. */
  readonly left: Plan | undefined;
}

export type Plan =
  | (JoinPlan | ValuesPlan | UnionPlan | ClosurePlan | LeftJoinPlan | SemiJoinPlan | MarkPlan | FilterPlan)
  | (ExtendPlan | GroupPlan | OrderPlan | DistinctPlan | SlicePlan | ServicePlan | GraphsPlan);

/** A blank node of a template is another one for each row. */
export type TemplatePlace = Exclude<Place, undefined> | { readonly label: string };
/** Subject, predicate and object of each triple. */
export type Template = readonly (readonly [subject: TemplatePlace, predicate: TemplatePlace, object: TemplatePlace])[];

/** What CONSTRUCT and DESCRIBE make of rows. */
export type GraphForm =
  | { readonly kind: 'construct'; readonly template: Template }
  | { readonly kind: 'describe'; readonly slots: readonly Slot[]; readonly tokens: readonly TermKey[] };

export const isSubset = (inner: ReadonlySet<Slot>, outer: ReadonlySet<Slot>): boolean =>
  [...inner].every((slot) => outer.has(slot));
export const areDisjoint = (a: ReadonlySet<Slot>, b: ReadonlySet<Slot>): boolean =>
  [...a].every((slot) => !b.has(slot));
export const unite = (sets: readonly ReadonlySet<Slot>[]): Set<Slot> => new Set(sets.flatMap((set) => [...set]));

/** The one pattern that a plan is. */
export const onlyPattern = (plan: Plan): Pattern | undefined =>
  plan.kind === 'join' && plan.patterns.length === 1 && plan.parts.length === 0 && plan.filters.length === 0
    ? plan.patterns[0]
    : undefined;

/** What stands in a place for a row. */
export const termAt = (place: Place, row: Row): TermKey | undefined =>
  !place ? undefined : 'token' in place ? place.token : row[place.slot];

const slotsOfPatterns = new WeakMap<Pattern, ReadonlySet<Slot>>();

/** The slots of a pattern. */
export function slotsOf(pattern: Pattern): ReadonlySet<Slot> {
  let slots = slotsOfPatterns.get(pattern);
  if (!slots) {
    slots = new Set(pattern.places.flatMap((place) => (place && 'slot' in place ? [place.slot] : [])));
    slotsOfPatterns.set(pattern, slots);
  }
  return slots;
}

/** The plans and patterns that a plan is made of, itself among them. */
export function* partsOf(plan: Plan): Generator<Plan> {
  yield plan;
  const { input, left, right, step, inputs, parts, existence, marks } = plan as Partial<
    Record<'input' | 'left' | 'right' | 'step', Plan>
  > &
    Partial<Record<'inputs' | 'parts', readonly Plan[]>> & { existence?: Existence; marks?: readonly Mark[] };
  const asked = [existence, ...(marks ?? []).map((mark) => mark.existence)].map((each) => each?.right);
  for (const part of [input, left, right, step, ...asked, ...(inputs ?? []), ...(parts ?? [])])
    if (part) yield* partsOf(part);
}

/** Variables that are the subject of several patterns, so that a subject is worth being read whole. */
export function starsOf(plan: Plan): Set<Slot> {
  const subjects = new Map<Slot, number>();
  const others = new Set<Slot>();
  for (const part of partsOf(plan))
    for (const { places } of part.kind === 'join' ? part.patterns : [])
      places.forEach((place, at) => {
        if (!place || !('slot' in place)) return;
        if (at === 0) subjects.set(place.slot, (subjects.get(place.slot) ?? 0) + 1);
        else others.add(place.slot);
      });
  // One of them is where the subjects come from, unless they are the objects of another.
  return new Set([...subjects].flatMap(([slot, count]) => (count > (others.has(slot) ? 1 : 2) ? [slot] : [])));
}
