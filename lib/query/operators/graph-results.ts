/** Converts rows to the triples of CONSTRUCT and DESCRIBE (SPARQL 1.1 16.2, 16.4). */
import type { Term } from '@rdfjs/types';
import { assertIriLength } from '../../rdf/bounds.js';
import { needLanguages } from '../../storage/keys/quad-keys.js';
import { addNew } from '../access/collections.js';
import type { Terms } from '../access/key-reader.js';
import { isBlank, isIri, literalParts, type TermKey, termKey } from '../access/terms.js';
import type { Blocks, GraphForm, Row, Template, TemplatePlace } from '../plan/plan.js';
import type { Execution } from './execution.js';

export type TripleKeys = readonly [subject: TermKey, predicate: TermKey, object: TermKey];

/** Yields the distinct triples. */
export async function* graphTriples(execution: Execution, form: GraphForm, rows: Blocks): AsyncGenerator<TripleKeys[]> {
  const seen = new Set<string>();
  const isNew = ([subject, predicate, object]: TripleKeys): boolean =>
    addNew(seen, `${subject}\u0000${predicate}\u0000${object}`);
  for await (const triples of form.kind === 'construct'
    ? constructed(form.template, rows)
    : described(execution, form, rows)) {
    execution.assertTime();
    const own = triples.filter(isNew);
    if (own.length > 0) yield own;
  }
}

/** Not allowed in RDF: a literal as subject, a predicate that is not an IRI. */
export const isAllowed = ([subject, predicate]: TripleKeys): boolean => isResource(subject) && isIri(predicate);

/** Returns true if a triple may be stored. @throws LwsError `malformed-body` for an IRI that is too long (rule 1.13) */
export function isStorable(triple: TripleKeys): boolean {
  for (const token of triple) if (isIri(token)) assertIriLength(token);
  const [, , object] = triple;
  const { datatype } = isResource(object) ? {} : literalParts(object);
  if (datatype !== undefined) assertIriLength(datatype);
  return isAllowed(triple) && !needLanguages.has(datatype ?? '');
}

/** Returns the triples of a template for a row. Some may not be valid RDF. */
export function instances(template: Template, row: Row, labelOf: (label: string) => string): TripleKeys[] {
  const triples: TripleKeys[] = [];
  const termOf = (place: TemplatePlace): TermKey | undefined => {
    if ('slot' in place) return row[place.slot];
    return 'token' in place ? place.token : blankToken(labelOf(place.label));
  };
  for (const [s, p, o] of template) {
    const [subject, predicate, object] = [termOf(s), termOf(p), termOf(o)];
    if (subject && predicate && object) triples.push([subject, predicate, object]);
  }
  return triples;
}

/** Blank node labels of the storage begin with another letter. */
async function* constructed(template: Template, rows: Blocks): AsyncGenerator<TripleKeys[]> {
  let count = 0;
  for await (const block of rows)
    yield block.flatMap((row) => {
      count++;
      // SPARQL 1.1 16.2: illegal constructs are omitted.
      return instances(template, row, (label) => `c${count}${label}`).filter(isAllowed);
    });
}

const blankToken = (label: string): TermKey => termKey({ termType: 'BlankNode', value: label } as Term);
const isResource = (token: TermKey): boolean => isIri(token) || isBlank(token);

/** Concise bounded description: triples with the resources as subject, followed through blank nodes, which clients cannot query separately. */
async function* described(
  { matches }: Execution,
  { slots, tokens }: GraphForm & { kind: 'describe' },
  rows: Blocks,
): AsyncGenerator<TripleKeys[]> {
  const known = new Set<TermKey>();
  const add = (token: TermKey | undefined, to: TermKey[]): void => {
    if (token === undefined || known.has(token) || !isResource(token)) return;
    known.add(token);
    to.push(token);
  };
  let left: TermKey[] = [];
  for (const token of tokens) add(token, left);
  async function* all(): AsyncGenerator<TripleKeys[]> {
    while (left.length > 0) {
      const next: TermKey[] = [];
      for (const subject of left)
        for await (const found of matches.stream([subject, undefined, undefined, undefined], union)) {
          for (const [, , object] of found) if (isBlank(object!)) add(object, next);
          yield found as Terms[] & TripleKeys[];
        }
      left = next;
    }
  }
  for await (const block of rows) {
    for (const row of block) for (const slot of slots) add(row[slot], left);
    yield* all();
  }
  yield* all();
}

const union = { part: 'union', places: [0, 1, 2] } as const;
