/** Turtle as rows of subject, predicate and object; loaded with the first answer that is a graph. */
import type { Term as RdfTerm } from '@rdfjs/types';
import { Parser } from 'n3';
import { iriTerm, literalTerm, type Row, type Term } from './terms.js';

/** @throws Error with the parser's words for what is no Turtle */
export function parseTurtle(text: string): Row[] {
  return new Parser().parse(text).map(({ subject, predicate, object }) => [subject, predicate, object].map(termOf));
}

function termOf(term: RdfTerm): Term {
  if (term.termType === 'Literal') return literalTerm(term.value, term.language, term.datatype.value);
  if (term.termType !== 'BlankNode') return iriTerm(term.value);
  // The parser puts a number of its own before the label.
  return { kind: 'blank', value: term.value.replace(/^b\d+_/, ''), language: '', datatype: '' };
}
