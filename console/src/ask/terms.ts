/** RDF terms as results give them, and what to show of them. Pure. */
import { decoded } from '../storage/names.js';

export interface Term {
  readonly kind: 'iri' | 'blank' | 'literal';
  readonly value: string;
  /** Of literals; empty for none. */
  readonly language: string;
  /** Of literals without language; empty for strings. */
  readonly datatype: string;
}

/** A variable may be unbound in a row. */
export type Row = readonly (Term | undefined)[];

const xsd = 'http://www.w3.org/2001/XMLSchema#';
const numeric = new Set(
  'integer decimal double float long int short byte nonNegativeInteger positiveInteger negativeInteger nonPositiveInteger unsignedLong unsignedInt unsignedShort unsignedByte'
    .split(' ')
    .map((name) => xsd + name),
);
const times = new Set(['dateTime', 'date', 'dateTimeStamp', 'gYear', 'gYearMonth'].map((name) => xsd + name));

export const iriTerm = (value: string): Term => ({ kind: 'iri', value, language: '', datatype: '' });
export const literalTerm = (value: string, language = '', datatype = ''): Term => ({
  kind: 'literal',
  value,
  language,
  datatype: language !== '' || datatype === `${xsd}string` ? '' : datatype,
});

/** The number that a term says; `undefined` for no number, infinities included. */
export function numberOf(term: Term | undefined): number | undefined {
  if (term?.kind !== 'literal' || !numeric.has(term.datatype)) return undefined;
  const value = Number(term.value);
  return Number.isFinite(value) ? value : undefined;
}

/** The time that a term says, in milliseconds since the epoch. */
export function timeOf(term: Term | undefined): number | undefined {
  if (term?.kind !== 'literal' || !times.has(term.datatype)) return undefined;
  const value = Date.parse(term.value);
  return Number.isNaN(value) ? undefined : value;
}

const known: readonly (readonly [string, string])[] = [
  ['xsd:', xsd],
  ['rdf:', 'http://www.w3.org/1999/02/22-rdf-syntax-ns#'],
  ['rdfs:', 'http://www.w3.org/2000/01/rdf-schema#'],
  ['owl:', 'http://www.w3.org/2002/07/owl#'],
];

/** A short form of an IRI for labels: a well-known prefix, or what follows the last separator. */
export function labelOf(iri: string): string {
  for (const [prefix, namespace] of known)
    if (iri.startsWith(namespace) && iri.length > namespace.length) return prefix + iri.slice(namespace.length);
  const name = /[^/#?:]+[/#]?$/.exec(iri)?.[0] ?? iri;
  return decoded(name);
}

/** What filtering and sorting look at. */
export const plainText = (term: Term | undefined): string =>
  term === undefined ? '' : term.kind === 'blank' ? `_:${term.value}` : term.value;

/** Numbers by size, times by order, everything else as text; unbound ones first. */
export function compareTerms(a: Term | undefined, b: Term | undefined): number {
  const [x, y] = [numberOf(a) ?? timeOf(a), numberOf(b) ?? timeOf(b)];
  if (x !== undefined && y !== undefined) return x - y;
  if (x !== undefined || y !== undefined) {
    if (!a || !b) return a ? 1 : -1;
    return x !== undefined ? -1 : 1;
  }
  const [left, right] = [plainText(a), plainText(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}
