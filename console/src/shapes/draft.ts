/** Values of a form, over the triples of a resource. Triples without a field are kept. */
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
import { type Field, FormShapes } from './fields.js';

export interface DraftRow {
  term: Term;
  /** Stored term, for a statement that exists. */
  readonly stored: Term | undefined;
}
export interface DraftEntry {
  readonly field: Field;
  rows: DraftRow[];
}
export interface DraftSection {
  readonly subject: Term;
  readonly entries: readonly DraftEntry[];
  readonly uncovered: number;
}

export interface FormDraft {
  readonly shapes: FormShapes;
  readonly document: ParsedDocument;
  readonly sections: readonly DraftSection[];
}

/** Reads documents of shapes. @throws Refusal; Error for invalid Turtle */
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

/** Form for the nodes of a document that shapes apply to. */
export function draftOf(shapes: FormShapes, document: ParsedDocument): FormDraft {
  const data = new Graph(document.quads);
  const sections = data.subjects
    .filter(({ termType }) => termType === 'NamedNode')
    .map((subject) => sectionOf(shapes, { subject, data, applying: shapes.applying(subject, data) }, false));
  return { shapes, document, sections: sections.filter(({ entries, uncovered }) => entries.length + uncovered > 0) };
}

/** Form for a new node of a shape. */
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
  const entries = fields.map((field): DraftEntry => {
    const stored = data.objects(subject, field.path).map((term): DraftRow => ({ term, stored: term }));
    const initial =
      isNew && stored.length === 0 ? field.initial.map((term): DraftRow => ({ term, stored: undefined })) : [];
    const entry = { field, rows: [...stored, ...initial] };
    while (entry.rows.length < Math.max(1, field.min)) entry.rows.push(emptyDraftRow(field));
    return entry;
  });
  return { subject, entries, uncovered };
}

export const emptyDraftRow = ({ kinds, languages }: Field): DraftRow => ({
  term: kinds[0] === 'iri' ? iriOf('') : { termType: 'Literal', value: '', language: languages[0] ?? '' },
  stored: undefined,
});

/** The document with the values of the form, as Turtle. Empty rows have no statement. */
export function draftText({ document, sections }: FormDraft): string {
  const covered = new Set(
    sections.flatMap(({ subject, entries }) => entries.map(({ field }) => `${termText(subject)} ${field.path}`)),
  );
  const kept = document.quads.filter(
    ({ subject, predicate }) => !covered.has(`${termText(subject)} ${predicate.value}`),
  );
  const written = sections.flatMap(({ subject, entries }) =>
    entries.flatMap(({ field, rows }) =>
      rows
        .filter(({ term, stored }) => term === stored || term.value !== '')
        .map(({ term }): Quad => ({ subject, predicate: iriOf(field.path), object: term })),
    ),
  );
  return turtleOf({ quads: [...kept, ...written], prefixes: document.prefixes });
}
