/**
 * Interface to the quads of the caller's dataset that match given terms: streams, lookups in batches, counts and estimates.
 * Must not depend on variables, joins or queries.
 */
import type { DatasetPart } from './graph-filter.js';
import type { Terms } from './key-reader.js';
import { isIri, type TermKey, type TermKind } from './terms.js';

/** Restricts matches to quads that have one of these terms in a position. */
export interface Among {
  readonly place: number;
  readonly tokens: { has(token: TermKey): boolean };
}

/** Returns false if no quad can match: only objects can be literals, and predicates and graphs must be IRIs. */
export const canMatch = ([subject, predicate, , graph]: Terms): boolean =>
  (subject === undefined || isIri(subject) || subject.charCodeAt(1) === 49) &&
  (predicate === undefined || isIri(predicate)) &&
  (graph === undefined || isIri(graph));

/** Parameters of a match: the part of the dataset, and the positions to return. */
export interface MatchOptions {
  readonly part: DatasetPart;
  /** Positions (S, P, O, G) whose terms are required. */
  readonly places: readonly number[];
  readonly among?: Among | undefined;
}

/** Function that is called for each block with its count of matches or rows. Throws to stop the query. */
export type AssertTime = (work?: number) => void;

/** Function that is called for each term that is read. Throws to stop the query. */
export type AssertTerm = (token: TermKey) => void;

/** Matches as columns of term IDs. */
export interface NumberBlock {
  readonly length: number;
  /** One column for each required position. */
  readonly columns: readonly Uint32Array[];
}

/** Matches of several lookups. */
export interface NumbersFound {
  /** Index of the lookup. */
  readonly rows: readonly number[];
  /** For each row, the count of equal matches that the row represents. */
  readonly weights: readonly number[];
  readonly columns: readonly (readonly number[])[];
}

/** Matches as term IDs. A term has one ID, which is valid during one query. */
export interface NumberedMatches {
  /** Exclusive limit of IDs used as indexes of a table. 0 if the table's size would depend on unreadable quads. */
  readonly directly: number;
  scan(bound: Terms, wanted: MatchOptions): AsyncGenerator<NumberBlock>;
  /** Looks up `bound` with further bound positions: `keys` has a column of term IDs for each of `places`. */
  lookUp(
    bound: Terms,
    of: { readonly places: readonly number[]; readonly keys: readonly Uint32Array[]; readonly length: number },
    wanted: MatchOptions,
  ): Promise<NumbersFound>;
  /** Returns the ID of a term, or -1 if no quad has the term. */
  numberOf(token: TermKey): number;
  termKey(number: number): TermKey;
  kindOf(number: number): TermKind;
  /** Returns the terms whose text begins with an ASCII prefix, as ranges of IDs. `undefined`: no ranges are available. */
  prefixed(text: string): PrefixedTerms | undefined;
}

/** Ranges of term IDs as alternating starts and ends, in order. */
export interface PrefixedTerms {
  /** ID ranges of the terms with the prefix. The terms are IRIs or strings without a language. */
  readonly found: Uint32Array;
  readonly iris: readonly [from: number, to: number];
  readonly strings: readonly [from: number, to: number];
}

export interface QuadMatches {
  /** Absent if matches are not available as term IDs. */
  readonly numbered?: NumberedMatches;
  stream(bound: Terms, wanted: MatchOptions): AsyncGenerator<Terms[]>;
  /** Returns the matches of each pattern, in the order of the patterns. */
  lookUp(bounds: readonly Terms[], wanted: MatchOptions): Promise<Terms[][]>;
  count(bound: Terms, part: DatasetPart): Promise<number>;
  /** Yields the terms of a position, possibly repeated. An index must have the position directly after the bound terms. */
  distinct(bound: Terms, place: number, part: DatasetPart): AsyncGenerator<TermKey[]>;
  /**
   * Returns the approximate count of matches: of all keys if every graph is readable, otherwise of matches in readable graphs.
   * Small counts are exact.
   * @param part default: `named`
   */
  estimate(bound: Terms, part?: DatasetPart): Promise<number>;
  /** Returns some of the matches, evenly distributed if possible. */
  sample(bound: Terms, wanted: MatchOptions, most: number): Promise<Terms[]>;
  close(): Promise<void>;
}
