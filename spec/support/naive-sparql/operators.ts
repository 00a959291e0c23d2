/** Effective boolean values, equality and order of terms (SPARQL 1.1, 17.2.2, 17.3, 17.4.1.7). */
import type { Literal, Term } from '@rdfjs/types';
import { compareDates, dateOf } from './dates.js';
import { compareNumeric, isNumericType, numericOf } from './numbers.js';
import { ExpressionError, rdf, sameTerm, termsIn, xsd } from './terms.js';

export const isString = (term: Term): term is Literal =>
  term.termType === 'Literal' && term.datatype.value === `${xsd}string`;

const isText = (term: Term): boolean =>
  term.termType === 'Literal' &&
  [`${xsd}string`, `${rdf}langString`, `${rdf}dirLangString`].includes(term.datatype.value);

export function booleanOf(term: Term): boolean | undefined {
  if (term.termType !== 'Literal' || term.datatype.value !== `${xsd}boolean`) return undefined;
  if (/^(?:true|1)$/.test(term.value)) return true;
  return /^(?:false|0)$/.test(term.value) ? false : undefined;
}

/** SPARQL 1.2, 17.2.2. @throws ExpressionError for terms without one, such as ill-typed literals */
export function effectiveBoolean(term: Term): boolean {
  if (term.termType === 'Literal') {
    const { value: type } = term.datatype;
    const truth = booleanOf(term);
    if (truth !== undefined) return truth;
    if (isString(term)) return term.value !== '';
    if (isNumericType(type)) {
      const number = numericOf(term);
      if (!number) throw new ExpressionError('An ill-typed literal.');
      return 'exact' in number ? number.exact.digits !== 0n : number.value !== 0 && !Number.isNaN(number.value);
    }
  }
  throw new ExpressionError('No effective boolean value.');
}

/** Returns the sign of the order of two values of one type, or undefined if 17.3 has no operator for them. */
function ordered(a: Term, b: Term): number | undefined {
  const [left, right] = [numericOf(a), numericOf(b)];
  if (left && right) return compareNumeric(left, right);
  if (isString(a) && isString(b)) return compareCodepoints(a.value, b.value);
  const [truth, other] = [booleanOf(a), booleanOf(b)];
  if (truth !== undefined && other !== undefined) return Number(truth) - Number(other);
  const [date, later] = [dateOf(a), dateOf(b)];
  return date && later ? compareDates(date, later) : undefined;
}

/** fn:compare with the codepoint collation. */
export function compareCodepoints(a: string, b: string): number {
  const [left, right] = [[...a], [...b]];
  for (const [at, character] of left.entries()) {
    if (right[at] === undefined) return 1;
    const difference = character.codePointAt(0)! - right[at].codePointAt(0)!;
    if (difference !== 0) return Math.sign(difference);
  }
  return left.length < right.length ? -1 : 0;
}

/** The operators `<` and `>`. @throws ExpressionError for terms without an order */
export function compareValues(a: Term, b: Term): number {
  const order = ordered(a, b);
  if (order === undefined) throw new ExpressionError('No order.');
  return order;
}

/**
 * The operator `=`. Strings with and without a language are always comparable, an extension allowed by 17.3.1.
 * @throws ExpressionError for two literals that are neither the same term nor comparable
 */
export function areEqual(a: Term, b: Term): boolean {
  if (a.termType === 'Quad' && b.termType === 'Quad') return areEqualTriples(a, b);
  const order = ordered(a, b);
  if (order !== undefined) return order === 0;
  if (sameTerm(a, b)) return true;
  if (isText(a) && isText(b)) return false;
  if (a.termType === 'Literal' && b.termType === 'Literal')
    throw new ExpressionError('RDFterm-equal of two different literals (17.4.1.7).');
  return false;
}

/** SPARQL 1.2: triple terms are equal if their terms are. An unequal term decides before an error. */
function areEqualTriples(a: Term, b: Term): boolean {
  let error: unknown;
  for (const [at, term] of termsIn(a).entries())
    try {
      if (!areEqual(term, termsIn(b)[at]!)) return false;
    } catch (caught) {
      error ??= caught;
    }
  if (error) throw error;
  return true;
}
