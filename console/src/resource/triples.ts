/** Triples of a document by subject and predicate. Loaded when the first table is shown. */
import { type ParsedDocument, type Property, type Term, tagOf, termText, xsd } from '../rdf/document.js';

export * from '../rdf/document.js';
export { readSubjects, subjectsAtOnce } from './large-graph.js';

export interface Group {
  readonly subject: Term;
  readonly properties: readonly Property[];
  readonly count: number;
}

/** Returns the language or datatype of a literal. Empty for strings and other terms. */
export const noteOf = (term: Term): string => {
  const { language, datatype } = term;
  return language ? `@${tagOf(term)}` : datatype && datatype.value !== `${xsd}string` ? datatype.value : '';
};

/** Groups triples by subject. Named subjects come first. */
export function groupsOf({ quads }: ParsedDocument): Group[] {
  const found = new Map<
    string,
    { subject: Term; properties: Map<string, { predicate: Term; objects: Term[] }>; count: number }
  >();
  for (const { subject, predicate, object } of quads) {
    const key = termText(subject);
    const group = found.get(key) ?? { subject, properties: new Map(), count: 0 };
    found.set(key, group);
    const property = group.properties.get(predicate.value) ?? { predicate, objects: [] };
    group.properties.set(predicate.value, property);
    property.objects.push(object);
    group.count++;
  }
  const all = [...found.values()].map((each) => ({ ...each, properties: [...each.properties.values()] }));
  const isBlank = ({ subject }: Group): boolean => subject.termType === 'BlankNode';
  return [...all.filter((group) => !isBlank(group)), ...all.filter(isBlank)];
}

/** Returns the groups with a text in names, labels or values of a statement. @param name returns the name of a term */
export function filtered(groups: readonly Group[], text: string, name: (term: Term) => string): readonly Group[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return groups;
  const has = (term: Term): boolean =>
    `${name(term)} ${term.termType === 'Quad' ? termText(term) : term.value}`.toLowerCase().includes(wanted);
  return groups.flatMap((group) => {
    if (has(group.subject)) return group;
    const properties = group.properties
      .map(({ predicate, objects }) => ({ predicate, objects: has(predicate) ? objects : objects.filter(has) }))
      .filter(({ objects }) => objects.length > 0);
    const count = properties.reduce((sum, { objects }) => sum + objects.length, 0);
    return count > 0 ? { subject: group.subject, properties, count } : [];
  });
}
