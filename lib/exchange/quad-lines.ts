/** Triples as N-Triples whose blank nodes keep their labels, and back. */
import type { Quad, Term } from '@rdfjs/types';
import { Parser } from 'n3';
import type { DataFactory } from 'rdf-data-factory';
import { bracketed, quotedLiteral, shortString } from '../rdf/turtle-terms.js';

/** A triple with the end of its line; its graph is not written. */
export const quadLine = ({ subject, predicate, object }: Quad): string =>
  `${termText(subject)} ${termText(predicate)} ${termText(object)} .\n`;

export const quadLines = (quads: readonly Quad[]): string => quads.map(quadLine).join('');

function termText(term: Term): string {
  if (term.termType === 'NamedNode') return bracketed(term.value);
  if (term.termType === 'Literal') return quotedLiteral(term, shortString, bracketed);
  return `_:${term.value}`;
}

/**
 * @param factory is asked for every term, blank nodes by their labels
 * @throws Error of n3 for what is no N-Triples
 */
export function readQuadLines(text: string, factory: DataFactory<Quad>): Quad[] {
  // With this prefix labels stay as they are.
  const parser = new Parser({
    format: 'application/n-triples',
    blankNodePrefix: '_:',
    factory: factory as never,
  });
  return parser.parse(text) as Quad[];
}
