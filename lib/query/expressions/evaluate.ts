/** Evaluation input of expressions: a row and the context of the query. */
import type { TermKey } from '../access/terms.js';
import type { Value } from './values.js';

/** Solution: the terms of variables by slot number. */
export type Row = (TermKey | undefined)[];
export type Slot = number;

/** Returns the value for a row; `undefined` is SPARQL's error. */
export type Evaluate = (row: Row) => Value | undefined;

/** Query context of functions. */
export interface Facts {
  /** Base IRI for IRI(). */
  readonly base: string;
  /** Value of NOW(). A plan that uses it is for one execution. */
  readonly now: Date;
}
