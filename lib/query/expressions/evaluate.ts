/** Types of expressions: row, query context and evaluation. */
import type { TermKey } from '../access/terms.js';
import type { Value } from './values.js';

/** Row: the terms of variables, by slot. */
export type Row = (TermKey | undefined)[];
export type Slot = number;

/** Function that returns the value of an expression for a row, or `undefined` for an error. */
export type Evaluate = (row: Row) => Value | undefined;

/** Context of the query, for functions. */
export interface Facts {
  /** Base IRI for IRI(). */
  readonly base: string;
  /** Value of NOW(). A plan that uses NOW() is valid for one execution only. */
  readonly now: Date;
}
