/** Turtle as rows of subject, predicate and object. Loaded with the first graph result. */
import { parseRdf, type Term as RdfTerm, tagOf, termsIn } from '../rdf/document.js';
import { storageUri } from '../session/session.js';
import type { TableAnswer } from './run.js';
import { iriTerm, literalTerm, type ResultTerm, termOfTriple } from './terms.js';

/** Parses Turtle. @throws Error of the parser for invalid Turtle */
export function parseTurtle(text: string): Pick<TableAnswer, 'rows' | 'prefixes'> {
  const { quads, prefixes } = parseRdf(text, storageUri);
  return { rows: quads.map(({ subject, predicate, object }) => [subject, predicate, object].map(termOf)), prefixes };
}

function termOf(term: RdfTerm): ResultTerm {
  const { termType, value, datatype } = term;
  if (termType === 'Quad') return termOfTriple(termsIn(term).map(termOf));
  if (termType === 'Literal') return literalTerm(value, tagOf(term), datatype?.value);
  if (termType !== 'BlankNode') return iriTerm(value);
  // Remove the number that the parser puts before labels.
  return { kind: 'blank', value: value.replace(/^b\d+_/, ''), language: '', datatype: '' };
}
