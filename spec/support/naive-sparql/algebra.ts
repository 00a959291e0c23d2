/** The algebra of SPARQL 1.1, 18.2, as the naive evaluator writes it. */
import type { Term } from '@rdfjs/types';
import type { Solution } from './terms.js';

/** Property path expressions (18.2.2.3). */
export type Path =
  | { readonly kind: 'link'; readonly iri: string }
  | { readonly kind: 'inverse' | 'zeroOrOne' | 'zeroOrMore' | 'oneOrMore'; readonly of: Path }
  | { readonly kind: 'sequence' | 'alternative'; readonly left: Path; readonly right: Path }
  | { readonly kind: 'negated'; readonly iris: readonly string[] };

export type Expression =
  | { readonly kind: 'term'; readonly term: Term }
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly Expression[] }
  | { readonly kind: 'exists'; readonly isNegated: boolean; readonly pattern: Algebra };

/** A triple pattern. Subjects, predicates and objects are terms or variables; blank nodes have become variables. */
export interface TriplePattern {
  readonly subject: Term;
  readonly predicate: Term;
  readonly object: Term;
}

export interface Aggregate {
  readonly name: string;
  readonly isDistinct: boolean;
  /** Undefined: `*`. */
  readonly of?: Expression;
  readonly separator?: string;
  /** Variable of the result. */
  readonly as: string;
}

export interface GroupKey {
  readonly expression: Expression;
  /** Undefined: the key is not visible. */
  readonly as?: string;
}

export interface OrderKey {
  readonly expression: Expression;
  readonly isDescending: boolean;
}

export type Algebra =
  | { readonly op: 'bgp'; readonly triples: readonly TriplePattern[] }
  | { readonly op: 'path'; readonly subject: Term; readonly path: Path; readonly object: Term }
  /** Removes the variables that stand for blank nodes, without changing cardinalities (18.3.1). */
  | { readonly op: 'hideBlanks'; readonly input: Algebra }
  | { readonly op: 'join' | 'union' | 'minus'; readonly left: Algebra; readonly right: Algebra }
  | {
      readonly op: 'leftJoin';
      readonly left: Algebra;
      readonly right: Algebra;
      readonly conditions: readonly Expression[];
    }
  | { readonly op: 'filter'; readonly input: Algebra; readonly conditions: readonly Expression[] }
  | { readonly op: 'extend'; readonly input: Algebra; readonly name: string; readonly expression: Expression }
  | { readonly op: 'graph'; readonly name: Term; readonly input: Algebra }
  | { readonly op: 'values'; readonly rows: readonly Solution[]; readonly names: readonly string[] }
  | {
      readonly op: 'group';
      readonly input: Algebra;
      readonly keys: readonly GroupKey[];
      readonly aggregates: readonly Aggregate[];
    }
  | { readonly op: 'orderBy'; readonly input: Algebra; readonly keys: readonly OrderKey[] }
  | { readonly op: 'project'; readonly input: Algebra; readonly names: readonly string[] }
  | { readonly op: 'distinct'; readonly input: Algebra }
  | { readonly op: 'slice'; readonly input: Algebra; readonly offset: number; readonly limit: number };

/** A join with the empty group, which 18.2.2.6 starts with. */
export const unit: Algebra = { op: 'bgp', triples: [] };

export interface TranslatedQuery {
  readonly form: 'select' | 'ask' | 'construct' | 'describe';
  readonly base: string;
  readonly pattern: Algebra;
  /** Variables of a SELECT, in order. */
  readonly names: readonly string[];
  readonly template: readonly TriplePattern[];
  readonly isOrdered: boolean;
  /** FROM and FROM NAMED. Undefined: the query has no dataset clause. */
  readonly dataset?: { readonly defaultGraphs: readonly string[]; readonly namedGraphs: readonly string[] };
}
