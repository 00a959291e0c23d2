/** RDF terms, triples and solution mappings of the naive evaluator. */
import type { Literal, NamedNode, Quad, Term } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';

const factory = new DataFactory<Quad>();

export const xsd = 'http://www.w3.org/2001/XMLSchema#';
export const rdf = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';

export interface Triple {
  readonly subject: Term;
  readonly predicate: Term;
  readonly object: Term;
}

/** RDF dataset (SPARQL 1.1, 13.1). A graph contains no duplicate triples. */
export interface Dataset {
  readonly defaultGraph: readonly Triple[];
  readonly named: ReadonlyMap<string, readonly Triple[]>;
}

/** Solution mapping (18.1.8). Unbound variables are absent. */
export type Solution = ReadonlyMap<string, Term>;

export const iri = (value: string): NamedNode => factory.namedNode(value);
export const blank = (label: string): Term => factory.blankNode(label);
export const variable = (name: string): Term => factory.variable!(name);
export const plain = (value: string): Literal => factory.literal(value);
/** @param tag a language tag, which `--` and a base direction may follow */
export function tagged(value: string, tag: string): Literal {
  const [language, direction] = tag.split('--') as [string, 'ltr' | 'rtl' | undefined];
  return factory.literal(value, direction ? { language, direction } : language);
}
export const tagOf = ({ language, direction }: Literal): string => (direction ? `${language}--${direction}` : language);
/** Triple term (RDF 1.2 Concepts, 3.1), or a pattern of one. */
export const triple = (subject: Term, predicate: Term, object: Term): Term =>
  factory.quad(subject as never, predicate as never, object as never) as unknown as Term;
/** Returns the terms of a triple term. Empty for other terms. */
export const termsIn = (term: Term): readonly Term[] =>
  term.termType === 'Quad' ? [term.subject, term.predicate, term.object] : [];
/** Returns the term with a function applied to it, or to the terms of a triple term. */
export function mapTerm(term: Term, of: (term: Term) => Term): Term {
  if (term.termType !== 'Quad') return of(term);
  return triple(mapTerm(term.subject, of), mapTerm(term.predicate, of), mapTerm(term.object, of));
}
export const typed = (value: string, datatype: string): Literal => factory.literal(value, iri(datatype));
export const boolean = (value: boolean): Literal => typed(String(value), `${xsd}boolean`);

/** Returns a string that is equal for two terms if and only if they are the same term. */
export function termKey(term: Term | undefined): string {
  if (term === undefined) return '';
  if (term.termType === 'NamedNode') return `<${term.value}>`;
  if (term.termType === 'BlankNode') return `_:${term.value}`;
  if (term.termType === 'Quad') return `<<(${termsIn(term).map(termKey).join(' ')})>>`;
  if (term.termType !== 'Literal') throw new Error(`A solution has a ${term.termType}.`);
  // Language tags are case-insensitive (RDF 1.1 Concepts, 3.3).
  const kind = term.language ? `@${tagOf(term).toLowerCase()}` : `^^${term.datatype.value}`;
  return `${JSON.stringify(term.value)}${kind}`;
}

export const sameTerm = (a: Term, b: Term): boolean => termKey(a) === termKey(b);

export const solutionKey = (solution: Solution): string =>
  [...solution]
    .map(([name, term]) => `${name} ${termKey(term)}`)
    .sort()
    .join('\n');

/** Removes duplicates and keeps the first of each. */
export const distinctBy = <T>(items: readonly T[], key: (item: T) => string): T[] => {
  const seen = new Map<string, T>();
  for (const item of items) if (!seen.has(key(item))) seen.set(key(item), item);
  return [...seen.values()];
};

/** Error of an expression (17.2), handled by the caller. */
export class ExpressionError extends Error {}

/** The Recommendation leaves the result undefined, so there is nothing to compare. */
export class Undefined extends Error {}

/** The evaluation exceeds the limits of the naive evaluator. */
export class TooLarge extends Error {}
