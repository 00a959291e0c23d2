/** Turtle as rows of subject, predicate and object. Loaded with the first graph result. */
import N3Parser, { type Term as RdfTerm } from 'n3/src/N3Parser.js';
import { iriTerm, literalTerm, type Row, type Term } from './terms.js';

/** @throws Error of the parser for invalid Turtle */
export function parseTurtle(text: string): Row[] {
  return new N3Parser({ format: 'text/turtle' })
    .parse(text)
    .map(({ subject, predicate, object }) => [subject, predicate, object].map(termOf));
}

function termOf({ termType, value, language, datatype }: RdfTerm): Term {
  if (termType === 'Literal') return literalTerm(value, language, datatype?.value);
  if (termType !== 'BlankNode') return iriTerm(value);
  // The parser prefixes labels with a number.
  return { kind: 'blank', value: value.replace(/^b\d+_/, ''), language: '', datatype: '' };
}
