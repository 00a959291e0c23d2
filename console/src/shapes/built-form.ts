/** Form that the form builder makes: a kind of record and its fields, stored as one shape in a file. */
import { type ParsedDocument, parseRdf, rdfType, type Term, termText, xsd } from '../rdf/document.js';
import { Graph } from '../rdf/graph.js';
import { termName, wordsOf } from '../storage/words.js';
import { plainName, usualProperties, usualTypes } from './usual.js';

const sh = 'http://www.w3.org/ns/shacl#';
const rdfs = 'http://www.w3.org/2000/01/rdf-schema#';
const schema = 'http://schema.org/';

/** Kinds of values, with the datatypes that the shape requires. */
const datatypes = { number: 'decimal', integer: 'integer', date: 'date', boolean: 'boolean' } as const;
export const kindTitles = {
  text: 'Text',
  number: 'Number',
  integer: 'Whole number',
  date: 'Date',
  boolean: 'Yes or no',
  choice: 'Choice',
  link: 'Link to a record',
} as const;
export type BuiltKind = keyof typeof kindTitles;

export interface BuiltField {
  readonly label: string;
  /** IRI of the property. If empty, it is derived from the label. */
  readonly property: string;
  readonly kind: BuiltKind;
  /** Texts that the user can choose from, for a field of the kind `choice`. */
  readonly choices: readonly string[];
  readonly isRequired: boolean;
  readonly isSeveral: boolean;
}

export interface BuiltForm {
  readonly name: string;
  /** IRI of the class of the records. If empty, it is derived from the name. */
  readonly type: string;
  readonly fields: readonly BuiltField[];
}

export const emptyField: BuiltField = {
  label: '',
  property: '',
  kind: 'text',
  choices: [],
  isRequired: false,
  isSeveral: false,
};

const isSame = (one: string, other: string): boolean => one.trim().toLowerCase() === other.trim().toLowerCase();

/** Returns the IRI of the records' class: a common class with this name, or a class of the file. @param file its IRI */
export function typeOf({ name, type }: BuiltForm, file: string): string {
  const local = termName(name);
  const usual = usualTypes.find((iri) => isSame(wordsOf(iri), name));
  return type || (usual ?? `${file}#${local.slice(0, 1).toUpperCase()}${local.slice(1)}`);
}

/** Returns the IRI of the property of a field: a common property with this name, or one defined in the file. */
export function propertyOf({ label, property }: BuiltField, file: string): string {
  const usual = usualProperties.find((iri) => isSame(plainName(iri), label) || isSame(wordsOf(iri), label));
  return property || (usual ?? `${file}#${termName(label)}`);
}

const text = (value: string): string => termText({ termType: 'Literal', value });

function fieldText(field: BuiltField, order: number, file: string): string {
  const { label, kind, choices, isRequired, isSeveral } = field;
  const lines = [`sh:path <${propertyOf(field, file)}>`, `sh:name ${text(label)}`, `sh:order ${order}`];
  if (kind === 'text') lines.push('sh:nodeKind sh:Literal');
  else if (kind === 'link') lines.push('sh:nodeKind sh:IRI');
  else if (kind === 'choice') lines.push(`sh:in ( ${choices.map(text).join(' ')} )`);
  else lines.push(`sh:datatype xsd:${datatypes[kind]}`);
  if (isRequired) lines.push('sh:minCount 1');
  if (!isSeveral) lines.push('sh:maxCount 1');
  return `  sh:property [ ${lines.join(' ; ')} ]`;
}

/** Returns the Turtle of a form. @param file IRI of its file @throws Error with a sentence for a form that cannot be stored */
export function builtText(form: BuiltForm, file: string): string {
  check(form);
  const fields = form.fields.map((field, at) => fieldText(field, at + 1, file));
  return `@prefix sh: <${sh}> .
@prefix rdfs: <${rdfs}> .
@prefix xsd: <${xsd}> .
@prefix schema: <${schema}> .

<${file}#form> a sh:NodeShape ;
  rdfs:label ${text(form.name)} ;
  sh:targetClass <${typeOf(form, file)}> ;
${fields.join(' ;\n')} .
`;
}

function check({ name, fields }: BuiltForm): void {
  if (termName(name) === '') throw new Error('Name the kind of record, such as “Person”.');
  if (fields.length === 0) throw new Error('The form has no field. Add at least one.');
  const labels = fields.map(({ label }) => label.trim().toLowerCase());
  for (const { label, kind, choices } of fields) {
    if (termName(label) === '') throw new Error('A field has no name. Name it, or remove it.');
    if (labels.filter((each) => each === label.trim().toLowerCase()).length > 1)
      throw new Error(`Two fields are called “${label}”. Give each its own name.`);
    if (kind === 'choice' && choices.length === 0) throw new Error(`Enter the choices of “${label}”.`);
  }
}

/** Returns the form in a document, or `undefined` if its statements differ from those that the builder writes for this form. */
export function readBuilt(turtle: string, file: string): BuiltForm | undefined {
  const read = parseRdf(turtle, file);
  const graph = new Graph(read.quads);
  const [shape] = graph.subjects.filter((each) => graph.value(each, rdfType)?.value === `${sh}NodeShape`);
  if (!shape) return undefined;
  const fields = graph
    .objects(shape, `${sh}property`)
    .toSorted((a, b) => Number(graph.value(a, `${sh}order`)?.value) - Number(graph.value(b, `${sh}order`)?.value))
    .map((node) => readField(graph, node));
  const name = graph.value(shape, `${rdfs}label`)?.value ?? '';
  const form: BuiltForm = { name, type: graph.value(shape, `${sh}targetClass`)?.value ?? '', fields };
  try {
    return statements(parseRdf(builtText(form, file), file)) === statements(read) ? form : undefined;
  } catch {
    return undefined;
  }
}

function readField(graph: Graph, node: Term): BuiltField {
  const value = (name: string): string => graph.value(node, sh + name)?.value ?? '';
  const choices = graph.list(graph.value(node, `${sh}in`)).map((each) => each.value);
  const datatype = value('datatype').slice(xsd.length);
  const [typed] = Object.entries(datatypes).find(([, each]) => each === datatype) ?? [];
  const other = choices.length > 0 ? 'choice' : value('nodeKind') === `${sh}IRI` ? 'link' : 'text';
  return {
    label: value('name'),
    property: value('path'),
    kind: (typed as BuiltKind | undefined) ?? other,
    choices,
    isRequired: value('minCount') === '1',
    isSeveral: value('maxCount') === '',
  };
}

/** Returns sorted statements, without the labels of blank nodes. */
const statements = ({ quads }: ParsedDocument): string =>
  quads
    .map((quad) => [quad.subject, quad.predicate, quad.object].map((each) => nameless(each)).join(' '))
    .sort()
    .join('\n');

const nameless = (term: Term): string => (term.termType === 'BlankNode' ? '_:' : termText(term));
