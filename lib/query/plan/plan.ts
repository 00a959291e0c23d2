/** Compiled form of queries. Variables are slots of a row. Contains types and functions derived from them only. */

import type { TermKey } from '../access/terms.js';
import type { Evaluate, Row, Slot } from '../expressions/evaluate.js';
import type { Constants } from '../parse/query-shape.js';
import type { ServiceClause } from '../parse/service-clauses.js';

export type { Evaluate, Row, Slot };
export type Blocks = AsyncIterable<Row[]>;

/** Position of a pattern: a term, a variable, or an ignored term. */
export type Place = { readonly token: TermKey } | { readonly slot: Slot } | undefined;

export interface Pattern {
  /** Subject, predicate, object, graph. */
  readonly places: readonly Place[];
  readonly part: 'union' | 'named';
  /** Positions with variables. */
  readonly wanted: readonly number[];
  /** Variables at these positions. */
  readonly slots: ReadonlySet<Slot>;
}

/** Triple term with variables. Its slot is the object of a pattern, an end of a path, or a term of another triple term. */
export interface TripleTerm {
  readonly slot: Slot;
  /** Subject, predicate, object. */
  readonly places: readonly [Place, Place, Place];
  /** Slots of its variables, and of triple terms with variables within it. */
  readonly slots: ReadonlySet<Slot>;
}

/** Function of a row. */
interface Evaluated {
  readonly evaluate: Evaluate;
  /** Returns what depends on constants; absent: it has no placeholders. */
  readonly bind?: ((constants: Constants) => Pick<Expression, 'evaluate' | 'prefix'>) | undefined;
}

/** Test whether the text of a variable begins with a prefix in ASCII. */
export interface PrefixTest {
  readonly slot: Slot;
  readonly text: string;
  /** The text is that of STR: IRIs and literals of any type have one. Otherwise only strings do. */
  readonly isStr: boolean;
}

/** Test of variables whose result mostly follows from the kinds of terms, and from whether they are the same. */
export interface KindTest {
  readonly name: '=' | '!=' | 'sameterm' | 'isiri' | 'isuri' | 'isblank' | 'isliteral';
  readonly slots: readonly Slot[];
}

export interface Expression extends Evaluated {
  readonly kinds?: KindTest | undefined;
  readonly prefix?: PrefixTest | undefined;
  readonly slots: ReadonlySet<Slot>;
  /** Depends on its slots only and may be evaluated before the row is complete, which costs less than joining the row. */
  readonly isCheap?: boolean;
  /** Depends on its slots only. */
  readonly isPure?: boolean;
  /** Its slot, if it is a variable. */
  readonly variable?: Slot | undefined;
}

export interface Aggregate {
  readonly slot: Slot;
  readonly name: 'count' | 'sum' | 'min' | 'max' | 'avg' | 'sample' | 'group_concat';
  /** Absent: COUNT(*). */
  readonly expression: Expression | undefined;
  readonly isDistinct: boolean;
  /** Variables of a solution, for COUNT(DISTINCT *). */
  readonly solution: readonly Slot[];
  /** Separator of GROUP_CONCAT. */
  readonly separator: string;
}

export interface SortKey extends Evaluated {
  /** Its slot, if it is a variable. */
  readonly variable?: Slot | undefined;
  readonly isDescending: boolean;
}

interface Scope {
  /** Slots that every row binds. */
  readonly certain: ReadonlySet<Slot>;
  /** Slots that a row may bind. */
  readonly possible: ReadonlySet<Slot>;
  /** True if the plan accepts input rows of another part, instead of being joined with its own result. */
  readonly isJoinable: boolean;
}

