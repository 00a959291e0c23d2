/** Index entries of labels: by subject, and by the beginning of the label. */
import { entryKey } from '../../../lib/storage/keys/records.js';
import type { Put, TextStatement } from './statements.js';
import { foldedLabel } from './terms.js';

/** Key layout: `label`, subject, resource, place, a `Label` as JSON. */
export const labelSpace = 'label';
/** Key layout: `label-by`, folded beginning of the label, subject, resource, place, a `Label` as JSON. */
export const beginningSpace = 'label-by';
/**
 * Key layout: `label-of`, resource, folded beginning of the label, subject, place, a `Label` as JSON. For callers who cannot
 * read everything: lists the labels of each readable resource.
 */
export const ownLabelSpace = 'label-of';

/** Predicates of labels, in order of preference. */
const predicates: readonly string[] = [
  'http://www.w3.org/2004/02/skos/core#prefLabel',
  'http://www.w3.org/2000/01/rdf-schema#label',
  'https://schema.org/name',
  'http://schema.org/name',
  'http://purl.org/dc/terms/title',
  'http://xmlns.com/foaf/0.1/name',
];
const ranks = new Map(predicates.map((predicate, rank) => [predicate, rank]));

/** Maximum characters of a label in results, and of its indexed beginning. */
const longestLabel = 500;
export const longestBeginning = 64;

/** Label in an index entry: rank of its predicate, language (empty for none), and text. */
export type Label = readonly [rank: number, language: string, text: string];

export const predicateOfLabel = ([rank]: Label): string => predicates[rank]!;

/** Puts the entries of a statement if it is a label of an IRI. */
export function putLabel(
  { iri, place, statement }: { readonly iri: string; readonly place: string; readonly statement: TextStatement },
  put: Put,
): void {
  const { isIri, subject, predicate, language, text } = statement;
  const rank = ranks.get(predicate);
  if (!isIri || rank === undefined) return;
  const label: Label = [rank, language, cut(text, longestLabel)];
  const parts = [subject, iri, place, JSON.stringify(label)];
  put(entryKey(labelSpace, ...parts), '');
  const beginning = cut(foldedLabel(label[2]), longestBeginning);
  put(entryKey(beginningSpace, beginning, ...parts), '');
  const [, , ...tail] = parts;
  put(entryKey(ownLabelSpace, iri, beginning, subject, ...tail), '');
}

/** Returns the first characters of a text, without splitting a surrogate pair. */
export const cut = (text: string, length: number): string =>
  text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
