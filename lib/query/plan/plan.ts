/** Types of plans, the compiled form of queries, and functions that derive facts from them. Variables are slots of a row. */

import type { TermKey } from '../access/terms.js';
import type { Evaluate, Row, Slot } from '../expressions/evaluate.js';
import type { Constants } from '../parse/query-shape.js';
import type { ServiceClause } from '../parse/service-clauses.js';

export type { Evaluate, Row, Slot };
export type Blocks = AsyncIterable<Row[]>;

/** Position of a pattern: a term, a variable, or undefined if any term matches and is not needed. */
export type Place = { readonly token: TermKey } | { readonly slot: Slot } | undefined;

export interface Pattern {
  /** Subject, predicate, object, graph. */
  readonly places: readonly Place[];
  readonly part: 'union' | 'named';
  /** Indexes of the positions with variables. */
  readonly wanted: readonly number[];
  /** Slots of the variables at the `wanted` positions. */
  readonly slots: ReadonlySet<Slot>;
}

/** Triple term with variables. Its slot is also the object of a pattern, an end of a path, or part of another triple term. */
export interface TripleTerm {
  readonly slot: Slot;
  /** Subject, predicate, object. */
  readonly places: readonly [Place, Place, Place];
  /** Slots of the variables, and of nested triple terms with variables. */
  readonly slots: ReadonlySet<Slot>;
}

/** Expression compiled to a function of a row. */
interface Evaluated {
  readonly evaluate: Evaluate;
  /** Compiles the expression again, with constants for its placeholders. Absent if there are no placeholders. */
  readonly bind?: ((constants: Constants) => Pick<Expression, 'evaluate' | 'prefix'>) | undefined;
}

/** Test if the text of a variable's term begins with an ASCII prefix. */
export interface PrefixTest {
  readonly slot: Slot;
  readonly text: string;
  /** True to test STR of the term, which IRIs and literals of any type have. Otherwise only strings can match. */
  readonly isStr: boolean;
}

/** Test whose result mostly follows from the kinds of the terms (IRI, blank node, literal) and from their equality. */
export interface KindTest {
  readonly name: '=' | '!=' | 'sameterm' | 'isiri' | 'isuri' | 'isblank' | 'isliteral';
  readonly slots: readonly Slot[];
}

export interface Expression extends Evaluated {
  readonly kinds?: KindTest | undefined;
  readonly prefix?: PrefixTest | undefined;
  readonly slots: ReadonlySet<Slot>;
  /** True if the value depends on the slots only, and evaluating it costs less than joining the row. */
  readonly isCheap?: boolean;
  /** True if the value depends on the slots only. */
  readonly isPure?: boolean;
  /** Slot of the variable, if the expression is only a variable. */
  readonly variable?: Slot | undefined;
}

export interface Aggregate {
  readonly slot: Slot;
  readonly name: 'count' | 'sum' | 'min' | 'max' | 'avg' | 'sample' | 'group_concat';
  /** Argument; undefined for COUNT(*). */
  readonly expression: Expression | undefined;
  readonly isDistinct: boolean;
  /** Variables of a solution, for COUNT(DISTINCT *). */
  readonly solution: readonly Slot[];
  /** Separator of GROUP_CONCAT. */
  readonly separator: string;
}

export interface SortKey extends Evaluated {
  /** Slot of the variable, if the expression is only a variable. */
  readonly variable?: Slot | undefined;
  readonly isDescending: boolean;
}

interface Scope {
  /** Slots that every row binds. */
  readonly certain: ReadonlySet<Slot>;
  /** Slots that a row may bind. */
  readonly possible: ReadonlySet<Slot>;
  /** True if the plan can extend the rows of another part. False if its own result must be joined with these rows. */
  readonly isJoinable: boolean;
}

