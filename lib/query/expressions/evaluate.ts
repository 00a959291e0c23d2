/** What an expression is evaluated on, and with what it knows of its query. */
import type { TermKey } from '../access/terms.js';
import type { Value } from './values.js';

/** A solution: the terms of variables, which have been given numbers. */
export type Row = (TermKey | undefined)[];
export type Slot = number;

/** The value for a row; `undefined` is the error of SPARQL. */
export type Evaluate = (row: Row) => Value | undefined;

/** What functions know of the query. */
export interface Facts {
  /** What IRI() resolves against. */
  readonly base: string;
  /** NOW(); a plan that has asked for it is for one execution. */
  readonly now: Date;
}
