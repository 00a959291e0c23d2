/** Form without shapes: a field for each property of each subject. */
import { iriOf, type ParsedDocument, rdf, rdfType, type Term } from '../rdf/document.js';
import { Graph } from '../rdf/graph.js';
import { type DraftEntry, type DraftSection, emptyDraftRow, type FormDraft } from './draft.js';
import type { Field, FormShapes } from './fields.js';

/** Returns the field for a property that no shape describes. */
const freeField = (path: string): Field => ({
  path,
  name: path === rdfType ? 'Type' : '',
  hint: '',
  order: 0,
  min: 0,
  max: Number.POSITIVE_INFINITY,
  kinds: path === rdfType ? ['iri'] : ['literal', 'iri'],
  datatype: '',
  languages: [],
  options: [],
  initial: [],
  nested: [],
  isFree: true,
});

/** Returns a field of a property, without values. */
export function freeEntry(path: string): DraftEntry {
  const field = freeField(path);
  return { field, rows: [emptyDraftRow(field)] };
}

/**
 * Returns the form for all named subjects of a document.
 * @param shapes shapes for later switches to Turtle and back
 * @param base IRI of the document, or empty for a new one
 */
export function freeDraft(shapes: FormShapes, document: ParsedDocument, base: string): FormDraft {
  const data = new Graph(document.quads);
  const uses = usesOf(document);
  const named = data.subjects.filter(({ termType }) => termType === 'NamedNode');
  const sections = named.map(
    (subject): DraftSection => ({ subject, entries: entriesOf(subject, data, uses), uncovered: 0, isFree: true }),
  );
  const entries = [rdfType, 'http://schema.org/name'].map(freeEntry);
  const first = { subject: iriOf(`${base}#it`), entries, uncovered: 0, isFree: true };
  return { shapes, document, sections: sections.length > 0 ? sections : [first] };
}

/** Returns the count of statements that refer to each blank node. */
function usesOf({ quads }: ParsedDocument): ReadonlyMap<string, number> {
  const uses = new Map<string, number>();
  for (const { object } of quads)
    if (object.termType === 'BlankNode') uses.set(object.value, (uses.get(object.value) ?? 0) + 1);
  return uses;
}

/** Properties with the name of a subject. Their fields come first. */
const namePaths = /[/#](?:name|title|label|prefLabel)$/;

/** Maximum depth of nested fields of blank nodes, since rendering is recursive. */
const maxDepth = 10;

/** Lists, and blank nodes with several references, get no nested fields: two fields would change one value. */
function entriesOf(
  subject: Term,
  data: Graph,
  uses: ReadonlyMap<string, number>,
  above: readonly string[] = [],
): DraftEntry[] {
  const inside = [...above, subject.value];
  const rank = (path: string): number => (path === rdfType ? 0 : namePaths.test(path) ? 1 : 2);
  const paths = [...data.predicates(subject)].sort((a, b) => rank(a) - rank(b));
  return paths.map((path) => ({
    field: freeField(path),
    rows: data.objects(subject, path).map((term) => {
      const isOwn = term.termType === 'BlankNode' && uses.get(term.value) === 1 && !inside.includes(term.value);
      const isList = data.objects(term, `${rdf}first`).length > 0;
      const hasFields = isOwn && !isList && inside.length <= maxDepth;
      return { term, stored: term, nested: hasFields ? entriesOf(term, data, uses, inside) : [] };
    }),
  }));
}
