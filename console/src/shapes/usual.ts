/** Types that a form offers in words, and their common properties. */
import { rdfType, xsd } from '../rdf/document.js';
import { labels } from '../storage/labels.js';
import { wordsOf } from '../storage/words.js';
import type { DraftEntry } from './draft.js';
import { literalOfField } from './fields.js';
import { freeEntry } from './free.js';

const schema = 'http://schema.org/';

const usual: Readonly<Record<string, string>> = {
  Person: 'name email url description',
  Place: 'name latitude longitude description',
  Dataset: 'name creator datePublished license description',
  Event: 'name startDate endDate description',
  Organization: 'name url description',
  Article: 'name author datePublished description',
  SoftwareApplication: 'name url license description',
};

const datatypes: Readonly<Record<string, string>> = {
  latitude: 'decimal',
  longitude: 'decimal',
  startDate: 'date',
  endDate: 'date',
  datePublished: 'date',
  dateCreated: 'date',
  birthDate: 'date',
};

/** Labels of properties that are clearer than the words of their IRIs. */
const plainNames: Readonly<Record<string, string>> = {
  url: 'Web address',
  sameAs: 'Same as',
};

/** IRIs of properties that are offered in words. */
export const usualProperties =
  'name description email telephone url jobTitle birthDate affiliation address knows keywords author creator dateCreated datePublished license startDate endDate location latitude longitude identifier image sameAs'
    .split(' ')
    .map((name) => schema + name);

/** Returns the name of a property: its label, or the words of its IRI. */
export const plainName = (iri: string): string =>
  labels.of(iri) ?? (iri.startsWith(schema) ? plainNames[iri.slice(schema.length)] : undefined) ?? wordsOf(iri);

/** IRIs of the types that are offered in words. */
export const usualTypes = Object.keys(usual).map((name) => schema + name);

/** Returns the entries of a new record of a type: entries with values, and the common properties of the type. */
export function withUsual(entries: readonly DraftEntry[], type: string): readonly DraftEntry[] {
  const isKept = ({ field, rows }: DraftEntry): boolean =>
    field.path === rdfType || rows.some(({ term }) => term.value !== '');
  const kept = entries.filter(isKept);
  const names = usual[type.slice(schema.length)] ?? 'name description';
  const paths = names.split(' ').map((name) => schema + name);
  const added = paths.filter((path) => !kept.some(({ field }) => field.path === path));
  return [...kept, ...added.map(usualEntry)];
}

/** Returns an entry without values, with the common datatype of the property. */
export function usualEntry(path: string): DraftEntry {
  const entry = freeEntry(path);
  const datatype = datatypes[path.slice(schema.length)];
  if (datatype !== undefined) entry.rows[0]!.term = literalOfField('', xsd + datatype);
  return entry;
}
