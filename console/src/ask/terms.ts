/** RDF terms of results, and how they are displayed. */

export interface ResultTerm {
  readonly kind: 'iri' | 'blank' | 'literal' | 'triple';
  /** Value of the term. For a triple term, its text. */
  readonly value: string;
  /** Language of a literal, with `--` and its base direction, or empty. */
  readonly language: string;
  /** Datatype of a literal without language. Empty for strings. */
  readonly datatype: string;
  /** Shorter text that is shown instead of the value. */
  readonly shown?: string;
  /** Subject, predicate and object of a triple term. */
  readonly terms?: readonly ResultTerm[];
}

/** Terms of a row. `undefined` for unbound variables. */
export type ResultRow = readonly (ResultTerm | undefined)[];

export const xsd = 'http://www.w3.org/2001/XMLSchema#';
const numeric = new Set(
  'integer decimal double float long int short byte nonNegativeInteger positiveInteger negativeInteger nonPositiveInteger unsignedLong unsignedInt unsignedShort unsignedByte'
    .split(' ')
    .map((name) => xsd + name),
);
const times = new Set(['dateTime', 'date', 'dateTimeStamp', 'gYear', 'gYearMonth'].map((name) => xsd + name));

export const iriTerm = (value: string): ResultTerm => ({ kind: 'iri', value, language: '', datatype: '' });
export const literalTerm = (value: string, language = '', datatype = ''): ResultTerm => ({
  kind: 'literal',
  value,
  language,
  datatype: language !== '' || datatype === `${xsd}string` ? '' : datatype,
});

/** Returns a triple term. */
export const termOfTriple = (terms: readonly ResultTerm[]): ResultTerm => ({
  kind: 'triple',
  value: `<<( ${terms.map(plainText).join(' ')} )>>`,
  language: '',
  datatype: '',
  terms,
});

/** Returns the numeric value of a term, or `undefined`, also for infinities. */
export function numberOf(term: ResultTerm | undefined): number | undefined {
  if (term?.kind !== 'literal' || !numeric.has(term.datatype)) return undefined;
  const value = Number(term.value);
  return Number.isFinite(value) ? value : undefined;
}

/** Returns the time value of a term in milliseconds since the epoch, or `undefined`. */
export function timeOf(term: ResultTerm | undefined): number | undefined {
  if (term?.kind !== 'literal' || !times.has(term.datatype)) return undefined;
  const value = Date.parse(term.value);
  return Number.isNaN(value) ? undefined : value;
}

/** Returns the text of a term for filtering and sorting. */
export const plainText = (term: ResultTerm | undefined): string =>
  term === undefined ? '' : term.kind === 'blank' ? `_:${term.value}` : term.value;

/** Compares numbers by value, times by order, and other terms as text. Unbound values are first. */
export function compareTerms(a: ResultTerm | undefined, b: ResultTerm | undefined): number {
  const [x, y] = [numberOf(a) ?? timeOf(a), numberOf(b) ?? timeOf(b)];
  if (x !== undefined && y !== undefined) return x - y;
  if (x !== undefined || y !== undefined) {
    if (!a || !b) return a ? 1 : -1;
    return x !== undefined ? -1 : 1;
  }
  const [left, right] = [plainText(a), plainText(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}
