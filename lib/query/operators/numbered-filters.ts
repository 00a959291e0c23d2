/** Evaluates filters on rows of term IDs. */

import { isInIntervals } from '../../tools/collections.js';
import type { NumberedMatches, PrefixedTerms } from '../access/quad-matches.js';
import type { TermKey, TermKind } from '../access/terms.js';
import type { Expression, KindTest, PrefixTest, Slot } from '../plan/plan.js';
import { type Execution, emptyRow, holdsFor } from './execution.js';
import type { NumberTable } from './number-table.js';
import { firstOther, type NumberedRows, unbound } from './numbered-rows.js';

/** Terms of a query's rows, provided by `NumberedPlan`. */
interface NumberedTerms {
  readonly execution: Execution;
  readonly matches: NumberedMatches;
  table(width: number): NumberTable;
  termKey(number: number): TermKey | undefined;
}

/** Function that returns a test for the rows of a batch. */
type BatchTest = (columns: NumberedRows['columns']) => (at: number) => boolean;

/**
 * Returns the tests for conditions. Conditions on the same single variable become one test, which is evaluated once per term of
 * the variable. Tests of kinds and prefixes remain separate.
 */
export function batchTests(numbers: NumberedTerms, conditions: readonly Expression[]): readonly BatchTest[] {
  const ofSlot = new Map<Slot, Expression[]>();
  const tests: BatchTest[] = [];
  for (const condition of conditions) {
    const [slot] = condition.slots;
    if (condition.kinds) tests.push(kindTest(numbers, condition.kinds, evaluated(numbers, [condition])));
    else if (condition.prefix)
      tests.push(prefixTest(numbers, condition.prefix, oncePerTerm(numbers, slot!, evaluated(numbers, [condition]))));
    else if (condition.slots.size !== 1) tests.push(evaluated(numbers, [condition]));
    else ofSlot.set(slot!, [...(ofSlot.get(slot!) ?? []), condition]);
  }
  for (const [slot, own] of ofSlot) tests.push(oncePerTerm(numbers, slot, evaluated(numbers, own)));
  return tests;
}

function evaluated(numbers: NumberedTerms, conditions: readonly Expression[]): BatchTest {
  const slots = [...new Set(conditions.flatMap((condition) => [...condition.slots]))];
  const row = emptyRow(numbers.execution);
  return (columns) => (at) => {
    for (const slot of slots) row[slot] = numbers.termKey(columns[slot]?.[at] ?? unbound);
    return conditions.every((condition) => holdsFor(condition, row));
  };
}

function oncePerTerm(numbers: NumberedTerms, slot: Slot, test: BatchTest): BatchTest {
  const known = numbers.table(1);
  return (columns) => {
    const [evaluate, key] = [test(columns), [columns[slot]]];
    if (!key[0]) return evaluate;
    return (at) => {
      const entry = known.add(key, at);
      if (known.weights[entry] === 0) known.weights[entry] = evaluate(at) ? 1 : 2;
      return known.weights[entry] === 1;
    };
  };
}

/** Returns a test that compares IDs with the ranges of the prefix. It evaluates typed literals and terms outside the base. */
function prefixTest(
  { matches, execution }: NumberedTerms,
  { slot, text, isStr }: PrefixTest,
  test: BatchTest,
): BatchTest {
  let rows = 0;
  let isSought = false;
  let ranges: PrefixedTerms | undefined;
  return (columns) => {
    const [evaluate, column] = [test(columns), columns[slot]];
    rows += column?.length ?? 0;
    // The search for the ranges is worthwhile only for many rows.
    if (!isSought && rows >= execution.numbersFrom) [isSought, ranges] = [true, matches.prefixed(text)];
    if (!ranges || !column) return evaluate;
    const { found, iris, strings } = ranges;
    return (at) => {
      const number = column[at]!;
      if (number >= strings[0] && number < strings[1]) return isInIntervals(found, number);
      if (number >= iris[0] && number < iris[1]) return isStr && isInIntervals(found, number);
      return evaluate(at);
    };
  };
}

function kindTest({ matches }: NumberedTerms, { name, slots: [first, second] }: KindTest, test: BatchTest): BatchTest {
  const isNode = (kind: TermKind): boolean => kind === 'iri' || kind === 'blank';
  const wanted = name === 'isuri' ? 'iri' : name.slice(2);
  return (columns) => {
    const evaluate = test(columns);
    const numberAt = (slot: Slot, at: number): number => columns[slot]?.[at] ?? unbound;
    return (at) => {
      const a = numberAt(first!, at);
      if (second === undefined) return a < firstOther ? matches.kindOf(a) === wanted : evaluate(at);
      const b = numberAt(second, at);
      // Different literals or triple terms may have equal values, or values that cannot be compared, and are evaluated.
      const isDecided = a < firstOther && b < firstOther && (isNode(matches.kindOf(a)) || isNode(matches.kindOf(b)));
      return isDecided ? (a === b) === (name !== '!=') : evaluate(at);
    };
  };
}
