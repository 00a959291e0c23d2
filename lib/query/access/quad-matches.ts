/**
 * Quads of the caller's dataset that match given terms: streamed, looked up in batches, counted and estimated. Must not depend on
 * variables, joins or queries.
 */
import type { DatasetPart } from './graph-filter.js';
import type { Terms } from './key-reader.js';
import { isIri, type TermKey, type TermKind } from './terms.js';

/** Restricts matches to those with one of these terms in this position. */
export interface Among {
  readonly place: number;
  readonly tokens: { has(token: TermKey): boolean };
}

/** Literals are only allowed as objects, and predicates and graphs must be IRIs. */
export const canMatch = ([subject, predicate, , graph]: Terms): boolean =>
  (subject === undefined || isIri(subject) || subject.charCodeAt(1) === 49) &&
  (predicate === undefined || isIri(predicate)) &&
  (graph === undefined || isIri(graph));

/** Required parts of the matches of a pattern. */
export interface MatchOptions {
  readonly part: DatasetPart;
  /** Positions (S, P, O, G) whose terms are required. */
  readonly places: readonly number[];
  readonly among?: Among | undefined;
}

/** Called in every block with the number of matches or rows. Throws to stop the query. */
export type AssertTime = (work?: number) => void;

/** Called for each term that is read. Throws to stop the query. */
export type AssertTerm = (token: TermKey) => void;

/** Matches in columns of the numbers of terms. */
export interface NumberBlock {
  readonly length: number;
  /** One column for each required position. */
  readonly columns: readonly Uint32Array[];
}

/** Matches of several lookups. */
export interface NumbersFound {
  /** Index of the lookup. */
  readonly rows: readonly number[];
  /** Number of times that the match counts. */
  readonly weights: readonly number[];
  readonly columns: readonly (readonly number[])[];
}

/** Matches as numbers of terms, which are valid during one query: equal exactly if the terms are. */
export interface NumberedMatches {
  /**
   * Numbers below it may have memory each. 0 for callers that may not read everything: how many there are depends on quads that
   * they may not read.
   */
  readonly directly: number;
  scan(bound: Terms, wanted: MatchOptions): AsyncGenerator<NumberBlock>;
  /** Looks up `bound` with further positions bound: `keys` has a column of numbers for each of `places`. */
  lookUp(
    bound: Terms,
    of: { readonly places: readonly number[]; readonly keys: readonly Uint32Array[]; readonly length: number },
    wanted: MatchOptions,
  ): Promise<NumbersFound>;
  /** Returns -1 for a term that is in no quad. */
  numberOf(token: TermKey): number;
  termKey(number: number): TermKey;
  kindOf(number: number): TermKind;
  /** Returns the terms whose text begins with a prefix in ASCII, as ranges of numbers; absent: they are not known. */
  prefixed(text: string): PrefixedTerms | undefined;
}

/** Ranges of numbers: starts and ends, alternating and in order. */
export interface PrefixedTerms {
  /** Ranges of the terms with the prefix. They are IRIs or strings without a language. */
  readonly found: Uint32Array;
  readonly iris: readonly [from: number, to: number];
  readonly strings: readonly [from: number, to: number];
}

export interface QuadMatches {
  /** Absent: matches have no numbers. */
  readonly numbered?: NumberedMatches;
  stream(bound: Terms, wanted: MatchOptions): AsyncGenerator<Terms[]>;
  /** Returns the matches of each pattern, in order. */
  lookUp(bounds: readonly Terms[], wanted: MatchOptions): Promise<Terms[][]>;
  count(bound: Terms, part: DatasetPart): Promise<number>;
  /** Yields the terms of a position in blocks, possibly repeated. In one of the indexes, the position is the next one after the bound terms. */
  distinct(bound: Terms, place: number, part: DatasetPart): AsyncGenerator<TermKey[]>;
  /**
   * Returns the approximate number of matches: all keys if every graph is readable, exact for small numbers, otherwise matches in
   * readable graphs.
   * @param part default: `named`
   */
  estimate(bound: Terms, part?: DatasetPart): Promise<number>;
  /** Returns some of the matches, evenly distributed if possible. */
  sample(bound: Terms, wanted: MatchOptions, most: number): Promise<Terms[]>;
  close(): Promise<void>;
}
