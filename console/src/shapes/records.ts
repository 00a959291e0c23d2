/** Records of a form: its subjects, with the names in their properties. */
import { iriOf, labelIn, labelPredicates, type Term } from '../rdf/document.js';
import type { DraftEntry, DraftSection } from './draft.js';
import type { Field } from './fields.js';
import { plainName } from './usual.js';

/** Returns the label of a record from its properties. Empty without a label. */
const labelOfRecord = ({ entries }: DraftSection): string =>
  labelIn(entries.map(({ field, rows }) => ({ predicate: iriOf(field.path), objects: rows.map(({ term }) => term) })));

/** Returns the index of the record to show first: a record with a name, then the one with the most properties. */
export function mainRecord(sections: readonly DraftSection[]): number {
  const rank = (section: DraftSection): number => section.entries.length + (labelOfRecord(section) ? 1_000_000 : 0);
  return sections.reduce((best, section, at) => (rank(section) > rank(sections[best]!) ? at : best), 0);
}

/** Returns the name of each record. Equal and missing labels are completed by the name of the IRI. */
export function recordNames(sections: readonly DraftSection[], nameOf: (subject: Term) => string): readonly string[] {
  const found = sections.map(labelOfRecord);
  return sections.map(({ subject }, at) => {
    const label = found[at]!;
    if (label === '') return nameOf(subject);
    return found.filter((each) => each === label).length > 1 ? `${label} (${nameOf(subject)})` : label;
  });
}

/** Returns the entry of the property that names a record, or `undefined`. */
export const nameEntry = (entries: readonly DraftEntry[]): DraftEntry | undefined =>
  entries.find(({ field }) => labelPredicates.includes(field.path));

/** Returns the label that a record of the form gives to an IRI, or `undefined`. */
export function labelInForm(sections: readonly DraftSection[], iri: string): string | undefined {
  const record = sections.find(({ subject }) => subject.value === iri);
  return (record && labelOfRecord(record)) || undefined;
}

/**
 * Returns the label of a field: from the shape or the vocabulary, or the words of its name.
 * @param entries entries of the record
 * @param prefixed prefixed name, to distinguish equal labels
 */
export function fieldLabel(entries: readonly DraftEntry[], field: Field, prefixed: string): string {
  const text = ({ name, path }: Field): string => name || plainName(path);
  const own = text(field);
  const isOther = ({ path, name }: Field): boolean => path !== field.path || name !== field.name;
  const isShared = fieldsIn(entries).some((each) => isOther(each) && text(each) === own);
  return field.name === '' && isShared ? `${own} (${prefixed})` : own;
}

const fieldsIn = (entries: readonly DraftEntry[]): readonly Field[] =>
  entries.flatMap(({ field, rows }) => [field, ...rows.flatMap(({ nested }) => fieldsIn(nested))]);
