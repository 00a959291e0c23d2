/** Values of a form, read from the triples of a resource. Triples without a field are preserved. */
import {
  iriOf,
  type ParsedDocument,
  parseRdf,
  type Quad,
  rdfType,
  type Term,
  termText,
  turtleOf,
} from '../rdf/document.js';
import { Graph } from '../rdf/graph.js';
import { succeed } from '../storage/api.js';
import { type Field, FormShapes, type ValueKind } from './fields.js';

export interface DraftRow {
  term: Term;
  /** Term of the existing statement. `undefined` for a new value. */
  readonly stored: Term | undefined;
  /** Values of a blank node. Empty for other terms. */
  readonly nested: readonly DraftEntry[];
}
export interface DraftEntry {
  readonly field: Field;
  rows: DraftRow[];
}
export interface DraftSection {
  readonly subject: Term;
  entries: readonly DraftEntry[];
  readonly uncovered: number;
  /** True if no shape describes the subject. The form then has a field for each property of the subject. */
  readonly isFree?: boolean;
  /** Names of the shapes that apply. */
  readonly checkedBy?: readonly string[];
}

export interface FormDraft {
  readonly shapes: FormShapes;
  readonly document: ParsedDocument;
  readonly sections: readonly DraftSection[];
}

/** Reads shape documents. @throws Refusal; Error for invalid Turtle */
export async function readShapes(
  iris: readonly string[],
): Promise<{ readonly shapes: FormShapes; readonly prefixes: ParsedDocument['prefixes'] }> {
  const all = await Promise.all(
    iris.map(async (iri) =>
      parseRdf(await (await succeed('GET', iri, { headers: { Accept: 'text/turtle' } })).text(), iri),
    ),
  );
  const shapes = new FormShapes(new Graph(all.flatMap(({ quads }) => quads)));
  return { shapes, prefixes: Object.assign({}, ...all.map(({ prefixes }) => prefixes)) };
}

/** Returns the form for the nodes of a document that shapes apply to. */
export function draftOf(shapes: FormShapes, document: ParsedDocument): FormDraft {
  const data = new Graph(document.quads);
  const sections = data.subjects
    .filter(({ termType }) => termType === 'NamedNode')
    .map((subject) => sectionOf(shapes, { subject, data, applying: shapes.applying(subject, data) }, false));
  return { shapes, document, sections: sections.filter(({ entries, uncovered }) => entries.length + uncovered > 0) };
}

/** Returns the form for a new node of a shape. */
export function newDraft(shapes: FormShapes, shape: Term, prefixes: ParsedDocument['prefixes']): FormDraft {
  const subject = shapes.nodeOf(shape) ?? iriOf('#it');
  const types = shapes.classesOf(shape).slice(0, 1);
  const quads = types.map((type): Quad => ({ subject, predicate: iriOf(rdfType), object: iriOf(type) }));
  const data = new Graph(quads);
  const applying = [...new Set([shape, ...shapes.applying(subject, data)])];
  return { shapes, document: { quads, prefixes }, sections: [sectionOf(shapes, { subject, data, applying }, true)] };
}

function sectionOf(
  shapes: FormShapes,
  { subject, data, applying }: { readonly subject: Term; readonly data: Graph; readonly applying: readonly Term[] },
  isNew: boolean,
): DraftSection {
  const { fields, uncovered } = shapes.form(applying);
  const checkedBy = [...new Set(applying.map((shape) => shapes.nameOf(shape)))].filter(Boolean);
  return { subject, entries: entriesOf(fields, subject, data, isNew), uncovered, checkedBy };
}

function entriesOf(fields: readonly Field[], subject: Term, data: Graph, isNew: boolean): readonly DraftEntry[] {
  return fields.map((field) => {
    const stored = data.objects(subject, field.path).map((term): DraftRow => {
      const nested = term.termType === 'BlankNode' ? entriesOf(field.nested, term, data, false) : [];
      return { term, stored: term, nested };
    });
    const initial =
      isNew && stored.length === 0
        ? field.initial.map((term): DraftRow => ({ term, stored: undefined, nested: [] }))
        : [];
    const entry = { field, rows: [...stored, ...initial] };
    while (entry.rows.length < Math.max(1, field.min)) entry.rows.push(emptyDraftRow(field));
    return entry;
  });
}

let blankNodes = 0;

/** Returns a row without a value. @param kind kind of the value. Default: the first kind of the field */
export function emptyDraftRow(field: Field, kind: ValueKind = field.kinds[0]!): DraftRow {
  if (kind === 'iri') return { term: iriOf(''), stored: undefined, nested: [] };
  const language = field.languages[0] ?? '';
  if (kind === 'literal') return { term: { termType: 'Literal', value: '', language }, stored: undefined, nested: [] };
  const term: Term = { termType: 'BlankNode', value: `form-${++blankNodes}` };
  return { term, stored: undefined, nested: entriesOf(field.nested, term, new Graph([]), true) };
}

/** True if a row has no statement, such as the row of a new node without values. */
const isEmptyRow = ({ term, stored, nested }: DraftRow): boolean =>
  term.termType === 'BlankNode'
    ? term !== stored && nested.every(({ rows }) => rows.every(isEmptyRow))
    : term !== stored && term.value === '';

/** Returns the document with the values of the form as Turtle. Empty rows have no statement. */
export function draftText({ document, sections }: FormDraft): string {
  const covered = new Set<string>();
  const written: Quad[] = [];
  const write = (subject: Term, entries: readonly DraftEntry[]): void => {
    for (const { field, rows } of entries) {
      covered.add(`${termText(subject)} ${field.path}`);
      for (const row of rows.filter((each) => !isEmptyRow(each))) {
        written.push({ subject, predicate: iriOf(field.path), object: row.term });
        write(row.term, row.nested);
      }
    }
  };
  for (const { subject, entries } of sections) write(subject, entries);
  const kept = document.quads.filter(
    ({ subject, predicate }) => !covered.has(`${termText(subject)} ${predicate.value}`),
  );
  return turtleOf({ quads: withoutOrphans([...kept, ...written], document.quads), prefixes: document.prefixes });
}

/** Removes statements of blank nodes that no statement links to after the change. */
function withoutOrphans(quads: readonly Quad[], before: readonly Quad[]): readonly Quad[] {
  const linksOf = (some: readonly Quad[]): Map<string, number> => {
    const links = new Map<string, number>();
    for (const { object } of some)
      if (object.termType === 'BlankNode') links.set(object.value, (links.get(object.value) ?? 0) + 1);
    return links;
  };
  const [linkedBefore, links] = [linksOf(before), linksOf(quads)];
  const statements = new Map<string, Quad[]>();
  for (const quad of quads) {
    const { termType, value } = quad.subject;
    if (termType !== 'BlankNode' || !linkedBefore.has(value)) continue;
    const own = statements.get(value);
    if (own) own.push(quad);
    else statements.set(value, [quad]);
  }
  const orphans = [...statements.keys()].filter((node) => !links.has(node));
  const left = new Set(statements.keys());
  for (const node of orphans) {
    left.delete(node);
    // If a removed node had the only link to another node, that node is removed too.
    for (const { object } of statements.get(node)!) {
      if (object.termType !== 'BlankNode') continue;
      const count = links.get(object.value)! - 1;
      links.set(object.value, count);
      if (count === 0 && left.has(object.value)) orphans.push(object.value);
    }
  }
  return quads.filter(
    ({ subject: { termType, value } }) => termType !== 'BlankNode' || !statements.has(value) || left.has(value),
  );
}
