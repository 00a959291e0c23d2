/** Converts rows to the triples of CONSTRUCT and DESCRIBE (SPARQL 1.1 16.2, 16.4). */
import type { Term } from '@rdfjs/types';
import { assertIriLength } from '../../rdf/bounds.js';
import { needLanguages } from '../../storage/keys/quad-keys.js';
import { addNew } from '../../tools/collections.js';
import type { Terms } from '../access/key-reader.js';
import { isBlank, isIri, isTriple, literalParts, type TermKey, termKey } from '../access/terms.js';
import { blankNodesIn, isAllowed, partsOfTriple, type TripleKeys, tripleKey } from '../access/triple-terms.js';
import type { Blocks, GraphForm, Row, Template, TemplatePlace, TemplateTriple } from '../plan/plan.js';
import type { Execution } from './execution.js';

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

/** Returns true if a triple can be stored. @throws LwsError `malformed-body` for an IRI that is too long (rule 1.13) */
export function isStorable(triple: TripleKeys): boolean {
  for (const token of triple) if (isIri(token)) assertIriLength(token);
  const [, , object] = triple;
  if (isTriple(object)) return isStorable(partsOfTriple(object)) && isAllowed(triple);
  const { datatype } = isResource(object) ? {} : literalParts(object);
  if (datatype !== undefined) assertIriLength(datatype);
  return isAllowed(triple) && !needLanguages.has(datatype ?? '');
}

/** Returns the triples of a template for a row. Triples with unbound variables are omitted. The result may be invalid RDF. */
export function instances(template: Template, row: Row, labelOf: (label: string) => string): TripleKeys[] {
  const termOf = (place: TemplatePlace): TermKey | undefined => {
    if ('slot' in place) return row[place.slot];
    if ('token' in place) return place.token;
    if ('label' in place) return blankToken(labelOf(place.label));
    const triple = tripleOf(place.triple);
    return triple && isAllowed(triple) ? tripleKey(triple) : undefined;
  };
  const tripleOf = ([s, p, o]: TemplateTriple): TripleKeys | undefined => {
    const [subject, predicate, object] = [termOf(s), termOf(p), termOf(o)];
    return subject && predicate && object ? [subject, predicate, object] : undefined;
  };
  return template.flatMap((each) => {
    const triple = tripleOf(each);
    return triple ? [triple] : [];
  });
}

/** Yields the triples of CONSTRUCT. Labels of new blank nodes begin with a letter that no label in the storage begins with. */
async function* constructed(template: Template, rows: Blocks): AsyncGenerator<TripleKeys[]> {
  let count = 0;
  for await (const block of rows)
    yield block.flatMap((row) => {
      count++;
      // SPARQL 1.1 16.2: invalid triples are omitted.
      return instances(template, row, (label) => `c${count}${label}`).filter(isAllowed);
    });
}

const blankToken = (label: string): TermKey => termKey({ termType: 'BlankNode', value: label } as Term);
const isResource = (token: TermKey): boolean => isIri(token) || isBlank(token);

/**
 * Yields the concise bounded description: triples with the resources as subject, followed through blank nodes. Blank nodes in
 * triple terms are followed, too, because clients cannot query them separately.
 */
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
          for (const [, , object] of found)
            if (isBlank(object!)) add(object, next);
            else if (isTriple(object!)) for (const node of blankNodesIn(object!)) add(node, next);
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
