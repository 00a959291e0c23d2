/** Kinds of things that a form offers in words, and the properties that they usually have. */
import { rdfType, xsd } from '../rdf/document.js';
import type { DraftEntry } from './draft.js';
import { literalOfField } from './fields.js';
import { freeEntry } from './free.js';

const schema = 'http://schema.org/';

const usual: Readonly<Record<string, string>> = {
  Person: 'name email url description',
  Organization: 'name url description',
  Place: 'name latitude longitude description',
  Event: 'name startDate endDate description',
  Dataset: 'name creator datePublished license description',
  Article: 'name author datePublished description',
  SoftwareApplication: 'name url license description',
};

const datatypes: Readonly<Record<string, string>> = {
  latitude: 'decimal',
  longitude: 'decimal',
  startDate: 'date',
  endDate: 'date',
  datePublished: 'date',
};

/** IRIs of the types that are offered in words. */
export const usualTypes = Object.keys(usual).map((name) => schema + name);

/** Entries of a new thing of a type: those with values, and the usual ones of the type. */
export function withUsual(entries: readonly DraftEntry[], type: string): readonly DraftEntry[] {
  const isKept = ({ field, rows }: DraftEntry): boolean =>
    field.path === rdfType || rows.some(({ term }) => term.value !== '');
  const kept = entries.filter(isKept);
  const names = usual[type.slice(schema.length)] ?? 'name description';
  const paths = names.split(' ').map((name) => schema + name);
  const added = paths.filter((path) => !kept.some(({ field }) => field.path === path));
  return [...kept, ...added.map(usualEntry)];
}

function usualEntry(path: string): DraftEntry {
  const entry = freeEntry(path);
  const datatype = datatypes[path.slice(schema.length)];
  if (datatype !== undefined) entry.rows[0]!.term = literalOfField('', xsd + datatype);
  return entry;
}