export interface JoinPlan extends Scope {
  readonly kind: 'join';
  readonly patterns: readonly Pattern[];
  readonly parts: readonly Plan[];
  readonly filters: readonly Expression[];
  /** Triple terms with variables in patterns and parts, inner ones first. */
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
  /** Marks that the condition requires on the joined rows. */
  readonly marks: readonly Mark[];
  /** Slot for the row number, passed through the right side. */
  readonly counter: Slot;
}
/** Test for a matching row. */
export interface Existence {
  readonly right: Plan;
  /** Conditions on a row and its match: filters of an EXISTS that use the row. */
  readonly conditions: readonly Expression[];
  /** Right side, including these conditions. */
  readonly whole: Plan;
  /**
   * `through`: rows are the input of the right side. `alone`: the right side runs by itself, and rows are compared with its
   * result. `each`: it runs for each row.
   */
  readonly way: 'through' | 'alone' | 'each';
  /** For MINUS, where matches must share a bound variable: true if they always do. */
  readonly minus?: 'always' | 'perhaps';
  /** For MINUS within GRAPH: graph name, which both sides have and which does not count as a shared variable. */
  readonly scope?: Slot | undefined;
  /** Slots of the row that determine the result. */
  readonly shared: readonly Slot[];
  /** Outer variables referenced by the right side; its result depends on no others. */
  readonly mentioned: readonly Slot[];
  /** Slot for the row number, passed through the right side. */
  readonly counter: Slot;
}
/** Rows of the left side with (EXISTS) or without (NOT EXISTS, MINUS) a match on the right. */
export interface SemiJoinPlan extends Scope {
  readonly kind: 'semiJoin';
  readonly left: Plan;
  readonly existence: Existence;
  readonly isKept: boolean;
}
/** Term in the slot of a row with a match. */
export const markOfPartner = 'true';
/** EXISTS within an expression. Its result is written to a slot of each row. */
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
  /** The only slot, if each named graph has a group, even without rows. */
  readonly everyGraph: Slot | undefined;
}
export interface OrderPlan extends Scope {
  readonly kind: 'order';
  readonly input: Plan;
  readonly keys: readonly SortKey[];
  /** Number of rows required from the beginning of the order. */
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
  /** Start and length apply to each term of this slot. */
  readonly perGraph: Slot | undefined;
}

/** Path of arbitrary length. */
export interface ClosurePlan extends Scope {
  readonly kind: 'closure';
  readonly from: Place;
  readonly to: Place;
  readonly graph: Place;
  readonly part: Pattern['part'];
  /** One step, between its own two slots. */
  readonly step: Plan;
  readonly start: Slot;
  readonly end: Slot;
  /** Number of steps. */
  readonly least: 0 | 1;
  readonly most: number;
  /** Slot for the row number, passed through a step. */
  readonly counter: Slot;
  /** True if zero steps are allowed. */
  readonly isNullable: boolean;
  /** True if zero steps are allowed between two variables: then the path starts at nodes of the graph only (SPARQL 1.1 18.4). */
  readonly needsNodes: boolean;
  /** Slots whose variables are replaced by terms from the beginning, so that the terms need not be nodes. */
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
  /** Absent: it is not joined. */
  readonly left: Plan | undefined;
}

export type Plan =
  | (JoinPlan | ValuesPlan | UnionPlan | ClosurePlan | LeftJoinPlan | SemiJoinPlan | MarkPlan | FilterPlan)
  | (ExtendPlan | GroupPlan | OrderPlan | DistinctPlan | SlicePlan | ServicePlan | GraphsPlan);

/** A blank node of a template is a new one for each row. */
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

/** Returns the pattern of a plan that is a single pattern. */
export const onlyPattern = (plan: Plan): Pattern | undefined =>
  plan.kind === 'join' &&
  plan.patterns.length === 1 &&
  [plan.parts, plan.filters, plan.triples].every(({ length }) => length === 0)
    ? plan.patterns[0]
    : undefined;

/** Returns the term of a position for a row. */
export const termAt = (place: Place, row: Row): TermKey | undefined =>
  !place ? undefined : 'token' in place ? place.token : row[place.slot];

/** Yields a plan and all plans and patterns that it contains. */
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