export interface JoinPlan extends Scope {
  readonly kind: 'join';
  readonly patterns: readonly Pattern[];
  readonly parts: readonly Plan[];
  readonly filters: readonly Expression[];
  /** Triple terms with variables in patterns and parts, inner terms first. */
  readonly triples: readonly TripleTerm[];
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
  /** EXISTS results (marks) that the condition reads from the joined rows. */
  readonly marks: readonly Mark[];
  /** Slot that carries the row number through the right side. */
  readonly counter: Slot;
}
/** Test if a row has a match: EXISTS or MINUS. */
export interface Existence {
  readonly right: Plan;
  /** Filters of an EXISTS that use the row. They are tested on the row and its match. */
  readonly conditions: readonly Expression[];
  /** Right side including `conditions`. */
  readonly whole: Plan;
  /**
   * `through`: the rows are the input of the right side. `alone`: the right side runs once, and rows are compared with its
   * result. `each`: the right side runs for each row.
   */
  readonly way: 'through' | 'alone' | 'each';
  /** For MINUS: a match must share a bound variable with the row. `always` if every match does. */
  readonly minus?: 'always' | 'perhaps';
  /** For MINUS within GRAPH: slot of the graph name, which both sides have and which does not count as a shared variable. */
  readonly scope?: Slot | undefined;
  /** Slots of the row that determine the result. */
  readonly shared: readonly Slot[];
  /** All outer variables that the right side uses. Its result depends on no other outer variable. */
  readonly mentioned: readonly Slot[];
  /** Slot that carries the row number through the right side. */
  readonly counter: Slot;
}
/** Rows of the left side with (EXISTS) or without (NOT EXISTS, MINUS) a match on the right. */
export interface SemiJoinPlan extends Scope {
  readonly kind: 'semiJoin';
  readonly left: Plan;
  readonly existence: Existence;
  readonly isKept: boolean;
}
/** Value of a mark for a row with a match. Without a match the slot is unbound. */
export const markOfPartner = 'true';
/** EXISTS within an expression (mark). Its result is written to a slot of each row. */
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
  /** Slot of the graph name if each named graph is a group, even without rows. No other slot is then grouped. */
  readonly everyGraph: Slot | undefined;
}
export interface OrderPlan extends Scope {
  readonly kind: 'order';
  readonly input: Plan;
  readonly keys: readonly SortKey[];
  /** Count of rows that are needed from the beginning of the order. */
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
  /** Slot whose terms are sliced separately: start and length apply to the rows of each term. */
  readonly perGraph: Slot | undefined;
}

/** Property path of arbitrary length. */
export interface ClosurePlan extends Scope {
  readonly kind: 'closure';
  readonly from: Place;
  readonly to: Place;
  readonly graph: Place;
  readonly part: Pattern['part'];
  /** Plan of one step, from slot `start` to slot `end`. */
  readonly step: Plan;
  readonly start: Slot;
  readonly end: Slot;
  /** Minimum and maximum number of steps. */
  readonly least: 0 | 1;
  readonly most: number;
  /** Slot that carries the row number through a step. */
  readonly counter: Slot;
  /** True if zero steps are allowed. */
  readonly isNullable: boolean;
  /** True if zero steps are allowed between two variables: the path then starts at nodes of the graph (SPARQL 1.1 18.4). */
  readonly needsNodes: boolean;
  /** Slots that count as terms, not as variables, because the outer row always binds them. Such terms need not be nodes. */
  readonly terms: ReadonlySet<Slot>;
}

/** Named graphs of the dataset, including empty ones. */
export interface GraphsPlan extends Scope {
  readonly kind: 'graphs';
  readonly graph: Place;
}

/** Result of another endpoint, joined with local rows. */
export interface ServicePlan extends Scope {
  readonly kind: 'service';
  readonly clause: ServiceClause;
  /** Variables that the endpoint may bind. */
  readonly columns: readonly (readonly [name: string, slot: Slot])[];
  /** Local part of the join; undefined if there is none. */
  readonly left: Plan | undefined;
}

export type Plan =
  | (JoinPlan | ValuesPlan | UnionPlan | ClosurePlan | LeftJoinPlan | SemiJoinPlan | MarkPlan | FilterPlan)
  | (ExtendPlan | GroupPlan | OrderPlan | DistinctPlan | SlicePlan | ServicePlan | GraphsPlan);

/** Position of a template. A blank node, given by its label, is a new node for each row. */
export type TemplatePlace =
  | Exclude<Place, undefined>
  | { readonly label: string }
  | { readonly triple: TemplateTriple };
/** Subject, predicate and object. */
export type TemplateTriple = readonly [subject: TemplatePlace, predicate: TemplatePlace, object: TemplatePlace];
export type Template = readonly TemplateTriple[];

/** Result triples of CONSTRUCT and DESCRIBE. */
export type GraphForm =
  | { readonly kind: 'construct'; readonly template: Template }
  | { readonly kind: 'describe'; readonly slots: readonly Slot[]; readonly tokens: readonly TermKey[] };

export const isSubset = (inner: ReadonlySet<Slot>, outer: ReadonlySet<Slot>): boolean =>
  [...inner].every((slot) => outer.has(slot));
export const areDisjoint = (a: ReadonlySet<Slot>, b: ReadonlySet<Slot>): boolean =>
  [...a].every((slot) => !b.has(slot));
export const unite = (sets: readonly ReadonlySet<Slot>[]): Set<Slot> => new Set(sets.flatMap((set) => [...set]));

/** Returns the pattern of a plan that consists of a single pattern. */
export const onlyPattern = (plan: Plan): Pattern | undefined =>
  plan.kind === 'join' &&
  plan.patterns.length === 1 &&
  [plan.parts, plan.filters, plan.triples].every(({ length }) => length === 0)
    ? plan.patterns[0]
    : undefined;

/** Returns the term of a position for a row. */
export const termAt = (place: Place, row: Row): TermKey | undefined =>
  !place ? undefined : 'token' in place ? place.token : row[place.slot];

/** Yields a plan and all plans in it. */
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
