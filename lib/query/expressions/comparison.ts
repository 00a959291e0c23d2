/**
 * Equality and order of values. SPARQL's operators return `undefined` for a type error. The order of ORDER BY is total. Strings
 * are compared by code points.
 */

import { xsd } from '../../rdf/vocabulary.js';
import { compareKeys } from '../../storage/keys/key-order.js';
import { partsOfTriple } from '../access/triple-terms.js';
import { monthsAndSeconds } from './durations.js';
import { compareDigits } from './exact-digits.js';
import { datatypeOf, isLiteral, toToken, toValue, type Value } from './values.js';

export function areEqual(a: Value, b: Value): boolean | undefined {
  if (a.kind === 'triple' && b.kind === 'triple') return areEqualTriples(a, b);
  if (!isLiteral(a) || !isLiteral(b)) return a.kind === b.kind && a.text === b.text;
  if (a.kind === 'string' && b.kind === 'string') return a.text === b.text;
  if (a.kind === 'lang' && b.kind === 'lang') return a.text === b.text && a.language === b.language;
  if (isText(a) && isText(b)) return false;
  if (isDuration(a) && isDuration(b)) return equalDurations(a, b);
  if (a.kind === b.kind && a.kind !== 'other') {
    // A literal that is invalid for its datatype equals only itself.
    if (a.number === undefined || b.number === undefined) return toToken(a) === toToken(b) ? true : undefined;
    return a.number === b.number && compareDigits(a, b) === 0;
  }
  return toToken(a) === toToken(b) ? true : undefined;
}

/** Compares triple terms by their terms. If two terms are not equal, errors in other comparisons do not matter. */
function areEqualTriples(a: Value, b: Value): boolean | undefined {
  if (a.text === b.text) return true;
  const [left, right] = [termsOf(a), termsOf(b)];
  const verdicts = left.map((term, at) => areEqual(term, right[at]!));
  return verdicts.includes(false) ? false : verdicts.includes(undefined) ? undefined : true;
}

const termsOf = ({ text }: Value): Value[] => partsOfTriple(text).map(toValue);

const isText = ({ kind }: Value): boolean => kind === 'string' || kind === 'lang';
const isDuration = ({ kind }: Value): boolean =>
  kind === 'duration' || kind === 'yearMonthDuration' || kind === 'dayTimeDuration';

function equalDurations(a: Value, b: Value): boolean | undefined {
  const [left, right] = [monthsAndSeconds(a.text), monthsAndSeconds(b.text)];
  if (left && right) return left[0] === right[0] && left[1] === right[1];
  return toToken(a) === toToken(b) ? true : undefined;
}

export function isLess(a: Value, b: Value): boolean | undefined {
  if (a.kind !== b.kind) return undefined;
  if (a.kind === 'string') return compareKeys(a.text, b.text) < 0;
  if (a.number === undefined || b.number === undefined) return undefined;
  return a.number < b.number || (a.number === b.number && compareDigits(a, b) < 0);
}

export function isAtMost(a: Value, b: Value): boolean | undefined {
  const isGreater = isLess(b, a);
  if (isGreater !== false) return isGreater === undefined ? undefined : false;
  return !Number.isNaN(a.number) && !Number.isNaN(b.number);
}

/** Returns the rank by kind: unbound, blank node, IRI, literal, triple term. */
const rankOf = (value: Value | undefined): number =>
  !value ? 0 : value.kind === 'blank' ? 1 : value.kind === 'iri' ? 2 : value.kind === 'triple' ? 4 : 3;

/** Compares values in the order that ORDER BY, MIN and MAX use. */
export function compareValues(a: Value | undefined, b: Value | undefined): number {
  const rank = rankOf(a) - rankOf(b);
  if (rank !== 0 || !a || !b) return rank;
  if (a.kind === 'triple') return compareTriples(a, b);
  if (!isLiteral(a)) return compareKeys(a.text, b.text);
  const [left, right] = [orderedType(a), orderedType(b)];
  if (left !== right) return left < right ? -1 : 1;
  if (a.number !== undefined && b.number !== undefined) return compareNumbers(a, b);
  return compareKeys(a.text, b.text) || compareKeys(a.language ?? '', b.language ?? '');
}

function compareTriples(a: Value, b: Value): number {
  const [left, right] = [termsOf(a), termsOf(b)];
  for (const [at, term] of left.entries()) {
    const order = compareValues(term, right[at]);
    if (order !== 0) return order;
  }
  return 0;
}

/** Returns the datatype by which literals are ordered first. For all valid numbers, returns `xsd:decimal`. */
function orderedType(value: Value): string {
  const datatype = value.kind === 'number' && value.number !== undefined ? xsd.decimal : datatypeOf(value)!;
  return datatype;
}

function compareNumbers(a: Value, b: Value): number {
  const [left, right] = [a.number!, b.number!];
  if (left === right) return compareDigits(a, b);
  // NaN comes first, so that the order is total.
  if (Number.isNaN(left) || Number.isNaN(right)) return Number(Number.isNaN(right)) - Number(Number.isNaN(left));
  return left < right ? -1 : 1;
}
