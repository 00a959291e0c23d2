/**
 * Parses an N3 Patch (Solid Protocol, 5.3.1) as an update of one graph: one `solid:InsertDeletePatch` whose clauses are
 * formulae of triples. The N3 parser accepts all of Notation3, so other syntax is rejected here.
 */
import type { Algebra } from '@comunica/utils-algebra';
import type { Quad, Term, Variable } from '@rdfjs/types';
import { Lexer } from 'n3';
import { DataFactory } from 'rdf-data-factory';
import { CountingFactory, Expansion, usualBounds } from '../../rdf/bounds.js';
import { isInDefaultGraph, parseN3 } from '../../rdf/n3-documents.js';
import { boundedPrefixes } from '../../rdf/prefixes.js';
import { rdf } from '../../rdf/vocabulary.js';
import { LwsError } from '../../tools/errors.js';
import type { ReadUpdate } from './read-update.js';

const solid = 'http://www.w3.org/ns/solid/terms#';
const implies = 'http://www.w3.org/2000/10/swap/log#implies';
const clauses = ['where', 'inserts', 'deletes'] as const;
type Clause = (typeof clauses)[number];

const refuse = (why: string): never => {
  throw new LwsError('invalid-patch', `The N3 Patch is not valid (Solid Protocol, 5.3.1): ${why}.`);
};

/**
 * Parses a patch. A patch without conditions becomes an update without variables, like INSERT DATA and DELETE DATA.
 * @throws LwsError `malformed-body` for invalid Notation3, `invalid-patch` for a document that is not a patch, `too-large`
 */
export function readN3Patch(text: string, base: string): ReadUpdate {
  const factory = new CountingFactory(new Expansion(text.length, usualBounds));
  const { quads, prefixes } = parseN3(text, 'N3', { base, factory });
  assertTokens(text);
  const { where, inserts, deletes } = clausesOf(quads);
  const known = new Set(where.flatMap(variablesOf));
  for (const [name, triples] of Object.entries({ inserts, deletes }))
    for (const triple of triples) {
      if (isBlank(triple.subject) || isBlank(triple.object))
        refuse(`solid:${name} contains a blank node; lists, paths and [] create them too`);
      const free = variablesOf(triple).find((each) => !known.has(each));
      if (free !== undefined) refuse(`solid:${name} contains ?${free}, which does not occur in solid:where`);
    }
  const change = { type: 'deleteinsert', delete: deletes, insert: inserts };
  const operation = where.length === 0 ? change : { ...change, where: solutionsOf(where, [...known]) };
  const steps = [{ operation: operation as Algebra.DeleteInsert, base }];
  return { prefixes: boundedPrefixes(prefixes), steps, isStrict: true };
}

/**
 * Rejects syntax that the parsed triples do not show: quantifiers, nested formulae, formulae outside of clauses, and clauses
 * without a formula.
 */
function assertTokens(text: string): void {
  let depth = 0;
  let before = '.';
  let directive = 0;
  for (const { type } of new Lexer({ n3: true } as never).tokenize(text)) {
    const isFirst = before === '.';
    if (type === '@forAll' || type === '@forSome') refuse(`it has ${type}`);
    if (depth === 0 && isFirst && type === '{') refuse('a formula is only allowed as the value of a clause');
    if (depth === 0 && !isFirst && (type === '[' || type === 'blank'))
      refuse('the value of a clause must be a formula: {...}');
    if (type === '{' && ++depth > 1) refuse('formulae cannot be nested');
    if (type === '}') depth--;
    if (type === 'PREFIX' || type === 'BASE') directive = type === 'BASE' ? 2 : 3;
    // A SPARQL-style directive ends without a full stop, so that the next token starts a statement.
    before = directive > 0 && --directive === 0 ? '.' : type;
  }
}

/** Returns the clauses of the patch in a document. The document must contain exactly one patch. */
function clausesOf(quads: readonly Quad[]): Readonly<Record<Clause, readonly Quad[]>> {
  const outer = quads.filter(isInDefaultGraph);
  const patches = outer.filter(
    ({ predicate, object }) => predicate.value === rdf.type && object.value === `${solid}InsertDeletePatch`,
  );
  const patch = patches[0]?.subject;
  if (!patch || patches.length > 1)
    refuse(`it contains ${patches.length} resources of type solid:InsertDeletePatch, expected one`);
  if (patch!.termType !== 'NamedNode' && patch!.termType !== 'BlankNode')
    refuse('the patch must be an IRI or a blank node');
  const labels: Partial<Record<Clause, string>> = {};
  for (const { subject, predicate, object } of outer) {
    if (!subject.equals(patch)) refuse('it contains triples that do not belong to the patch');
    if (predicate.value === rdf.type) continue;
    const name = clauses.find((each) => predicate.value === solid + each);
    if (!name) return refuse(`<${predicate.value.slice(0, 200)}> is not a clause of a patch`);
    if (labels[name] !== undefined) refuse(`it contains several values of solid:${name}`);
    if (!isBlank(object)) refuse(`the value of solid:${name} must be a formula: {...}`);
    labels[name] = object.value;
  }
  const triplesOf = (name: Clause): Quad[] =>
    quads.filter(({ graph }) => graph.termType === 'BlankNode' && graph.value === labels[name]).map(tripleOf);
  return { where: triplesOf('where'), inserts: triplesOf('inserts'), deletes: triplesOf('deletes') };
}

const factory = new DataFactory<Quad>();
const isBlank = ({ termType }: Term): boolean => termType === 'BlankNode';
const termsOf = ({ subject, predicate, object }: Quad): readonly Term[] => [subject, predicate, object];
const variablesOf = (quad: Quad): string[] =>
  termsOf(quad).flatMap(({ termType, value }) => (termType === 'Variable' ? [value] : []));

/** Returns a triple or pattern of the patch. @throws LwsError for a triple that RDF does not allow */
function tripleOf({ subject, predicate, object }: Quad): Quad {
  if (predicate.value === implies) refuse('it has =>');
  if ((subject.termType as string) === 'Literal') refuse('a literal cannot be a subject');
  if (predicate.termType !== 'NamedNode' && predicate.termType !== 'Variable')
    refuse('a predicate must be an IRI or a variable');
  if (subject.termType === 'Quad' || object.termType === 'Quad') refuse('a triple cannot be a term');
  return factory.quad(subject, predicate, object);
}

/** Returns a query for the distinct bindings that match the conditions. Blank nodes match any term. */
function solutionsOf(where: readonly Quad[], names: readonly string[]): object {
  // Variable names of a patch contain no spaces, so the new name is unique.
  const asVariable = <T extends Term>(term: T): T | Variable =>
    isBlank(term) ? factory.variable(`blank ${term.value}`) : term;
  const patterns = where.map(({ subject, predicate, object }) => ({
    ...factory.quad(asVariable(subject), predicate, asVariable(object)),
    type: 'pattern',
  }));
  const variables = names.map((name) => factory.variable(name));
  return { type: 'distinct', input: { type: 'project', input: { type: 'bgp', patterns }, variables } };
}
